"""The columns of public tables that SQL can read, by the names that stand in its text.

A public table is copied for SQL above a release. Columns that the SQL cannot read are left out of the copy.

Claim   SQL has the same rows over a table that has only the columns that are mentioned.
Proof   A column is read by its name; or, without it, by a star, by a pattern of names, by a NATURAL join, by
        a list of names in its order, by PIVOT, or by the name of its table, which is then a value that holds
        all columns. Where one of these stands in the SQL, or the SQL cannot be parsed, all columns are
        mentioned. A name that means something else mentions a column too many.
Test    tests/unit/test_columns_mentioned.py
"""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.policy.names import fold

_WITHOUT_NAMES = (exp.Pivot, exp.Columns)
"""What reads columns that it does not name."""

_PATTERNS = frozenset(("columns", "unpack"))
"""Calls whose columns a pattern names."""


@lru_cache(maxsize=256)
def columns_mentioned(sql: str) -> frozenset[str] | None:
    """Return the folded names of all columns that SQL mentions; None if it may read any."""
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return None
    tables: set[str] = set()
    names: set[str] = set()
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            names.add(fold(node.name))
        elif isinstance(node, exp.Table | exp.Subquery):
            tables.add(fold(node.alias_or_name))
        if _reads_any(node):
            return None
    columns = (node for node in tree.find_all(exp.Column) if not node.table)
    if any(fold(column.name) in tables for column in columns):
        return None
    return frozenset(names)


def _reads_any(node: exp.Expr) -> bool:
    if isinstance(node, exp.Star):
        return not isinstance(node.parent, exp.Count)
    if isinstance(node, exp.Join):
        return str(node.args.get("method") or "").upper() == "NATURAL"
    if isinstance(node, exp.TableAlias):
        return bool(node.args.get("columns")) and isinstance(node.parent, exp.Table)
    if isinstance(node, exp.Anonymous):
        return fold(node.name) in _PATTERNS
    return isinstance(node, _WITHOUT_NAMES)

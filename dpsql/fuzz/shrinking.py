"""A query that breaks a rule -> a smaller one that breaks the same rule.

    SELECT k0, SUM(LEAST(x, 3)) AS a0, COUNT(*) AS a1 FROM (...) WHERE ... GROUP BY 1   moves by 7, declared 3
    SELECT SUM(x) AS a0 FROM (...)                                                     moves by 9, declared 3

Parts are left out, calls replaced by what they are called with, and queries by one that they read, one at a
time, as long as the judge says the same but for numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp

TRIES = 200

_REPLACED = (exp.Func, exp.Paren, exp.Connector, exp.Filter, exp.Window)
_LEFT_OUT = (exp.Where, exp.Having, exp.Order, exp.Limit, exp.Group, exp.Qualify, exp.Join)


def kind(said: str) -> str:
    """What a violation says, without numbers and names."""
    return re.sub(r"without [^:]*:|[\d.]+", "", said)[:60]


def shrunk(sql: str, fails: Callable[[str], bool], tries: int = TRIES) -> str:
    """Return a query of fewer parts that fails like this one; this one if it cannot be read."""
    found = True
    while found and tries > 0:
        found = False
        for smaller in _smaller(sql):
            tries -= 1
            if tries < 0:
                break
            if smaller and len(smaller) < len(sql) and fails(smaller):
                sql, found = smaller, True
                break
    return sql


def _smaller(sql: str) -> Iterator[str]:
    """Yield the query with one part less, large parts first."""
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):  # of those that are drawn to be refused
        return
    for place, node in enumerate(tree.walk()):
        parts = node.expressions if isinstance(node, exp.Select) and len(node.expressions) > 1 else []
        for number in range(len(parts)):
            yield _without(tree, place, number)
        if isinstance(node, _LEFT_OUT):
            yield _without(tree, place, None)
        elif isinstance(node, exp.Subquery):
            yield _written(node.this)
        elif isinstance(node, _REPLACED) and node.parent is not None and isinstance(node.this, exp.Expr):
            yield _replaced(tree, place)


def _without(tree: exp.Expr, place: int, number: int | None) -> str:
    copy = tree.copy()
    node = _at(copy, place)
    (node if number is None else node.expressions[number]).pop()
    return _written(copy)


def _replaced(tree: exp.Expr, place: int) -> str:
    copy = tree.copy()
    node = _at(copy, place)
    node.replace(node.this.copy())
    return _written(copy)


def _written(tree: exp.Expr) -> str:
    """Print a query; nothing where a part was left out that its form needs."""
    try:
        return tree.sql(dialect="duckdb")
    except ValueError:
        return ""


def _at(tree: exp.Expr, place: int) -> exp.Expr:
    return next(node for number, node in enumerate(tree.walk()) if number == place)

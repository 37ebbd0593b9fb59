"""SQL above a release whose rows are the same on several threads: it is given an order that leaves no choice.

    SELECT brand, COUNT(*) FROM part GROUP BY brand ORDER BY 2 DESC    ... ORDER BY 2 DESC, 1, 2
    SELECT brand, FIRST(size) FROM part GROUP BY brand                 one thread: it depends on the order

Claim   the rows, and their order, do not depend on the order in which threads read and add up rows.
Proof   By induction over what ``_STEADY`` lists. A condition or expression is one of its row. Joins, groups
        and DISTINCT give sets of rows; MIN, MAX and COUNT are of sets. A sum of whole numbers and decimals of
        at most 64 bits is exact in any order: SUM and AVG read columns of public tables, through operations
        that keep such types. A name that something else has, too, is not read there. No part but the whole
        has a LIMIT. The whole is ordered by all of its outputs in the end, so that rows that tie are equal:
        their types are ``_EXACT``, or DOUBLEs of groups, which are computed alike from what is (0 and -0 tie,
        and may trade places). Where rows are grouped, no float is read.
        Without ORDER BY only groups may be ordered so: other rows have the order of their tables.
Test    tests/unit/test_any_order.py: on one thread and on several
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.ir.column import Kind, type_named
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold
from dpsql.post.columns_mentioned import columns_mentioned

_EXACT = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.DATE)
_ADDED = (exp.Sum, exp.Avg)
_AGGREGATES = (exp.Count, exp.Min, exp.Max, *_ADDED)
_SETS = (exp.Group, exp.Distinct, *_AGGREGATES)
_COMPUTED = (exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Case, exp.If, exp.Coalesce, exp.Paren)
_STEADY = (
    *(exp.Column, exp.Identifier, exp.Null, exp.Boolean, exp.Tuple, exp.Alias),
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Exists, exp.Div),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Extract, exp.Interval, exp.DPipe),
    *(exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam),
    *(exp.From, exp.Where, exp.Subquery, exp.Having, exp.With, exp.CTE, exp.Ordered),
    *_COMPUTED,
)
"""What depends on a row or on a set of rows alone, whatever its arguments."""

_IN_SUMS = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Distinct, *_COMPUTED),
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In),
)
"""What keeps whole numbers and decimals as they are."""

_CHOOSING = ("qualify", "windows", "sample", "kind", "connect", "match", "pivots", "laterals", "into")
_JOINS = ("", "INNER", "CROSS", "SEMI", "ANTI", "OUTER")


@dataclass(frozen=True, slots=True)
class _Ordered:
    """SQL in its one order; whether it has sets of rows, and the names that it adds up."""

    sql: str
    sets: bool
    added: frozenset[str]


def in_one_order(
    sql: str, types: Sequence[str], columns: Iterable[tuple[str, str]], released: bool
) -> str | None:
    """Return SQL of the same rows in an order that is the only one; None where several are possible.

    ``types`` are those of its outputs, ``columns`` the names and types of what it may read of public tables;
    ``released``: it reads released tables, too, whose numbers are DOUBLEs.
    """
    found = _ordered(sql, len(types))
    if found is None:
        return None
    kinds = [type_named(each).kind for each in types]
    if not all(kind in _EXACT or (kind is Kind.FLOAT and found.sets) for kind in kinds):
        return None
    if found.sets:
        mentioned = columns_mentioned(sql)
        if released or mentioned is None:
            return None
        read = [(fold(name), kind) for name, kind in columns if fold(name) in mentioned]
        if not found.added <= {name for name, _ in read} or not all(_is_exact(kind) for _, kind in read):
            return None
    return found.sql


def _is_exact(kind: str) -> bool:
    return type_named(kind).kind in _EXACT and "HUGEINT" not in kind


@lru_cache(maxsize=256)
def _ordered(sql: str, width: int) -> _Ordered | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return None
    steady = isinstance(tree, exp.Select) and all(_is_steady(node, tree) for node in tree.walk())
    if not steady or not isinstance(tree, exp.Select) or tree.sql("duckdb") != sql:
        return None
    sums = list(tree.find_all(*_ADDED))
    added = frozenset(fold(each.name) for node in sums for each in node.find_all(exp.Column))
    if added & {fold(each.alias) for each in tree.find_all(exp.Alias) if not _keeps_its_name(each)}:
        return None
    order = tree.args.get("order")
    if order is None and not _is_of_sets(tree):
        return None
    keys = [] if order is None else list(order.expressions)
    if not any(isinstance(key.this, exp.Var) for key in keys):  # ORDER BY ALL
        keys += [exp.Ordered(this=exp.Literal.number(place)) for place in range(1, width + 1)]
    tree.set("order", exp.Order(expressions=keys))
    return _Ordered(tree.sql("duckdb"), any(True for _ in tree.find_all(*_SETS)), added)


def _is_steady(node: exp.Expr, tree: exp.Expr) -> bool:
    given = node.args.get
    match node:
        case exp.Limit() | exp.Offset() | exp.Order():
            return node.parent is tree and tree.args.get("order") is not None
        case exp.Literal():
            return bool(node.is_string) or "e" not in node.name.casefold()
        case exp.Distinct():
            return not given("on")
        case exp.Select() | exp.Table():
            return not any(map(given, _CHOOSING))
        case exp.TableAlias():
            return not given("columns")
        case exp.Join():
            return not given("method") and str(given("kind") or "").upper() in _JOINS
        case exp.Group():
            return not any(map(given, ("grouping_sets", "cube", "rollup", "totals")))
        case exp.Sum() | exp.Avg():
            return all(isinstance(each, _IN_SUMS) for part in node.iter_expressions() for each in part.walk())
        case exp.Star():
            return isinstance(node.parent, exp.Count)
        case exp.Var():
            return isinstance(node.parent, exp.Ordered | exp.Extract | exp.Interval)
        case _:
            return isinstance(node, (*_STEADY, *_AGGREGATES))


def _keeps_its_name(alias: exp.Alias) -> bool:
    return isinstance(alias.this, exp.Column) and fold(alias.this.name) == fold(alias.alias)


def _is_of_sets(tree: exp.Select) -> bool:
    """Whether each row of a SELECT stands for a set of rows."""
    alone = (each for each in tree.expressions if each.find(exp.Select) is None)
    return bool(
        tree.args.get("group")
        or tree.args.get("distinct")
        or any(each.find(*_AGGREGATES) is not None for each in alone)
    )

"""SQL above a release whose rows are the same on several threads: it is given an order that leaves no choice.

    SELECT brand, COUNT(*) FROM part GROUP BY brand ORDER BY 2 DESC    ... ORDER BY 2 DESC, 1, 2
    SELECT brand, FIRST(size) FROM part GROUP BY brand                 one thread: it depends on the order

Claim   the rows, and their order, do not depend on the order in which threads read and add up rows.
Proof   By induction over what is listed here. A condition or expression is one of its row. Joins, groups and
        DISTINCT give sets of rows; MIN, MAX and COUNT are of sets. No part but the whole has a LIMIT. The
        whole is ordered by all of its outputs in the end, so that rows that tie are equal; after DISTINCT by
        outputs alone, since one row may stand for several of different keys.
        Where there are sets, equal values are the same value, of ``_EXACT`` types: no float is read, divided
        or cast, literals are short, and of the DOUBLEs of AVG nothing is computed (``_is_last``). SUM and AVG
        read columns of public tables, by names that nothing else has, through operations that keep
        whole numbers and decimals: what has at most ``_DIGITS`` digits is added up exactly in 128 bits.
        Without ORDER BY only groups may be ordered so: other rows have the order of their tables.
Test    tests/unit/test_any_order.py: on one thread and on several
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.ir.column import Kind, decimal_size, type_named
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold
from dpsql.post.columns_mentioned import columns_mentioned

_EXACT = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.DATE)
_WIDTHS = {"BOOLEAN": 1, "TINYINT": 3, "UTINYINT": 3, "SMALLINT": 5, "USMALLINT": 5, "INTEGER": 10}
_WIDTHS |= {"UINTEGER": 10, "BIGINT": 19}
_WORD = 18
"""Digits of the longest literals and decimals that 64 bits hold."""
_DIGITS = 28
"""Digits of what is added up: 128 bits hold the sum of 10^10 such numbers, in any order."""

_ADDED = (exp.Sum, exp.Avg)
_AGGREGATES = (exp.Count, exp.Min, exp.Max, *_ADDED)
_SETS = (exp.Group, exp.Distinct, *_AGGREGATES)
_COMPUTED = (exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Case, exp.If, exp.Coalesce, exp.Paren)
_COMPARED = (
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
)
_STEADY = (
    *(exp.Column, exp.Identifier, exp.Null, exp.Boolean, exp.Tuple, exp.Alias, exp.Exists),
    *(exp.From, exp.Where, exp.Subquery, exp.Having, exp.With, exp.CTE, exp.Ordered),
    *(exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.DPipe),
    *_COMPUTED,
    *_COMPARED,
)
"""What depends on a row or on a set of rows alone, and computes no float."""

_OF_ROWS = (exp.Div, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Extract)
"""What depends on a row alone, where there are no sets."""

_CAST = frozenset(map(exp.DataType.Type, ("DATE", "INT", "BIGINT", "VARCHAR", "TEXT")))
"""Types that values may be cast to where there are sets."""

_IN_SUMS = (exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Distinct, *_COMPUTED, *_COMPARED)
"""What keeps whole numbers and decimals as they are."""

_CHOOSING = ("qualify", "windows", "sample", "kind", "connect", "match", "pivots", "laterals", "into")
_JOINS = ("", "INNER", "CROSS", "SEMI", "ANTI", "OUTER")


@dataclass(frozen=True, slots=True)
class _Ordered:
    """SQL in its one order; whether it has sets of rows, and the names and literals of each sum."""

    sql: str
    sets: bool
    added: tuple[tuple[str | int, ...], ...]


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
        widths: dict[str, int] = {}
        for name, kind in columns:
            if fold(name) in mentioned:
                widths[fold(name)] = max(widths.get(fold(name), 0), _width(kind))
        if max(widths.values(), default=0) > _DIGITS:
            return None
        for each in found.added:
            digits = (part if isinstance(part, int) else widths.get(part, _DIGITS + 1) for part in each)
            if sum(digits) > _DIGITS:
                return None
    return found.sql


def _width(sql: str) -> int:
    """Return the digits of a type's values, more than ``_DIGITS`` of one that is not exact; 0 of a text."""
    kind = type_named(sql)
    if kind.kind in (Kind.TEXT, Kind.DATE):
        return 0
    if kind.kind is Kind.DECIMAL and decimal_size(kind)[0] <= _WORD:
        return decimal_size(kind)[0]
    return _WIDTHS.get(kind.sql, _DIGITS + 1)


@lru_cache(maxsize=256)
def _ordered(sql: str, width: int) -> _Ordered | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Select) or tree.sql("duckdb") != sql:
        return None
    sets = any(True for _ in tree.find_all(*_SETS))
    if not all(_is_steady(node, tree, sets) for node in tree.walk()):
        return None
    added = tuple(tuple(_parts(each)) for each in tree.find_all(*_ADDED))
    renamed = {fold(each.alias) for each in tree.find_all(exp.Alias) if not _keeps_its_name(each)}
    if not renamed.isdisjoint(part for each in added for part in each):
        return None
    order = tree.args.get("order")
    if order is None and not _is_of_sets(tree):
        return None
    keys = [] if order is None else list(order.expressions)
    if tree.args.get("distinct") and not all(_is_output(key.this, tree) for key in keys):
        return None
    if not any(isinstance(key.this, exp.Var) for key in keys):  # ORDER BY ALL
        keys += [exp.Ordered(this=exp.Literal.number(place)) for place in range(1, width + 1)]
    tree.set("order", exp.Order(expressions=keys))
    return _Ordered(tree.sql("duckdb"), sets, added)


def _is_steady(node: exp.Expr, tree: exp.Expr, sets: bool) -> bool:
    given = node.args.get
    match node:
        case exp.Limit() | exp.Offset() | exp.Order():
            return node.parent is tree and tree.args.get("order") is not None
        case exp.Column():
            return fold(node.name) != "rowid"  # the place of a row in its table
        case exp.Literal():
            return bool(node.is_string) or not sets or _is_short(node)
        case exp.Distinct():
            return not given("on")
        case exp.Select():
            named = all(isinstance(each, exp.Alias | exp.Column) for each in node.expressions)
            return named and not any(map(given, _CHOOSING))
        case exp.Table():
            return not any(map(given, _CHOOSING))
        case exp.TableAlias():
            return not given("columns")
        case exp.Join():
            return not given("method") and str(given("kind") or "").upper() in _JOINS
        case exp.Group():
            return not any(map(given, ("grouping_sets", "cube", "rollup", "totals")))
        case exp.Avg() if not _is_last(node, tree):
            return False
        case exp.Sum() | exp.Avg():
            return all(isinstance(each, _IN_SUMS) for part in node.iter_expressions() for each in part.walk())
        case exp.Star():
            return isinstance(node.parent, exp.Count)
        case exp.Var():
            return isinstance(node.parent, exp.Ordered | exp.Extract | exp.Interval)
        case exp.Cast() | exp.TryCast() if sets:
            return node.to.this in _CAST and not node.to.expressions
        case exp.DataType() if sets:
            return isinstance(node.parent, exp.Cast)
        case _:
            return isinstance(node, _STEADY + _AGGREGATES + (() if sets else _OF_ROWS))


def _is_last(mean: exp.Avg, tree: exp.Expr) -> bool:
    """Whether nothing is computed from a mean: it is an output, or is compared or ordered by."""
    alone = isinstance(mean.parent, (exp.Alias, exp.Ordered, *_COMPARED))
    return alone and mean.parent_select is tree and not tree.args.get("distinct")


def _is_short(literal: exp.Literal) -> bool:
    """Whether a number is a whole number or a decimal of 64 bits."""
    return literal.name.replace(".", "", 1).isdecimal() and len(literal.name) <= _WORD


def _parts(added: exp.Expr) -> Iterator[str | int]:
    """Return the names of what is added up, and the digits of its literals."""
    for each in added.find_all(exp.Column, exp.Literal):
        if isinstance(each, exp.Column):
            yield fold(each.name)
        elif not each.is_string:
            yield len(each.name)


def _keeps_its_name(alias: exp.Alias) -> bool:
    return isinstance(alias.this, exp.Column) and fold(alias.this.name) == fold(alias.alias)


def _is_output(key: exp.Expr, tree: exp.Select) -> bool:
    """Whether a key of ORDER BY is an output, by its number or its name."""
    outputs = {fold(each.alias_or_name) for each in tree.expressions}
    named = isinstance(key, exp.Column) and not key.table and fold(key.name) in outputs
    return named or isinstance(key, exp.Var | exp.Literal)


def _is_of_sets(tree: exp.Select) -> bool:
    """Whether each row of a SELECT stands for a set of rows."""
    alone = (each for each in tree.expressions if each.find(exp.Select) is None)
    return bool(
        tree.args.get("group")
        or tree.args.get("distinct")
        or any(each.find(*_AGGREGATES) is not None for each in alone)
    )

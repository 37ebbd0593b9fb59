"""SQL that only picks columns of one released table, and orders its rows: answered without an engine.

    SELECT "release"."ward" AS "ward", "release"."count" AS "n" FROM "release"        the table's own rows
    ... ORDER BY n DESC, "release"."ward" LIMIT 3                                     in another order
    SELECT "sub"."n" FROM (SELECT "release"."count" AS "n" FROM "release") AS "sub"   fewer columns

Claim   types and rows are those of the sealed engine, for at most ``MOST`` rows.
Proof   such SQL has no condition or expression: its rows are the table's, in the order of insertion, as the
        engine has one thread. Its types are those that the table is created with, which DESCRIBE spells
        alike for the types of ``_taken``. A value is taken as it is only if that type holds it, and gives it
        back, unchanged: it has the Python type that the driver returns, and is in range. An order is that of
        columns, by their names in the table, by outputs, or by their numbers; a name that could be either is
        not taken. Values of these types are ordered alike (texts by their bytes, which is by their
        characters, those of an ENUM by their places in it; NULL comes last), but for NaN. If no two rows are
        equal in all that orders them, there is one order. Anything else goes to the engine.
Test    tests/unit/test_projection.py: every fixture's answer, and values at the ends of every type
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any

from dpsql.ir.column import INTEGERS, Kind, Type, decimal_size, enum_members, sealed_name, type_range
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from dpsql.aggregates import Floats
    from dpsql.ir.finished import Finished
    from dpsql.ir.measure import Measure, Post

NATIVE = frozenset((Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT))
"""Kinds of values that are handed down to a later stage as they are."""

MOST = 10_000
"""How many rows are answered without an engine: more than that, it is faster."""

_NAME = r'"((?:[^"]|"")+)"'
_PICKED = re.compile(rf"{_NAME}\.{_NAME} AS {_NAME}(?:, | FROM {_NAME}(?= ORDER BY | LIMIT |\Z))")
_ORDERED = re.compile(
    rf"(?:{_NAME}\.{_NAME}|{_NAME}|([A-Za-z_]\w*)|(\d{{1,4}}))( DESC)?( NULLS FIRST)?(?:, |(?= LIMIT |\Z))"
)
_LIMIT = re.compile(r" LIMIT (\d{1,18})(?: OFFSET (\d{1,18}))?\Z")
_OF_SUBQUERY = rf"{_NAME}\.{_NAME}"
_QUOTED = r'"(?:[^"]|"")+"\."(?:[^"]|"")+"'
_WRAPPED = re.compile(rf"SELECT ({_QUOTED}(?:, {_QUOTED})*) FROM \((SELECT .*)\) AS {_NAME}\Z", re.DOTALL)
_WORD = 2**63  # integers beyond are sent as other types


@dataclass(frozen=True, slots=True)
class _Order:
    """A column of the released table that orders the rows."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class _Picked:
    """The columns that are picked, and as what; those that order the rows, and which of these are kept."""

    names: list[str]
    outputs: list[str]
    orders: list[_Order]
    kept: slice


def picked_columns(sql: str, measures: Sequence[Measure]) -> list[tuple[str, Type]] | None:
    """Return the columns that the SQL picks, with their types; None if it does more than order them."""
    found = _picked(sql, measures)
    return None if found is None else [(name, found[1][name]) for name in found[0].names]


def types_of(columns: Sequence[tuple[str, Type]]) -> list[str]:
    """Return the types as DESCRIBE spells them."""
    return [sealed_name(kind.sql) for _, kind in columns]


def picks_values(post: Post, measure: Measure) -> bool:
    """Whether the SQL picks and orders keys and numbers alone, and reads no half-width."""
    found = _picked(post.sql, [measure])
    if found is None:
        return False
    values = {key.name for key in measure.keys} | {call.name for call in measure.aggregates}
    return values >= {*found[0].names, *(each.column for each in found[0].orders)}


def picked_rows(
    post: Post, measures: Sequence[Measure], tables: Sequence[list[Finished]], native: bool = False
) -> list[tuple[Any, ...]] | None:
    """Return the rows of SQL that only picks and orders; None if they must come from the engine.

    ``native``: and where a value is not of a native Python type.
    """
    if post.replicated is not None or post.tables:
        return None
    found = _picked(post.sql, measures)
    if found is None:
        return None
    picked, types = found
    if native and any(types[name].kind not in NATIVE for name in picked.names):
        return None
    (finished,) = tables
    if not finished or len(finished[0].values) > MOST:
        return None
    values = _by_name(finished, measures[0])
    for name in {*picked.names, *(each.column for each in picked.orders)}:
        taken = _taken(types[name])
        if taken is None or not taken(values[name]):
            return None
    columns = [values[name] for name in picked.names]
    if not picked.orders:
        return [*zip(*(column[picked.kept] for column in columns), strict=True)]
    ranked = [_ranked(values[each.column], types[each.column]) for each in picked.orders]
    order = _ordered(picked.orders, ranked, picked.kept.stop)
    return None if order is None else [tuple(column[i] for column in columns) for i in order[picked.kept]]


def _picked(sql: str, measures: Sequence[Measure]) -> tuple[_Picked, dict[str, Type]] | None:
    """Return what the SQL picks, and the types of the columns; None if it does anything else."""
    if len(measures) != 1:
        return None
    from dpsql.facts.released_columns import released_columns

    columns = released_columns(measures[0])
    types = dict(columns)
    picked = _read(sql, measures[0].name, types)
    if picked is None or len({name.casefold() for name in types}) < len(columns):
        return None
    used = {*picked.names, *(each.column for each in picked.orders)}
    if not types.keys() >= used or any(_taken(types[name]) is None for name in used):
        return None
    return picked, types


def _read(sql: str, table: str, types: Collection[str]) -> _Picked | None:
    """Read SELECT "t"."c" AS "a", ... FROM "t" ORDER BY ... LIMIT ...; None for any other text.

    Or SELECT "s"."a", ... FROM (a text without an order) AS "s".
    """
    wrapped = _WRAPPED.match(sql)
    if wrapped is not None:
        return _read_wrapped(wrapped, table, types)
    return _read_plain(sql, table, types)


def _read_wrapped(wrapped: re.Match[str], table: str, types: Collection[str]) -> _Picked | None:
    inner, taken = _read_plain(wrapped[2], table, types), re.findall(_OF_SUBQUERY, wrapped[1])
    if inner is None or inner.orders or inner.kept != slice(None):
        return None
    places = dict(zip(inner.outputs, inner.names, strict=True))
    outputs = [_unquoted(name) for _, name in taken]
    once = len(places) == len(inner.outputs) and places.keys() >= {*outputs}
    if not once or {qualifier for qualifier, _ in taken} != {wrapped[3]}:
        return None
    return _Picked([places[name] for name in outputs], outputs, [], slice(None))


def _read_plain(sql: str, table: str, types: Collection[str]) -> _Picked | None:
    names, outputs, place, quoted = list[str](), list[str](), len("SELECT "), table.replace('"', '""')
    if not sql.startswith("SELECT "):
        return None
    while (item := _PICKED.match(sql, place)) is not None and item[1] == quoted:
        names.append(_unquoted(item[2]))
        outputs.append(_unquoted(item[3]))
        place = item.end()
        if item[4] is not None:
            break
    if item is None or item[4] != quoted:
        return None
    orders: list[_Order] = []
    if sql.startswith(" ORDER BY ", place):
        place += len(" ORDER BY ")
        while not orders or sql.startswith(", ", place - 2):
            ordered = _ORDERED.match(sql, place)
            column = None if ordered is None else _column_of(ordered, quoted, names, outputs, types)
            if ordered is None or column is None:
                return None
            orders.append(_Order(column, ordered[6] is not None, ordered[7] is not None))
            place = ordered.end()
    if place == len(sql):
        return _Picked(names, outputs, orders, slice(None))
    limit = _LIMIT.match(sql, place)
    if limit is None:
        return None
    first = int(limit[2] or 0)
    return _Picked(names, outputs, orders, slice(first, first + int(limit[1])))


def _column_of(
    item: re.Match[str], table: str, names: list[str], outputs: list[str], types: Collection[str]
) -> str | None:
    """Return the column of the table that an item of ORDER BY is; None if that is not certain."""
    if item[1] is not None:
        return _unquoted(item[2]) if item[1] == table else None
    if item[5] is not None:
        return names[int(item[5]) - 1] if 0 < int(item[5]) <= len(names) else None
    if item[4] is not None and item[4].isupper():
        return None  # so are ALL, NULL and CURRENT_DATE printed, which are no columns
    name = _folded(item[4] if item[3] is None else _unquoted(item[3]))
    found = {column for column, output in zip(names, outputs, strict=True) if _folded(output) == name}
    found |= {column for column in types if _folded(column) == name}
    return found.pop() if len(found) == 1 else None


def _folded(name: str) -> str:
    """Fold the letters that the engine folds, in names of no others."""
    return name.lower() if name.isascii() else name


def _unquoted(name: str) -> str:
    return name.replace('""', '"')


def _ordered(
    orders: Sequence[_Order], columns: Sequence[Sequence[Any]], last: int | None
) -> list[int] | None:
    """Return the places of the rows in this order; None if it is not the only one, or not certain.

    Rows behind the ``last`` may be left out.
    """
    if any(float in {*map(type, values)} and any(each != each for each in values) for values in columns):
        return None
    places = _first(orders[0], columns[0], last)
    if len({tuple(values[place] for values in columns) for place in places}) < len(places):
        return None
    for order, values in reversed([*zip(orders, columns, strict=True)]):
        missing, present = list[int](), places
        if None in values:
            missing = [place for place in places if values[place] is None]
            present = [place for place in places if values[place] is not None]
        present.sort(key=values.__getitem__, reverse=order.descending)
        places = [*missing, *present] if order.nulls_first else [*present, *missing]
    return places


def _ranked(values: Sequence[Any], type: Type) -> Sequence[Any]:
    """Return what orders the values of a column: of an ENUM, the places of its members."""
    if not type.sql.startswith("ENUM("):
        return values
    places = {word: at for at, word in enumerate(enum_members(type.sql))}
    return [None if value is None else places[value] for value in values]


def _first(order: _Order, values: Sequence[Any], last: int | None) -> list[int]:
    """Return the places of all rows, but for some that are behind the ``last`` by their first column."""
    every = range(len(values))
    if not last or last >= len(values) or None in values:
        return list(every)
    end = sorted(values, reverse=order.descending)[last - 1]
    return [place for place in every if (values[place] >= end if order.descending else values[place] <= end)]


def _by_name(finished: Sequence[Finished], measure: Measure) -> dict[str, Sequence[Any]]:
    """Return the values of a released table by its columns' names."""
    from dpsql.facts.released_columns import high_of, low_of, margin_of

    values: dict[str, Sequence[Any]] = {}
    for column in finished:
        size = len(column.values)
        values[column.name] = column.values
        if column.margins is not None:
            values[margin_of(column.name)] = or_null(column.margins, size)
            if measure.intervals:
                values[low_of(column.name)] = or_null(column.low, size)
                values[high_of(column.name)] = or_null(column.high, size)
    return values


def or_null(numbers: Floats | None, size: int) -> list[Any]:
    """Convert floats to a list, NaN to NULL."""
    if numbers is None:
        return [None] * size
    return [None if number != number else number for number in numbers.tolist()]


def _taken(type: Type) -> Callable[[Sequence[Any]], bool] | None:
    """Return whether the engine gives values, or NULL, back as they are; None if nobody knows of the type."""
    match type.kind:
        case Kind.BOOLEAN if type.sql == "BOOLEAN":
            return partial(_are, bool)
        case Kind.INTEGER if type.sql in INTEGERS and type.sql != "UHUGEINT":  # that is sent as text
            ends = type_range(type)
            return partial(_within, int(max(-_WORD, ends.low)), int(min(_WORD - 1, ends.high)))
        case Kind.FLOAT if type.sql == "DOUBLE":
            return partial(_are, float)
        case Kind.TEXT if type.sql == "VARCHAR":
            return partial(_are, str)
        case Kind.TEXT if type.sql.startswith("ENUM("):
            members = frozenset(enum_members(type.sql))
            return lambda values: all(value is None or value in members for value in values)
        case Kind.DATE if type.sql == "DATE":
            return partial(_are, datetime.date)
        case Kind.DECIMAL:
            width, scale = decimal_size(type)
            if type.sql != f"DECIMAL({width},{scale})":
                return None
            return lambda values: all(value is None or _is_decimal(value, width, scale) for value in values)
        case _:
            return None


def _are(kind: type, values: Sequence[Any]) -> bool:
    return {*map(type, values)} <= {kind, NoneType}


def _within(low: int, high: int, values: Sequence[Any]) -> bool:
    if not _are(int, values):
        return False
    present = [value for value in values if value is not None] if None in values else values
    return not present or (low <= min(present) and max(present) <= high)


def _is_decimal(value: Any, width: int, scale: int) -> bool:
    """Whether it is a number of this scale, with few enough digits, and not a negative zero."""
    if value.__class__ is not Decimal:
        return False
    sign, digits, exponent = value.as_tuple()
    return exponent == -scale and len(digits) <= width and not (sign and not value)

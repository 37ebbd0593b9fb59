"""SQL that only picks columns of one released table: answered without an engine.

    SELECT "release"."ward" AS "ward", "release"."count" AS "n" FROM "release"        the table's own rows

Claim   types and rows are those of the sealed engine, for at most ``MOST`` rows.
Proof   such SQL has no condition, order or expression: its rows are the table's, in the order of insertion,
        as the engine has one thread. Its types are those that the table is created with, which DESCRIBE
        spells alike for the types of ``_taken``. A value is taken as it is only if that type holds it, and
        gives it back, unchanged: it has the Python type that the driver returns, and is in range. Anything
        else goes to the engine.
Test    tests/unit/test_projection.py: every fixture's answer, and values at the ends of every type
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.ir.column import INTEGERS, Kind, Type, decimal_size, type_range

if TYPE_CHECKING:
    from dpsql.aggregates import Floats
    from dpsql.ir.finished import Finished
    from dpsql.ir.measure import Measure, Post

MOST = 10_000
"""How many rows are answered without an engine: more than that, it is faster."""

_NAME = r'"((?:[^"]|"")+)"'
_PICKED = re.compile(rf"{_NAME}\.{_NAME} AS {_NAME}(?:, | FROM {_NAME}\Z)")
_WORD = 2**63  # integers beyond are sent as other types


def picked_columns(sql: str, measures: Sequence[Measure]) -> list[tuple[str, Type]] | None:
    """Return the columns that the SQL picks, with their types; None if it does anything else."""
    names = _picked_names(sql, measures[0].name) if len(measures) == 1 else None
    if names is None:
        return None
    from dpsql.facts.released_columns import released_columns

    columns = released_columns(measures[0])
    types = dict(columns)
    if len({name.casefold() for name in types}) < len(columns) or not types.keys() >= set(names):
        return None
    picked = [(name, types[name]) for name in names]
    return picked if all(_taken(kind) is not None for _, kind in picked) else None


def types_of(columns: Sequence[tuple[str, Type]]) -> list[str]:
    """Return the types as DESCRIBE spells them."""
    return ["VARCHAR" if kind.kind is Kind.TEXT else kind.sql for _, kind in columns]


def picked_rows(
    post: Post, measures: Sequence[Measure], tables: Sequence[list[Finished]]
) -> list[tuple[Any, ...]] | None:
    """Return the rows of SQL that only picks columns; None if they must come from the engine."""
    if post.replicated is not None or post.tables:
        return None
    columns = picked_columns(post.sql, measures)
    if columns is None:
        return None
    (finished,) = tables
    if not finished or len(finished[0].values) > MOST:
        return None
    values = _by_name(finished, measures[0])
    lists = []
    for name, kind in columns:
        held, taken = values[name], _taken(kind)
        if taken is None or not all(value is None or taken(value) for value in held):
            return None
        lists.append(held)
    return list(zip(*lists, strict=True))


def _picked_names(sql: str, table: str) -> list[str] | None:
    """Return the names of the columns in SELECT "t"."c" AS "a", ... FROM "t"; None for any other text."""
    names, place, quoted = list[str](), len("SELECT "), table.replace('"', '""')
    if not sql.startswith("SELECT "):
        return None
    while (item := _PICKED.match(sql, place)) is not None and item[1] == quoted:
        names.append(item[2].replace('""', '"'))
        if item[4] is not None:
            return names if item[4] == quoted else None
        place = item.end()
    return None


def _by_name(finished: Sequence[Finished], measure: Measure) -> dict[str, list[Any]]:
    """Return the values of a released table by its columns' names."""
    from dpsql.facts.released_columns import high_of, low_of, margin_of

    values: dict[str, list[Any]] = {}
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


def _taken(type: Type) -> Callable[[Any], bool] | None:
    """Return which values the engine gives back as they are; None if that is not known of the type."""
    match type.kind:
        case Kind.BOOLEAN if type.sql == "BOOLEAN":
            return lambda value: value.__class__ is bool
        case Kind.INTEGER if type.sql in INTEGERS and type.sql != "UHUGEINT":  # that is sent as text
            ends = type_range(type)
            low, high = max(-_WORD, ends.low), min(_WORD - 1, ends.high)
            return lambda value: value.__class__ is int and low <= value <= high
        case Kind.FLOAT if type.sql == "DOUBLE":
            return lambda value: value.__class__ is float
        case Kind.TEXT if type.sql == "VARCHAR" or type.sql.startswith("ENUM("):
            return lambda value: value.__class__ is str
        case Kind.DATE if type.sql == "DATE":
            return lambda value: value.__class__ is datetime.date
        case Kind.DECIMAL:
            width, scale = decimal_size(type)
            if type.sql != f"DECIMAL({width},{scale})":
                return None
            return lambda value: _is_decimal(value, width, scale)
        case _:
            return None


def _is_decimal(value: Any, width: int, scale: int) -> bool:
    """Whether it is a number of this scale, with few enough digits, and not a negative zero."""
    if value.__class__ is not Decimal:
        return False
    sign, digits, exponent = value.as_tuple()
    return exponent == -scale and len(digits) <= width and not (sign and not value)

"""SQL for values that a policy does not declare, as DuckDB and PostgreSQL both read it; for the owner alone.

status = { values = ["paid", "shipped"] }    "status" NOT IN ('paid', 'shipped')
age = { range = [0, 120] }                   "age" < 0 OR "age" > 120
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from dpsql.engines.identifiers import quote, text
from dpsql.engines.shares import exceeded
from dpsql.ir.column import Categories, Column, Interval, Kind, Number, Value

_EPOCH = datetime.datetime(1970, 1, 1)
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


def strays_sql(columns: Sequence[Column]) -> tuple[list[str], str]:
    """Return the columns with declarations that can be told, and SQL for the share of rows beyond each."""
    told = [(column.name, condition) for column in columns if (condition := _stray_sql(column)) is not None]
    listed = ", ".join(exceeded(f"count(*) FILTER (WHERE {condition})", "count(*)") for _, condition in told)
    return [name for name, _ in told], listed


def _stray_sql(column: Column) -> str | None:
    """Print the condition that a value is not declared, which NULL is not; None if nothing is declared."""
    name, kind = quote(column.name), column.fact.type.kind
    match column.fact.domain:
        case Categories(values) if values:
            listed = [_constant(value) for value in values]
            return None if None in listed else f"{name} NOT IN ({', '.join(filter(None, listed))})"
        case Interval(low, high) as ends if ends.finite:
            first, last = _end(low, kind), _end(high, kind)
            return None if first is None or last is None else f"{name} < {first} OR {name} > {last}"
        case _:
            return None


def _constant(value: Value) -> str | None:
    match value:
        case str():
            return text(value)
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case _:
            return None


def _end(end: Number, kind: Kind) -> str | None:
    if kind in _NUMBERS:
        return repr(end)
    try:
        if kind is Kind.DATE:
            return f"DATE '{(_EPOCH + datetime.timedelta(days=int(end))).date()}'"
        if kind is Kind.TIMESTAMP:
            return f"TIMESTAMP '{_EPOCH + datetime.timedelta(microseconds=int(end))}'"
    except OverflowError:  # further than Python's dates
        pass
    return None

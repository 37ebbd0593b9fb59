"""Public rows that are joined with private rows: their values as facts and as literals."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from dpsql.ir.column import ANYTHING, Categories, Domain, Fact, Interval, Kind, Type, Value
from dpsql.ir.measure import Measure

Evaluate = Callable[[str, tuple[str, ...], int], tuple[list[str], list[tuple[Any, ...]]]]
"""(SQL over public tables, their names, row limit) -> types and rows, at most one row above the limit."""


Describe = Callable[[str, tuple[str, ...], Sequence[Measure]], list[str]]
"""(SQL over public and released tables, the public tables, the measures) -> the types of its outputs."""


def fact_of_values(type: Type, values: tuple[Value, ...]) -> Fact:
    """Return the fact of a public column by its values: the list of them, or their range."""
    present = tuple(dict.fromkeys(value for value in values if value is not None))
    domain: Domain = ANYTHING
    match type.kind:
        case Kind.BOOLEAN | Kind.INTEGER | Kind.TEXT:
            domain = Categories(present)
        case Kind.DATE | Kind.TIMESTAMP if type.sql in ("DATE", "TIMESTAMP"):
            dates = tuple(python_value(value, type) for value in present)
            if all(isinstance(date, datetime.date) for date in dates):
                domain = Categories(dates)
        case Kind.FLOAT | Kind.DECIMAL:
            numbers = [float(value) for value in present if isinstance(value, int | float | Decimal)]
            if numbers and all(math.isfinite(number) for number in numbers):
                domain = Interval(min(numbers), max(numbers))
        case _:
            pass
    return Fact(type, domain, nullable=(len(present) < len(values) and None in values) or not values)


def python_value(value: Value, type: Type) -> Value:
    """Return a value as the Python value of a literal of its type; dates and timestamps arrive as text."""
    if not isinstance(value, str):
        return value
    try:
        if type.kind is Kind.DATE:
            return datetime.date.fromisoformat(value)
        if type.kind is Kind.TIMESTAMP:
            return datetime.datetime.fromisoformat(value)
        if type.kind is Kind.TIMESTAMPTZ:
            return datetime.datetime.fromisoformat(value).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return value
    return value

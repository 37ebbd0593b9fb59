"""Public SQL handed down to private rows: what its values are, as facts and as literals."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from dpsql.ir.column import ANYTHING, Categories, Domain, Fact, Interval, Kind, Type, Value
from dpsql.ir.measure import Measure

Evaluate = Callable[[str, tuple[str, ...], int], tuple[list[str], list[tuple[Any, ...]]]]
"""(SQL over public tables, their names, the most rows) -> types and rows, one more row if there are more."""


Describe = Callable[[str, tuple[str, ...], Sequence[Measure]], list[str]]
"""(SQL over public and released tables, the public ones, the measures) -> the types of its outputs."""


def given_fact(type: Type, values: tuple[Value, ...]) -> Fact:
    """What the rows of a public part show of a column: its list of values, or its range."""
    present = tuple(dict.fromkeys(each for each in values if each is not None))
    domain: Domain = ANYTHING
    match type.kind:
        case Kind.BOOLEAN | Kind.INTEGER | Kind.TEXT:
            domain = Categories(present)
        case Kind.DATE:
            dates = tuple(given_value(each, type) for each in present)
            if all(isinstance(each, datetime.date) for each in dates):
                domain = Categories(dates)
        case Kind.FLOAT | Kind.DECIMAL:
            numbers = [float(each) for each in present if isinstance(each, int | float | Decimal)]
            if numbers and all(math.isfinite(each) for each in numbers):
                domain = Interval(min(numbers), max(numbers))
        case _:
            pass
    return Fact(type, domain, nullable=(len(present) < len(values) and None in values) or not values)


def given_value(value: Value, type: Type) -> Value:
    """A value that travelled as text, as the Python value that a literal of its type holds."""
    if not isinstance(value, str):
        return value
    try:
        if type.kind is Kind.DATE:
            return datetime.date.fromisoformat(value)
        if type.kind is Kind.TIMESTAMP:
            return datetime.datetime.fromisoformat(value)
    except ValueError:
        return value
    return value

"""Arithmetic on ranges: from the ranges of the arguments to a range that holds every result.

    [1, 2] + [10, 20] = [11, 22]      [-1, 2] * [10, 20] = [-20, 40]

A range says nothing of NULL and NaN: 0 * infinity counts as 0. Ends of integers, dates (days) and
timestamps (microseconds) are computed exactly; ends of DOUBLE by the operations that DuckDB uses, whose
rounding keeps order; ends of DECIMAL in exact decimals.
"""

from __future__ import annotations

import ctypes
import datetime
import math
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from typing import Any

from dpsql.functions import Argument, Arguments
from dpsql.ir.column import (
    ANYTHING,
    BOOLEAN,
    EVERYWHERE,
    Categories,
    Domain,
    Fact,
    Interval,
    Kind,
    Number,
    Type,
    Value,
    decimal_size,
    type_range,
)

_SMALL = {"TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "BOOLEAN"}
DAY = 86_400_000_000
"""Microseconds in a day."""


def known(argument: Argument) -> Interval:
    """What is known of a number: its range, or everywhere. Only small types are bounds in themselves."""
    fact = argument.fact
    match fact.domain:
        case Interval() as interval:
            return interval
        case Categories(values) if values and all(
            isinstance(value, bool | int | float | Decimal | datetime.date) for value in values
        ):
            ends = [ordinal(value) for value in values]
            return Interval(min(ends), max(ends))
        case _:
            return type_range(fact.type) if fact.type.sql in _SMALL else EVERYWHERE


def possible(argument: Argument) -> Interval:
    """Every number the argument can hold: its range, and its type's where an end is open."""
    interval, whole = known(argument), type_range(argument.type)
    low = whole.low if interval.low == -math.inf else interval.low
    high = whole.high if interval.high == math.inf else interval.high
    return Interval(low, high) if low <= high else whole  # a condition left no number of the type


def ordinal(value: Value) -> Number:
    """A constant as an end of a range."""
    if isinstance(value, datetime.datetime):
        naive = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        return (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.toordinal() - 719_163
    assert isinstance(value, bool | int | float | Decimal)
    return int(value) if isinstance(value, bool | int) else float(value)


def within(type: Type, interval: Interval, nullable: bool) -> Fact:
    """The fact of a number of this type in this range; what the type cannot hold has become NULL."""
    low, high = interval.low, interval.high
    if type.kind is not Kind.FLOAT and (low == math.inf or high == -math.inf):
        low = high = 0  # every value has become NULL
    match type.kind:
        case Kind.INTEGER | Kind.DECIMAL:
            whole = type_range(type)
            if max(low, whole.low) > min(high, whole.high):
                low = high = 0
            low = low if low == -math.inf else max(low, whole.low)
            high = high if high == math.inf else min(high, whole.high)
            if type.kind is Kind.INTEGER:
                low, high = _whole(low), _whole(high)
            else:
                low, high = _past(low, -math.inf, type), _past(high, math.inf, type)
        case Kind.FLOAT:
            low, high = _rounded(low, type.sql == "FLOAT"), _rounded(high, type.sql == "FLOAT")
        case _:
            pass
    interval = Interval(low, high)
    return Fact(type, ANYTHING if interval == EVERYWHERE else interval, nullable)


def _past(end: Number, outside: float, type: Type) -> float:
    """The end of a DECIMAL's range, one step outside where a float no longer holds all its digits."""
    exact = abs(end) * 10.0 ** decimal_size(type)[1] < 1e15
    return float(end) if exact or math.isinf(end) else math.nextafter(float(end), outside)


def _whole(end: Number) -> Number:
    return end if isinstance(end, int) or math.isinf(end) else int(end)


def _rounded(end: Number, single: bool) -> float:
    return float(ctypes.c_float(end).value) if single else float(end)


def truth(nullable: bool) -> Fact:
    """The fact of every condition."""
    return Fact(BOOLEAN, Categories((False, True)), nullable)


def any_null(arguments: Arguments) -> bool:
    return any(each.fact.nullable for each in arguments)


def corners(operation: Callable[[Number, Number], Number], left: Interval, right: Interval) -> Interval:
    """The hull of a monotone operation at the four corners."""
    return spread(operation(a, b) for a in (left.low, left.high) for b in (right.low, right.high))


def spread(ends: Iterable[Number]) -> Interval:
    """The hull of some numbers; one that is none (0 * infinity) stands for 0."""
    found = [0 if isinstance(end, float) and math.isnan(end) else end for end in ends]
    return Interval(min(found), max(found))


def outward(interval: Interval, slack: float = 1e-14) -> Interval:
    """A little wider: two libraries may differ in the last digits of an exp."""
    low, high = float(interval.low), float(interval.high)
    return Interval(
        low - slack * abs(low) if math.isfinite(low) else low,
        high + slack * abs(high) if math.isfinite(high) else high,
    )


def as_double(type: Type, interval: Interval) -> Interval:
    """The range of numbers of this type as DOUBLEs: DuckDB rounds those of many digits twice."""
    scale = decimal_size(type)[1] if type.kind is Kind.DECIMAL else 0
    size = max(abs(interval.low), abs(interval.high)) * 10.0**scale
    if type.kind is Kind.FLOAT or (size < 2.0**53 and scale <= 22):
        return Interval(float(interval.low), float(interval.high))
    return outward(interval, 1e-15)


def in_decimals(operation: Callable[[Any, Any], Any]) -> Callable[[Number, Number], Number]:
    """The operation on exact decimals, for ends that DECIMAL columns can reach."""

    def exact(left: Number, right: Number) -> Number:
        if math.isinf(left) or math.isinf(right):
            return float(operation(float(left), float(right)))
        with localcontext() as context:
            context.prec = 200
            return float(operation(Decimal(repr(left)), Decimal(repr(right))))

    return exact


def hull(type: Type, domains: Iterable[Domain]) -> Domain:
    """A domain that holds what each of these holds: lists stay lists, ranges become their hull."""
    parts = tuple(domains)
    if parts and all(isinstance(each, Categories) for each in parts):
        values = (value for each in parts if isinstance(each, Categories) for value in each.values)
        return Categories(tuple(dict.fromkeys(values)))
    if type.kind in (Kind.TEXT, Kind.BOOLEAN, Kind.UUID, Kind.TIME, Kind.NULL):
        return ANYTHING
    ranges = [known(Argument(Fact(type, each))) for each in parts]
    return spread_of(type, ranges)


def spread_of(type: Type, ranges: list[Interval]) -> Domain:
    if not ranges:
        return ANYTHING
    whole = Interval(min(each.low for each in ranges), max(each.high for each in ranges))
    return ANYTHING if whole == EVERYWHERE else whole

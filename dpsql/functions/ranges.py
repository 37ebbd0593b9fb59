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
    return Interval(
        whole.low if interval.low == -math.inf else interval.low,
        whole.high if interval.high == math.inf else interval.high,
    )


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
    match type.kind:
        case Kind.INTEGER | Kind.DECIMAL:
            whole = type_range(type)
            low, high = max(interval.low, whole.low), min(interval.high, whole.high)
            if interval.low == -math.inf:
                low = interval.low
            if interval.high == math.inf:
                high = interval.high
            if not low <= high:  # every value has become NULL
                low = high = 0
            exact = _whole if type.kind is Kind.INTEGER else float
            interval = Interval(exact(low), exact(high))
        case Kind.FLOAT:
            single = type.sql == "FLOAT"
            interval = Interval(_rounded(interval.low, single), _rounded(interval.high, single))
        case _:
            pass
    return Fact(type, ANYTHING if interval == EVERYWHERE else interval, nullable)


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


def outward(interval: Interval) -> Interval:
    """A little wider: two libraries may differ in the last digits of an exp."""
    low, high = float(interval.low), float(interval.high)
    slack = 1e-14
    return Interval(low - slack * abs(low) if math.isfinite(low) else low,
                    high + slack * abs(high) if math.isfinite(high) else high)  # fmt: skip


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

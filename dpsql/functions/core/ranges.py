"""Interval arithmetic: a range that holds every result, from the ranges of the arguments.

    [1, 2] + [10, 20] = [11, 22]      [-1, 2] * [10, 20] = [-20, 40]

A range excludes NULL and NaN: 0 * infinity counts as 0. Ends of integers, dates (days) and timestamps
(microseconds) are exact. Ends of DOUBLE use the operations of DuckDB, which round monotonically. Ends of
DECIMAL use exact decimals.
"""

from __future__ import annotations

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
    SMALL,
    Categories,
    Domain,
    Fact,
    Interval,
    Kind,
    Number,
    Sized,
    Type,
    Value,
    decimal_size,
    type_range,
)

DAY = 86_400_000_000
"""Microseconds in a day."""

_EPOCH = datetime.date(1970, 1, 1).toordinal()


def known(argument: Argument) -> Interval:
    """Return the known range of a number, else EVERYWHERE. Only small types count as a range."""
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
            return type_range(fact.type) if fact.type.sql in SMALL else EVERYWHERE


def possible(argument: Argument) -> Interval:
    """Return the range of the argument; an open end is replaced by the limit of its type."""
    interval, type_interval = known(argument), type_range(argument.type)
    low = type_interval.low if interval.low == -math.inf else interval.low
    high = type_interval.high if interval.high == math.inf else interval.high
    return (
        Interval(low, high) if low <= high else type_interval
    )  # the condition excludes all numbers of the type


def ordinal(value: Value) -> Number:
    """Return a constant as an end of a range: dates as days, timestamps as microseconds."""
    if isinstance(value, datetime.datetime):
        naive = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        return (naive - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.toordinal() - _EPOCH
    assert isinstance(value, bool | int | float | Decimal)
    return int(value) if isinstance(value, bool | int) else float(value)


def date_of(moment: Number) -> datetime.date | None:
    """Return the date that begins at a moment; None if none of Python's dates does."""
    day, clock = divmod(moment, DAY) if math.isfinite(moment) else (math.inf, 0)
    if clock or not 1 <= day + _EPOCH <= datetime.date.max.toordinal():
        return None
    return datetime.date.fromordinal(int(day) + _EPOCH)


def within(type: Type, interval: Interval, nullable: bool) -> Fact:
    """Return the fact of a number in a range; numbers outside of the type have become NULL."""
    low, high = interval.low, interval.high
    if type.kind is not Kind.FLOAT and (low == math.inf or high == -math.inf):
        low = high = 0  # every value is NULL
    match type.kind:
        case Kind.INTEGER | Kind.DECIMAL:
            type_interval = type_range(type)
            if max(low, type_interval.low) > min(high, type_interval.high):
                low = high = 0
            low = low if low == -math.inf else max(low, type_interval.low)
            high = high if high == math.inf else min(high, type_interval.high)
            if type.kind is Kind.INTEGER:
                low, high = _integer_end(low), _integer_end(high)
            else:
                low, high = _decimal_end(low, -math.inf, type), _decimal_end(high, math.inf, type)
        case Kind.FLOAT:
            low, high = _float_end(low, type.sql == "FLOAT"), _float_end(high, type.sql == "FLOAT")
        case _:
            pass
    interval = Interval(low, high)
    return Fact(type, ANYTHING if interval == EVERYWHERE else interval, nullable)


def _decimal_end(end: Number, outside: float, type: Type) -> float:
    """Return the end of a DECIMAL range as a float, one step outward if a float cannot hold its digits."""
    exact = abs(end) * 10.0 ** decimal_size(type)[1] < 1e15
    return float(end) if exact or math.isinf(end) else math.nextafter(float(end), outside)


def _integer_end(end: Number) -> Number:
    return end if isinstance(end, int) or math.isinf(end) else int(end)


def _float_end(end: Number, single: bool) -> float:
    return nearest_real(end) if single else float(end)


def nearest_real(number: float) -> float:
    """Return the nearest number of 32 bits, infinite beyond them all."""
    import ctypes  # few queries read a REAL

    return float(ctypes.c_float(number).value)


def truth(nullable: bool) -> Fact:
    """Return the fact of a condition."""
    return Fact(BOOLEAN, Categories((False, True)), nullable)


def any_null(arguments: Arguments) -> bool:
    return any(argument.fact.nullable for argument in arguments)


def corners(operation: Callable[[Number, Number], Number], left: Interval, right: Interval) -> Interval:
    """Return the hull of a monotone operation at the four corners of its arguments."""
    return spread(operation(a, b) for a in (left.low, left.high) for b in (right.low, right.high))


def spread(ends: Iterable[Number]) -> Interval:
    """Return the hull of numbers; NaN (0 * infinity) counts as 0."""
    numbers = [0 if isinstance(end, float) and math.isnan(end) else end for end in ends]
    return Interval(min(numbers), max(numbers))


def outward(interval: Interval, slack: float = 1e-14) -> Interval:
    """Widen an interval slightly: math libraries may differ in the last digits."""
    low, high = float(interval.low), float(interval.high)
    return Interval(
        low - slack * abs(low) if math.isfinite(low) else low,
        high + slack * abs(high) if math.isfinite(high) else high,
    )


def as_double(type: Type, interval: Interval) -> Interval:
    """Return a range as DOUBLEs, widened if DuckDB rounds numbers of many digits twice."""
    scale = decimal_size(type)[1] if type.kind is Kind.DECIMAL else 0
    size = max(abs(interval.low), abs(interval.high)) * 10.0**scale
    if type.kind is Kind.FLOAT or (size < 2.0**53 and scale <= 22):
        return Interval(float(interval.low), float(interval.high))
    return outward(interval, 1e-15)


def in_decimals(operation: Callable[[Any, Any], Any]) -> Callable[[Number, Number], Number]:
    """Return the operation on exact decimals, for ends within the range of DECIMAL."""

    def exact(left: Number, right: Number) -> Number:
        if math.isinf(left) or math.isinf(right):
            return float(operation(float(left), float(right)))
        with localcontext() as context:
            context.prec = 200
            return float(operation(Decimal(repr(left)), Decimal(repr(right))))

    return exact


def hull(type: Type, domains: Iterable[Domain]) -> Domain:
    """Return the union of lists of values, or the hull of ranges."""
    parts = tuple(domains)
    if parts and all(isinstance(domain, Categories) for domain in parts):
        values = (value for domain in parts if isinstance(domain, Categories) for value in domain.values)
        return Categories(tuple(dict.fromkeys(values)))
    if type.kind is Kind.TEXT and all(isinstance(domain, Sized | Categories) for domain in parts):
        return Sized(max(_longest(domain) for domain in parts))
    if type.kind in (Kind.TEXT, Kind.BOOLEAN, Kind.UUID, Kind.TIME, Kind.NULL):
        return ANYTHING
    ranges = [known(Argument(Fact(type, domain))) for domain in parts]
    return spread_of(type, ranges)


def _longest(domain: Domain) -> int:
    """Return the most characters of texts with a list or a length."""
    if isinstance(domain, Sized):
        return domain.most
    assert isinstance(domain, Categories)
    return max((len(value) for value in domain.values if isinstance(value, str)), default=0)


def spread_of(type: Type, ranges: list[Interval]) -> Domain:
    if not ranges:
        return ANYTHING
    hull_interval = Interval(
        min(interval.low for interval in ranges), max(interval.high for interval in ranges)
    )
    return ANYTHING if hull_interval == EVERYWHERE else hull_interval

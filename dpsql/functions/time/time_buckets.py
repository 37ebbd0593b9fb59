"""Dates truncated to buckets of a constant width.

time_bucket(INTERVAL '2 weeks', seen)                       a DATE for a DATE, a TIMESTAMP for a TIMESTAMP
time_bucket(INTERVAL '1 month', seen, DATE '2020-01-15')    buckets begin at an origin
"""

from __future__ import annotations

import math

from dpsql.functions import Argument, ArgumentError, Arguments, Function, Groups
from dpsql.functions.core.ranges import DAY, within
from dpsql.functions.time.common import (
    as_timestamp,
    as_timestamp_fact,
    check_date,
    far_from_limits,
    guarded,
    in_microseconds,
)
from dpsql.functions.time.date_arithmetic import interval_parts
from dpsql.ir.column import DATE, TIMESTAMP, Fact, Interval, Kind, Type


def _width(argument: Argument) -> int:
    """Return the maximum width of a bucket in microseconds."""
    if argument.kind is not Kind.INTERVAL or argument.literal is None:
        raise ArgumentError("the width of a bucket must be a constant INTERVAL", "write INTERVAL '1' WEEK")
    months, days, micros = interval_parts(str(argument.literal.value))
    size = days * DAY + micros
    if months < 0 or size < 0 or not (months or size) or (months and (days or micros)):
        raise ArgumentError("a bucket width is months or a duration, not both", "write INTERVAL '3' MONTH")
    return months * 31 * DAY + size


def _kind(argument: Argument) -> Type:
    return DATE if argument.kind is Kind.DATE else TIMESTAMP


def _result(arguments: Arguments, type: Type | None) -> Fact:
    width, argument = _width(arguments[0]), arguments[1]
    check_date(argument, "time_bucket")
    for origin in arguments[2:]:
        if origin.literal is None or origin.literal.value is None or _kind(origin) != origin.type:
            raise ArgumentError("the origin of buckets must be a constant", "write DATE '2020-01-01'")
        if origin.type != _kind(argument):
            raise ArgumentError(
                "the origin of buckets must have the type of the date", "write CAST(... AS TIMESTAMP)"
            )
    fact = as_timestamp_fact(argument)
    interval, day = in_microseconds(Argument(fact)), DAY if argument.kind is Kind.DATE else 1
    low = interval.low if math.isinf(interval.low) else (int(interval.low) - width) // day - (day > 1)
    high = interval.high if math.isinf(interval.high) else int(interval.high) // day
    return within(_kind(argument), Interval(low, high), fact.nullable or not far_from_limits(Argument(fact)))


def _bucket(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    argument = arguments[1]
    text = as_timestamp(texts[1], argument)
    return guarded(text, argument, f"time_bucket({', '.join((texts[0], text, *texts[2:]))})")


def _origin(count: int) -> Groups:
    return ((1, 2),) if count == 3 else ()


FUNCTIONS = (Function("time_bucket", _result, _bucket, "time_bucket(INTERVAL '2' WEEK, d)", (2, 3), _origin),)

"""Helpers of the date functions: argument checks, and guards at the limits of DATE and TIMESTAMP.

guarded("d", d, "last_day(d)")    CASE WHEN d BETWEEN ... THEN last_day(d) END
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.conversion import converted, converted_fact
from dpsql.functions.core.ranges import DAY, known
from dpsql.functions.core.types import named
from dpsql.ir.column import TIMESTAMP, Fact, Interval, Kind, Number

BEYOND = 200_000 * 365
_DATES = "DATE '140000-01-01 (BC)' AND DATE '140000-01-01'"
_MOMENTS = "TIMESTAMP '140000-01-01 (BC) 00:00:00' AND TIMESTAMP '140000-01-01 00:00:00'"
"""What lies between two of these is less than 2^63 microseconds, which are 292,271 years."""

_INSIDE = 130_000 * 365  # days that are certain to be within these bounds
ZONE_HELP = "write x AT TIME ZONE 'UTC' (or another zone) first"


def check_date(argument: Argument, operation: str, *, times: bool = False) -> None:
    """Refuse an argument that is not a DATE or TIMESTAMP (or a TIME, if ``times``)."""
    if argument.kind in (Kind.DATE, Kind.TIMESTAMP) or (times and argument.kind is Kind.TIME):
        return
    if argument.kind is Kind.TIMESTAMPTZ:
        raise ArgumentError(f"{operation} of a TIMESTAMP WITH TIME ZONE depends on a time zone", ZONE_HELP)
    raise ArgumentError(
        f"{operation} takes a DATE or TIMESTAMP, not {named(argument.type)}",
        "write CAST(... AS DATE)" if argument.kind is Kind.TEXT else "name a DATE or TIMESTAMP column",
    )


def as_timestamp(text: str, argument: Argument) -> str:
    """Return SQL that casts TIMESTAMP_S, _MS and _NS to TIMESTAMP."""
    return converted(text, argument, TIMESTAMP) if argument.kind is Kind.TIMESTAMP else text


def as_timestamp_fact(argument: Argument) -> Fact:
    return converted_fact(argument, TIMESTAMP) if argument.kind is Kind.TIMESTAMP else argument.fact


def in_microseconds(argument: Argument) -> Interval:
    """Return the range of a DATE or TIMESTAMP in microseconds."""
    interval = known(argument)
    if argument.kind is Kind.DATE:
        return Interval(interval.low * DAY, interval.high * DAY)
    return interval


def day_of(end: Number) -> int:
    return int(end) // DAY


def far_from_limits(argument: Argument) -> bool:
    """Whether the range is far from the limits of DATE and TIMESTAMP, where arithmetic overflows."""
    interval = in_microseconds(argument)
    return max(-interval.low, interval.high) < _INSIDE * DAY


def guarded(text: str, argument: Argument, sql: str) -> str:
    """Return SQL that is NULL for dates near the limits of the type, where it would raise."""
    if far_from_limits(argument):
        return sql
    return f"(CASE WHEN {text} BETWEEN {_DATES if argument.kind is Kind.DATE else _MOMENTS} THEN {sql} END)"


def ends_of(interval: Interval) -> tuple[Number, Number]:
    return interval.low, interval.high

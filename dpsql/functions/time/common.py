"""What the functions of dates share: which arguments they take, and how they keep from the ends of time.

guarded("d", d, "last_day(d)")    CASE WHEN d BETWEEN ... THEN last_day(d) END
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.conversion import converted, converted_fact
from dpsql.functions.core.ranges import DAY, known
from dpsql.functions.core.types import named
from dpsql.ir.column import TIMESTAMP, Fact, Interval, Kind, Number

BEYOND = 200_000 * 365
_DATES = "DATE '199000-01-01 (BC)' AND DATE '199000-01-01'"
_MOMENTS = "TIMESTAMP '199000-01-01 (BC) 00:00:00' AND TIMESTAMP '199000-01-01 00:00:00'"
_INSIDE = 190_000 * 365  # days that surely lie between these
ZONE_HELP = "write x AT TIME ZONE 'UTC' (or another zone) first"


def dated(argument: Argument, what: str, *, times: bool = False) -> None:
    """The argument must be a DATE or a TIMESTAMP (or a TIME where that has the part)."""
    if argument.kind in (Kind.DATE, Kind.TIMESTAMP) or (times and argument.kind is Kind.TIME):
        return
    if argument.kind is Kind.TIMESTAMPTZ:
        raise ArgumentError(f"{what} of a TIMESTAMP WITH TIME ZONE depends on a time zone", ZONE_HELP)
    raise ArgumentError(
        f"{what} takes a DATE or TIMESTAMP, not {named(argument.type)}", "write CAST(... AS DATE)"
    )


def plain(text: str, argument: Argument) -> str:
    """TIMESTAMP_S, _MS and _NS as TIMESTAMP."""
    return converted(text, argument, TIMESTAMP) if argument.kind is Kind.TIMESTAMP else text


def plain_fact(argument: Argument) -> Fact:
    return converted_fact(argument, TIMESTAMP) if argument.kind is Kind.TIMESTAMP else argument.fact


def moments(argument: Argument) -> Interval:
    """A DATE's or TIMESTAMP's range in microseconds."""
    whole = known(argument)
    if argument.kind is Kind.DATE:
        return Interval(whole.low * DAY, whole.high * DAY)
    return whole


def day_of(end: Number) -> int:
    return int(end) // DAY


def near(argument: Argument) -> bool:
    """Whether the range keeps away from the ends of time, where arithmetic fails."""
    whole = moments(argument)
    return max(-whole.low, whole.high) < _INSIDE * DAY


def guarded(text: str, argument: Argument, sql: str) -> str:
    """SQL that is computed only for dates that are not far away."""
    if near(argument):
        return sql
    return f"(CASE WHEN {text} BETWEEN {_DATES if argument.kind is Kind.DATE else _MOMENTS} THEN {sql} END)"


def ends_of(interval: Interval) -> tuple[Number, Number]:
    return interval.low, interval.high

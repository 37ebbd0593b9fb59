"""Parts of dates and times: year, month, weekday, hour, epoch.

    year(born)             a range of years from a range of days
    EXTRACT(dow FROM d)    [0, 6]
    dayname(d)             the seven names

Results do not depend on the time zone of the session: a TIMESTAMP WITH TIME ZONE has no parts until
``AT TIME ZONE 'Europe/Berlin'`` is applied.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.functions import Argument, Arguments, Function
from dpsql.functions.core.ranges import DAY, known, within
from dpsql.functions.time.calendar import civil
from dpsql.functions.time.common import (
    as_timestamp,
    as_timestamp_fact,
    check_date,
    day_of,
    ends_of,
    far_from_limits,
    guarded,
    in_microseconds,
)
from dpsql.ir.column import BIGINT, DOUBLE, EVERYWHERE, VARCHAR, Categories, Fact, Interval, Kind, Type

Ends = Callable[[Interval], Interval]


def _fixed(low: int, high: int) -> Ends:
    return lambda interval: Interval(low, high)


def _by_year(of: Callable[[int], int], slack: int = 0) -> Ends:
    def ends(interval: Interval) -> Interval:
        if not interval.finite:
            return EVERYWHERE
        years = (civil(day_of(end))[0] for end in (interval.low, interval.high))
        low, high = (of(year) for year in years)
        return Interval(low - slack, high + slack)

    return ends


def _month_ends(interval: Interval) -> Interval:
    if interval.finite:
        low, high = civil(day_of(interval.low)), civil(day_of(interval.high))
        if low[0] == high[0]:
            return Interval(low[1], high[1])
    return Interval(1, 12)


def scaled(micros: int) -> Ends:
    def ends(interval: Interval) -> Interval:
        if not interval.finite:
            return EVERYWHERE
        return Interval(int(interval.low) // micros, -(-int(interval.high) // micros))

    return ends


def _yearweek(interval: Interval) -> Interval:
    years = _by_year(lambda year: year, 1)(interval)
    return EVERYWHERE if years.low < 1 else Interval(years.low * 100 + 1, years.high * 100 + 53)


def _seconds(interval: Interval) -> Interval:
    return Interval(interval.low / 1e6, interval.high / 1e6)


_MONTH = 28 * DAY
_INTERVAL_PARTS = {
    "year": 12 * _MONTH, "decade": 120 * _MONTH, "century": 1_200 * _MONTH, "millennium": 12_000 * _MONTH,
    "month": 11, "day": DAY, "hour": 3_600_000_000, "minute": 59, "second": 59, "millisecond": 59_999,
    "microsecond": 59_999_999,
}  # fmt: skip
"""Parts of an INTERVAL: microseconds per unit for years and more, days and hours; else the maximum."""


def _interval_part(name: str, interval: Interval) -> Interval:
    """Return the range of a part of an INTERVAL; parts are truncated towards zero and may be 0."""
    size = _INTERVAL_PARTS[name]
    if size < 10**9:
        return Interval(-size if interval.low < 0 else 0, size if interval.high > 0 else 0)
    low, high = (end if math.isinf(end) else int(end) // size for end in (interval.low, interval.high))
    return Interval(min(low, 0), max(high, 0))


def _part(
    name: str,
    ends: Ends,
    *,
    times: bool = False,
    guard: bool = False,
    target: Type = BIGINT,
    example: str | None = None,
    names: tuple[str, ...] | None = None,
) -> Function:
    """Return a date part; with ``guard``, DuckDB raises near the limits of the type."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        if argument.kind is Kind.INTERVAL and name in _INTERVAL_PARTS:
            return within(BIGINT, _interval_part(name, known(argument)), argument.fact.nullable)
        check_date(argument, name, times=times)
        fact = as_timestamp_fact(argument)
        interval = EVERYWHERE if argument.kind is Kind.TIME else in_microseconds(Argument(fact))
        may_be_infinite = not (
            far_from_limits(Argument(fact)) if guard else interval.finite
        )  # parts of infinity are NULL
        return within(
            target, ends(interval), fact.nullable or (may_be_infinite and argument.kind is not Kind.TIME)
        )

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        text = as_timestamp(texts[0], arguments[0])
        return guarded(text, arguments[0], f"{name}({text})") if guard else f"{name}({text})"

    return Function(name, result, render, example or f"{name}(d)", names=names or (name,))


PARTS = (
    _part("year", _by_year(lambda year: year)),
    _part("quarter", lambda interval: Interval(*((int(m) + 2) // 3 for m in ends_of(_month_ends(interval))))),
    _part("month", _month_ends),
    _part("week", _fixed(1, 53), guard=True),
    _part("day", _fixed(1, 31)),
    _part("dayofweek", _fixed(0, 6), names=("dayofweek", "weekday")),
    _part("isodow", _fixed(1, 7)),
    _part("dayofyear", _fixed(1, 366)),
    _part("isoyear", _by_year(lambda year: year, 1), guard=True),
    _part("yearweek", _yearweek, guard=True),
    _part("decade", _by_year(lambda year: year // 10, 1)),
    _part("century", _by_year(lambda year: year // 100, 1)),
    _part("millennium", _by_year(lambda year: year // 1000, 1)),
    _part("hour", _fixed(0, 24), times=True, example="hour(ts)"),
    _part("minute", _fixed(0, 59), times=True, example="minute(ts)"),
    _part("second", _fixed(0, 59), times=True, example="second(ts)"),
    _part("millisecond", _fixed(0, 59_999), times=True, example="millisecond(ts)"),
    _part("microsecond", _fixed(0, 59_999_999), times=True, example="microsecond(ts)"),
    _part("epoch_us", scaled(1), guard=True, example="epoch_us(ts)"),
    _part("era", _fixed(0, 1)),
    _part("days_in_month", _fixed(28, 31), guard=True),
    _part("julian", lambda w: Interval(w.low / DAY + 2_440_587, w.high / DAY + 2_440_589), target=DOUBLE),
)


_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


def _name_function(name: str, names: tuple[str, ...]) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        check_date(argument, name)
        fact = as_timestamp_fact(argument)
        return Fact(VARCHAR, Categories(names), fact.nullable or not known(Argument(fact)).finite)

    return Function(name, result, lambda t, a, _: f"{name}({as_timestamp(t[0], a[0])})", f"{name}(d)")


def _epoch_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    if argument.kind is Kind.INTERVAL:
        return within(DOUBLE, _seconds(known(argument)), argument.fact.nullable)
    check_date(argument, "epoch")
    fact = as_timestamp_fact(argument)
    interval = in_microseconds(Argument(fact))
    return within(DOUBLE, _seconds(interval), fact.nullable or not interval.finite)


def _nanoseconds(name: str, ends: Ends, example: str, guard: str = "") -> Function:
    """Return a function that is exact for TIMESTAMP_NS, which is not cast to TIMESTAMP."""

    def exact(argument: Argument) -> bool:
        return argument.type.sql == "TIMESTAMP_NS"

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        check_date(argument, name, times=not guard)
        interval = (
            EVERYWHERE
            if argument.kind is Kind.TIME
            else in_microseconds(Argument(as_timestamp_fact(argument)))
        )
        return within(BIGINT, ends(interval), nullable=True)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        text = texts[0] if exact(arguments[0]) else as_timestamp(texts[0], arguments[0])
        call = f"{name}({text})"
        # a date far away is no TIMESTAMP: it is compared with dates
        ends = guard.replace("TIMESTAMP", "DATE") if arguments[0].kind is Kind.DATE else guard
        return (
            f"(CASE WHEN {text} BETWEEN {ends} THEN {call} END)"
            if guard and not exact(arguments[0])
            else call
        )

    return Function(name, result, render, example, names=(name,))


_NANOS = "TIMESTAMP '1678-01-01' AND TIMESTAMP '2262-01-01'"


def _in_nanoseconds(interval: Interval) -> Interval:
    return Interval(interval.low * 1_000, (interval.high + 1) * 1_000)


FUNCTIONS = (
    *PARTS,
    _name_function("dayname", _WEEKDAYS),
    _name_function("monthname", _MONTHS),
    Function("epoch", _epoch_result, lambda t, a, _: f"epoch({as_timestamp(t[0], a[0])})", "epoch(ts)"),
    _nanoseconds("nanosecond", _fixed(0, 59_999_999_999), "nanosecond(ts)"),
    _nanoseconds("epoch_ns", _in_nanoseconds, "epoch_ns(ts)", _NANOS),
)

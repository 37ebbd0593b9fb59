"""Intervals from numbers of days, months, seconds and other units.

    seen + to_days(wait)           INTERVAL (wait) DAY is the same
    to_months(i) for i in [1, 3]   between 28 and 93 days

The result is NULL beyond 20,000 years, so that adding it to a guarded date cannot overflow. The range of
an INTERVAL is the range of its length in microseconds; a month has 28 to 31 days.
"""

from __future__ import annotations

import math

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import DAY, known, spread
from dpsql.functions.core.types import named
from dpsql.functions.time.date_arithmetic import LIMITS, UNITS
from dpsql.ir.column import BIGINT, DOUBLE, INTERVAL, Fact, Interval, Kind, Type


def _most(unit: str) -> int:
    """Return the number of units in 20,000 years."""
    return min(limit // part for part, limit in zip(UNITS[unit], LIMITS, strict=True) if part)


def _length(unit: str, count: Interval) -> Interval:
    """Return the range in microseconds of a number of units."""
    months, days, micros = UNITS[unit]
    if months:
        return spread(
            end * months * days_in_month * DAY
            for end in (count.low, count.high)
            for days_in_month in (28, 31)
        )
    low, high = (end * (days * DAY + micros) for end in (count.low, count.high))
    if isinstance(low, int) and isinstance(high, int):
        return Interval(low, high)
    return Interval(math.floor(low) - 1, math.ceil(high) + 1)


def _interval_function(name: str, unit: str) -> Function:
    parts = unit in ("SECOND", "MILLISECOND")  # DuckDB takes a DOUBLE for these
    target = DOUBLE if parts else BIGINT

    def reach(argument: Argument) -> Interval:
        interval, most = known(argument), _most(unit)
        low, high = max(interval.low, -most), min(interval.high, most)
        return Interval(low, high) if low <= high else Interval(0, 0)

    def sure(argument: Argument) -> bool:
        interval, most = known(argument), _most(unit)
        return argument.kind is Kind.INTEGER and -most <= interval.low and interval.high <= most

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (argument,) = arguments
        if argument.kind is not Kind.INTEGER and not (parts and argument.type.numeric):
            wanted = "a number" if parts else "a whole number"
            raise ArgumentError(
                f"{name} takes {wanted}, not {named(argument.type)}", "write CAST(... AS INTEGER)"
            )
        return Fact(INTERVAL, _length(unit, reach(argument)), argument.fact.nullable or not sure(argument))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,), most = arguments, _most(unit)
        number = converted(texts[0], argument, target)
        if sure(argument):
            return f"{name}({number})"
        return f"(CASE WHEN {number} BETWEEN -{most} AND {most} THEN {name}({number}) END)"

    return Function(name, result, render, f"{name}(i)", names=(name,))


FUNCTIONS = tuple(
    _interval_function(f"to_{plural.lower()}", unit)
    for unit, plural in (
        ("YEAR", "YEARS"), ("MONTH", "MONTHS"), ("DAY", "DAYS"), ("HOUR", "HOURS"), ("MINUTE", "MINUTES"),
        ("SECOND", "SECONDS"), ("WEEK", "WEEKS"), ("QUARTER", "QUARTERS"), ("DECADE", "DECADES"),
        ("CENTURY", "CENTURIES"), ("MILLENNIUM", "MILLENNIA"), ("MILLISECOND", "MILLISECONDS"),
        ("MICROSECOND", "MICROSECONDS"),
    )
)  # fmt: skip

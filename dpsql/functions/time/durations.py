"""Spans of time counted out: an INTERVAL of so many days, months, seconds.

    seen + to_days(wait)           INTERVAL (wait) DAY is the same
    to_months(i) for i in [1, 3]   between 28 and 93 days

NULL beyond 20,000 years, so that a date that is not far away can always be moved. The range of an
INTERVAL is that of its length in microseconds, a month being 28 to 31 days.
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
    """How many of a unit there are in 20,000 years."""
    return min(limit // part for part, limit in zip(UNITS[unit], LIMITS, strict=True) if part)


def _length(unit: str, count: Interval) -> Interval:
    """The microseconds of so many of a unit."""
    months, days, micros = UNITS[unit]
    if months:
        return spread(end * months * each * DAY for end in (count.low, count.high) for each in (28, 31))
    low, high = (end * (days * DAY + micros) for end in (count.low, count.high))
    if isinstance(low, int) and isinstance(high, int):
        return Interval(low, high)
    return Interval(math.floor(low) - 1, math.ceil(high) + 1)


def _counted(name: str, unit: str) -> Function:
    parts = unit in ("SECOND", "MILLISECOND")  # DuckDB counts these in a DOUBLE
    target = DOUBLE if parts else BIGINT

    def reach(argument: Argument) -> Interval:
        whole, most = known(argument), _most(unit)
        low, high = max(whole.low, -most), min(whole.high, most)
        return Interval(low, high) if low <= high else Interval(0, 0)

    def sure(argument: Argument) -> bool:
        whole, most = known(argument), _most(unit)
        return argument.kind is Kind.INTEGER and -most <= whole.low and whole.high <= most

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        if one.kind is not Kind.INTEGER and not (parts and one.type.numeric):
            wanted = "a number" if parts else "a whole number"
            raise ArgumentError(f"{name} takes {wanted}, not {named(one.type)}", "write CAST(... AS INTEGER)")
        return Fact(INTERVAL, _length(unit, reach(one)), one.fact.nullable or not sure(one))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (one,), most = arguments, _most(unit)
        number = converted(texts[0], one, target)
        if sure(one):
            return f"{name}({number})"
        return f"(CASE WHEN {number} BETWEEN -{most} AND {most} THEN {name}({number}) END)"

    return Function(name, result, render, f"{name}(i)", names=(name,))


FUNCTIONS = tuple(
    _counted(f"to_{plural.lower()}", unit)
    for unit, plural in (
        ("YEAR", "YEARS"), ("MONTH", "MONTHS"), ("DAY", "DAYS"), ("HOUR", "HOURS"), ("MINUTE", "MINUTES"),
        ("SECOND", "SECONDS"), ("WEEK", "WEEKS"), ("QUARTER", "QUARTERS"), ("DECADE", "DECADES"),
        ("CENTURY", "CENTURIES"), ("MILLENNIUM", "MILLENNIA"), ("MILLISECOND", "MILLISECONDS"),
        ("MICROSECOND", "MICROSECONDS"),
    )
)  # fmt: skip

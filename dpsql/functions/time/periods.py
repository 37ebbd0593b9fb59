"""Dates truncated to a period, and the number of periods between two dates.

date_trunc('month', born)      a TIMESTAMP
date_diff('day', born, seen)   the number of midnights between them
date_sub('day', born, seen)    the number of whole days
"""

from __future__ import annotations

import math

from dpsql.functions import Argument, ArgumentError, Arguments, Function, Groups
from dpsql.functions.core.order import of_difference
from dpsql.functions.core.ranges import DAY, corners, within
from dpsql.functions.time.calendar import civil, days
from dpsql.functions.time.common import (
    as_timestamp,
    as_timestamp_fact,
    check_date,
    day_of,
    far_from_limits,
    guarded,
    in_microseconds,
)
from dpsql.ir.column import BIGINT, EVERYWHERE, TIMESTAMP, Fact, Interval, Number, Type

_TRUNC_DAYS = {"week": 7, "month": 31, "quarter": 92, "year": 366, "decade": 3_653, "century": 36_525,
               "millennium": 365_250, "isoyear": 371}  # fmt: skip
_TRUNC_MICROS = {"day": DAY, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000,
                 "millisecond": 1_000, "microsecond": 1}  # fmt: skip
_PART_NAMES = {
    "years": "year", "months": "month", "days": "day", "hours": "hour", "minutes": "minute",
    "seconds": "second", "weeks": "week", "quarters": "quarter", "decades": "decade",
    "centuries": "century", "milliseconds": "millisecond", "microseconds": "microsecond",
    "millennia": "millennium",
}  # fmt: skip
_DIFFERENCES = {"year", "month", "day", "decade", "century", "millennium", "quarter", "week", "hour",
                "minute", "second", "millisecond", "microsecond"}  # fmt: skip


def part_name(text: str) -> str:
    """Return the canonical name of a date part."""
    text = text.lower()
    return _PART_NAMES.get(text, text)


def _unit(argument: Argument, units: set[str]) -> str:
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str):
        raise ArgumentError("the date part must be a constant", "write 'month', 'day', ...")
    unit = part_name(literal.value)
    if unit not in units:
        raise ArgumentError(
            f"{literal.value[:20]!r} is not a supported date part", f"choose from {', '.join(sorted(units))}"
        )
    return unit


def truncated(end: Number, unit: str) -> Number:
    """Truncate a moment to a unit; for rare units, return a lower bound of that."""
    if math.isinf(end):
        return end
    if unit in _TRUNC_MICROS:
        return int(end) // _TRUNC_MICROS[unit] * _TRUNC_MICROS[unit]
    day = day_of(end)
    year, month, _ = civil(day)
    match unit:
        case "week":
            return (day - (day + 3) % 7) * DAY
        case "month":
            return days(year, month, 1) * DAY
        case "quarter":
            return days(year, (month - 1) // 3 * 3 + 1, 1) * DAY
        case "year":
            return days(year, 1, 1) * DAY
        case _:
            return (day - _TRUNC_DAYS[unit]) * DAY


def _trunc_result(arguments: Arguments, type: Type | None) -> Fact:
    unit = _unit(arguments[0], {*_TRUNC_DAYS, *_TRUNC_MICROS})
    argument = arguments[1]
    check_date(argument, "date_trunc")
    fact = as_timestamp_fact(argument)
    interval = in_microseconds(Argument(fact))
    high = truncated(interval.high, unit) if unit in ("week", "month", "quarter", "year") else interval.high
    ends = Interval(truncated(interval.low, unit), high)
    return within(TIMESTAMP, ends, fact.nullable or not far_from_limits(Argument(fact)))


def _trunc(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    unit = _unit(arguments[0], {*_TRUNC_DAYS, *_TRUNC_MICROS})
    text = as_timestamp(texts[1], arguments[1])
    return guarded(text, arguments[1], f"date_trunc('{unit}', {text})")


def _difference(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        unit = _unit(arguments[0], _DIFFERENCES)
        for argument in arguments[1:]:
            check_date(argument, name)
        facts = [as_timestamp_fact(argument) for argument in arguments[1:]]
        start, end = (in_microseconds(Argument(fact)) for fact in facts)
        least, most = _lengths(unit)
        difference = corners(lambda a, b: b - a, start, end)
        ends = EVERYWHERE
        if difference.finite:
            low, high = (
                int(difference.low),
                int(difference.high),
            )  # divide by the shortest or longest length, whichever widens the range
            ends = Interval(
                low // (least if low < 0 else most) - 1, -(-high // (most if high < 0 else least)) + 1
            )
        ends = of_difference(ends, arguments[2].fact, arguments[1].fact)
        near_limits = not all(far_from_limits(Argument(fact)) for fact in facts)
        return within(BIGINT, ends, any(fact.nullable for fact in facts) or near_limits)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        unit = _unit(arguments[0], _DIFFERENCES)
        left, right = (as_timestamp(t, a) for t, a in zip(texts[1:], arguments[1:], strict=True))
        sql = f"{name}('{unit}', {left}, {right})"
        return guarded(left, arguments[1], guarded(right, arguments[2], sql))

    return Function(name, result, render, f"{name}('day', d, DATE '2020-06-01')", (3, 3), _last_two)


_DAYS = {"week": (7, 7), "month": (28, 31), "quarter": (90, 92), "year": (365, 366), "decade": (3_652, 3_653),
         "century": (36_524, 36_525), "millennium": (365_242, 365_243)}  # fmt: skip


def _lengths(unit: str) -> tuple[int, int]:
    """Return the minimum and maximum length of a unit in microseconds."""
    if unit in _TRUNC_MICROS:
        return _TRUNC_MICROS[unit], _TRUNC_MICROS[unit]
    shortest, longest = _DAYS[unit]
    return shortest * DAY, longest * DAY


def _last_two(count: int) -> Groups:
    return ((1, 2),)


FUNCTIONS = (
    Function("date_trunc", _trunc_result, _trunc, "date_trunc('month', d)", (2, 2)),
    _difference("date_diff"),
    _difference("date_sub"),
)

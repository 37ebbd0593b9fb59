"""Date arithmetic: adding intervals and days, and differences of dates.

born + INTERVAL '3 MONTH'    a TIMESTAMP; NULL for infinity and for dates beyond about 200,000 years
born + 3                     a DATE
seen - born                  days for two DATEs, an INTERVAL for TIMESTAMPs
"""

from __future__ import annotations

import math
import re

from dpsql.functions import Argument, ArgumentError, Arguments
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.order import of_difference
from dpsql.functions.core.ranges import DAY, any_null, corners, known, within
from dpsql.functions.core.types import adapts, holds, named
from dpsql.functions.time.calendar import months_later
from dpsql.functions.time.common import (
    BEYOND,
    ZONE_HELP,
    as_timestamp,
    as_timestamp_fact,
    check_date,
    far_from_limits,
    guarded,
    in_microseconds,
)
from dpsql.ir.column import (
    ANYTHING,
    BIGINT,
    DATE,
    EVERYWHERE,
    INTEGER,
    INTERVAL,
    TIMESTAMP,
    Fact,
    Interval,
    Kind,
    Number,
    type_range,
)

UNITS = {
    "YEAR": (12, 0, 0), "MONTH": (1, 0, 0), "QUARTER": (3, 0, 0), "DECADE": (120, 0, 0),
    "CENTURY": (1200, 0, 0), "MILLENNIUM": (12_000, 0, 0), "WEEK": (0, 7, 0), "DAY": (0, 1, 0),
    "HOUR": (0, 0, 3_600_000_000), "MINUTE": (0, 0, 60_000_000), "SECOND": (0, 0, 1_000_000),
    "MILLISECOND": (0, 0, 1_000), "MICROSECOND": (0, 0, 1),
}  # fmt: skip
"""Months, days and microseconds of each unit of time."""
_OTHER_NAMES = {
    "MON": "MONTH", "CENTURIE": "CENTURY", "MILLENNIA": "MILLENNIUM", "MIN": "MINUTE", "SEC": "SECOND",
    "M": "MINUTE", "H": "HOUR", "D": "DAY", "Y": "YEAR", "W": "WEEK", "S": "SECOND",
}  # fmt: skip
_TERM = re.compile(r"\s*([+-]?[0-9]{1,9})\s*([A-Za-z]+)\s*")


def interval_text(text: str, negative: bool = False) -> str | None:
    """Return ``'1 year 2 days'`` as ``1 YEAR 2 DAY``; None for unsupported texts."""
    terms, rest = [], text.strip()
    while rest:
        term = _TERM.match(rest)
        if term is None:
            return None
        unit = term[2].upper()
        singular = unit.removesuffix("S") if len(unit) > 1 else unit
        unit = next((u for u in (unit, singular, _OTHER_NAMES.get(singular, "")) if u in UNITS), "")
        if not unit:
            return None
        terms.append(f"{-int(term[1]) if negative else int(term[1])} {unit}")
        rest = rest[term.end() :]
    canonical = " ".join(terms)
    return canonical if terms and all(abs(part) < limit for part, limit in _limits(canonical)) else None


LIMITS = (12 * 20_000, 365 * 20_000, 20_000 * 365 * DAY)
"""Maximum months, days and microseconds of an INTERVAL."""


def _limits(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(zip(interval_parts(text), LIMITS, strict=True))


def interval_parts(text: str) -> tuple[int, int, int]:
    """Return months, days and microseconds of a canonical INTERVAL text."""
    words = text.split()
    scaled = [
        [int(number) * part for part in UNITS[unit]]
        for number, unit in zip(words[::2], words[1::2], strict=True)
    ]
    months, day_count, micros = (sum(column) for column in zip(*scaled, strict=True))
    return months, day_count, micros


def shifted(end: Number, parts: tuple[int, int, int], sign: int) -> Number:
    """Add an INTERVAL to a moment: months first, then days, then microseconds. Each step is monotone."""
    if math.isinf(end):
        return end
    months, day_count, micros = (sign * part for part in parts)
    day, clock = divmod(int(end), DAY)
    return (months_later(day, months) + day_count) * DAY + clock + micros


def _interval_added(moment: Argument, step: Argument, sign: int) -> Fact:
    check_date(moment, "adding an INTERVAL")
    fact = as_timestamp_fact(moment)
    moment_range = in_microseconds(Argument(fact))
    nullable = (
        any_null((moment, step))
        or fact.nullable
        or not far_from_limits(Argument(fact))
        or not _is_short(step)
    )
    if step.literal is not None and isinstance(step.literal.value, str):
        parts = interval_parts(step.literal.value)
        ends = Interval(*(shifted(end, parts, sign) for end in (moment_range.low, moment_range.high)))
    else:
        ends = corners(lambda a, b: a + sign * b, moment_range, known(step))
    return within(TIMESTAMP, ends, nullable)


def _is_short(interval: Argument) -> bool:
    """Whether an INTERVAL is within its guard for certain."""
    length = known(interval)
    return interval.literal is not None or max(-length.low, length.high) < 25_000 * 365 * DAY


_SHORT = "INTERVAL '-20000 YEAR' AND INTERVAL '20000 YEAR'"


def _interval_added_sql(texts: tuple[str, str], moment: Argument, step: Argument, sign: str) -> str:
    text, step_sql = as_timestamp(texts[0], moment), texts[1]
    sql = guarded(text, moment, f"({text} {sign} {step_sql})")
    return sql if _is_short(step) else f"(CASE WHEN {step_sql} BETWEEN {_SHORT} THEN {sql} END)"


def _date_plus_time(date: Argument, time: Argument) -> Fact:
    """Return the fact of DATE + TIME; a TIME may be 24:00."""
    interval = in_microseconds(date)
    return within(
        TIMESTAMP,
        Interval(interval.low, interval.high + DAY),
        any_null((date, time)) or not far_from_limits(date),
    )


def plus_result(arguments: Arguments) -> Fact:
    """Return a DATE for DATE + days; a TIMESTAMP for DATE or TIMESTAMP + INTERVAL, and for DATE + TIME."""
    moment, step = arguments
    if moment.kind in (Kind.INTERVAL, Kind.INTEGER, Kind.TIME):
        moment, step = step, moment
    if moment.kind is Kind.DATE and step.kind is Kind.INTEGER:
        return _days_added(moment, step, 1)
    if moment.kind is Kind.DATE and step.kind is Kind.TIME:
        return _date_plus_time(moment, step)
    if step.kind is Kind.INTERVAL:
        return _interval_added(moment, step, 1)
    raise ArgumentError(*_unsupported("+", arguments))


def minus_result(arguments: Arguments) -> Fact:
    """Return a number of days for DATE - DATE, an INTERVAL for TIMESTAMP - TIMESTAMP."""
    left, right = arguments
    if left.kind is Kind.DATE and right.kind is Kind.DATE:
        difference = corners(lambda a, b: a - b, known(left), known(right))
        return within(BIGINT, of_difference(difference, left.fact, right.fact), any_null(arguments))
    if left.kind is Kind.DATE and right.kind is Kind.INTEGER:
        return _days_added(left, right, -1)
    if right.kind is Kind.INTERVAL:
        return _interval_added(left, right, -1)
    if {left.kind, right.kind} <= {Kind.DATE, Kind.TIMESTAMP}:
        facts = [as_timestamp_fact(argument) for argument in arguments]
        left_range, right_range = (in_microseconds(Argument(fact)) for fact in facts)
        difference = corners(lambda a, b: a - b, left_range, right_range)
        difference = of_difference(difference, left.fact, right.fact)
        near_limits = not all(far_from_limits(Argument(fact)) for fact in facts)
        return Fact(
            INTERVAL,
            ANYTHING if difference == EVERYWHERE else difference,
            near_limits or any(f.nullable for f in facts),
        )
    raise ArgumentError(*_unsupported("-", arguments))


def _unsupported(sign: str, arguments: Arguments) -> tuple[str, str]:
    left, right = (named(argument.type) for argument in arguments)
    if Kind.TIMESTAMPTZ in (argument.kind for argument in arguments):
        return f"{left} {sign} {right} depends on a time zone", ZONE_HELP
    return f"{left} {sign} {right} is not defined", "write CAST(... AS ...) around one of them"


def _days_added(date: Argument, day_count: Argument, sign: int) -> Fact:
    if not (adapts(day_count.literal) or holds(INTEGER, type_range(day_count.type))):
        raise ArgumentError(
            f"the number of days added to a DATE must be an INTEGER, not {named(day_count.type)}",
            "write CAST(... AS INTEGER)",
        )
    day_range = known(day_count)
    ends = corners(lambda a, b: a + sign * b, known(date), day_range)
    fails = not far_from_limits(date) or max(-day_range.low, day_range.high) > BEYOND
    return within(DATE, ends, any_null((date, day_count)) or fails)


def plus_sql(texts: tuple[str, ...], arguments: Arguments) -> str:
    moment, step = arguments
    moment_sql, step_sql = texts
    if moment.kind in (Kind.INTERVAL, Kind.INTEGER, Kind.TIME):
        moment, step, moment_sql, step_sql = step, moment, step_sql, moment_sql
    if step.kind is Kind.INTERVAL:
        return _interval_added_sql((moment_sql, step_sql), moment, step, "+")
    if step.kind is Kind.TIME:
        return guarded(moment_sql, moment, f"({moment_sql} + {step_sql})")
    return _days_added_sql(moment_sql, step_sql, moment, step, "+")


def minus_sql(texts: tuple[str, ...], arguments: Arguments) -> str:
    left, right = arguments
    left_sql, right_sql = texts
    if left.kind is Kind.DATE and right.kind is Kind.DATE:
        return f"({left_sql} - {right_sql})"
    if right.kind is Kind.INTERVAL:
        return _interval_added_sql((left_sql, right_sql), left, right, "-")
    if right.kind is Kind.INTEGER:
        return _days_added_sql(left_sql, right_sql, left, right, "-")
    left_sql, right_sql = as_timestamp(left_sql, left), as_timestamp(right_sql, right)
    return guarded(left_sql, left, guarded(right_sql, right, f"({left_sql} - {right_sql})"))


def _days_added_sql(date_sql: str, count_sql: str, date: Argument, day_count: Argument, sign: str) -> str:
    day_range = known(day_count)
    count_sql = converted(count_sql, day_count, INTEGER)
    sql = guarded(date_sql, date, f"({date_sql} {sign} {count_sql})")
    if max(-day_range.low, day_range.high) <= BEYOND:
        return sql
    return f"(CASE WHEN {count_sql} BETWEEN -{BEYOND} AND {BEYOND} THEN {sql} END)"

"""Dates that move: by an INTERVAL, by days, and how far apart two are.

born + INTERVAL '3 MONTH'    a TIMESTAMP, NULL for dates some 200,000 years away and for infinity
born + 3                     a DATE
seen - born                  days for two DATEs, an INTERVAL for TIMESTAMPs
"""

from __future__ import annotations

import math
import re

from dpsql.functions import Argument, ArgumentError, Arguments
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import DAY, any_null, corners, known, within
from dpsql.functions.core.types import adapts, holds, named
from dpsql.functions.time.calendar import months_later
from dpsql.functions.time.common import BEYOND, ZONE_HELP, dated, guarded, moments, near, plain, plain_fact
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
"""Months, days and microseconds of each unit."""
_OTHER_NAMES = {
    "MON": "MONTH", "CENTURIE": "CENTURY", "MILLENNIA": "MILLENNIUM", "MIN": "MINUTE", "SEC": "SECOND",
    "M": "MINUTE", "H": "HOUR", "D": "DAY", "Y": "YEAR", "W": "WEEK", "S": "SECOND",
}  # fmt: skip
_TERM = re.compile(r"\s*([+-]?[0-9]{1,9})\s*([A-Za-z]+)\s*")


def interval_text(text: str, negative: bool = False) -> str | None:
    """``'1 year 2 days'`` as ``1 YEAR 2 DAY``; None for what we do not read."""
    terms, rest = [], text.strip()
    while rest:
        found = _TERM.match(rest)
        if found is None:
            return None
        unit = found[2].upper()
        singular = unit.removesuffix("S") if len(unit) > 1 else unit
        unit = next((u for u in (unit, singular, _OTHER_NAMES.get(singular, "")) if u in UNITS), "")
        if not unit:
            return None
        terms.append(f"{-int(found[1]) if negative else int(found[1])} {unit}")
        rest = rest[found.end() :]
    whole = " ".join(terms)
    return whole if terms and all(abs(part) < limit for part, limit in _limits(whole)) else None


LIMITS = (12 * 20_000, 365 * 20_000, 20_000 * 365 * DAY)
"""The most months, days and microseconds of an INTERVAL that dates are moved by."""


def _limits(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(zip(interval_parts(text), LIMITS, strict=True))


def interval_parts(text: str) -> tuple[int, int, int]:
    """Months, days and microseconds of a canonical INTERVAL text."""
    words = text.split()
    scaled = [
        [int(number) * part for part in UNITS[unit]]
        for number, unit in zip(words[::2], words[1::2], strict=True)
    ]
    months, day_count, micros = (sum(column) for column in zip(*scaled, strict=True))
    return months, day_count, micros


def shifted(end: Number, parts: tuple[int, int, int], sign: int) -> Number:
    """A moment plus an INTERVAL: months first, then days, then the rest, each of which keeps order."""
    if math.isinf(end):
        return end
    months, day_count, micros = (sign * part for part in parts)
    day, clock = divmod(int(end), DAY)
    return (months_later(day, months) + day_count) * DAY + clock + micros


def _moved(one: Argument, other: Argument, sign: int) -> Fact:
    dated(one, "adding an INTERVAL")
    fact = plain_fact(one)
    whole = moments(Argument(fact))
    nullable = any_null((one, other)) or fact.nullable or not near(Argument(fact)) or not _short(other)
    if other.literal is not None and isinstance(other.literal.value, str):
        parts = interval_parts(other.literal.value)
        ends = Interval(*(shifted(end, parts, sign) for end in (whole.low, whole.high)))
    else:
        ends = corners(lambda a, b: a + sign * b, whole, known(other))
    return within(TIMESTAMP, ends, nullable)


def _short(interval: Argument) -> bool:
    """Whether an INTERVAL surely spans no more than its guard allows."""
    whole = known(interval)
    return interval.literal is not None or max(-whole.low, whole.high) < 25_000 * 365 * DAY


_SHORT = "INTERVAL '-20000 YEAR' AND INTERVAL '20000 YEAR'"


def _moved_sql(texts: tuple[str, str], one: Argument, other: Argument, sign: str) -> str:
    text, interval = plain(texts[0], one), texts[1]
    sql = guarded(text, one, f"({text} {sign} {interval})")
    return sql if _short(other) else f"(CASE WHEN {interval} BETWEEN {_SHORT} THEN {sql} END)"


def _clocked(one: Argument, other: Argument) -> Fact:
    """DATE + TIME: midnight may be the 24th hour."""
    whole = moments(one)
    return within(TIMESTAMP, Interval(whole.low, whole.high + DAY), any_null((one, other)) or not near(one))


def plus_result(arguments: Arguments) -> Fact:
    """DATE + days is a DATE; DATE or TIMESTAMP + INTERVAL, and DATE + TIME, is a TIMESTAMP."""
    one, other = arguments
    if one.kind in (Kind.INTERVAL, Kind.INTEGER, Kind.TIME):
        one, other = other, one
    if one.kind is Kind.DATE and other.kind is Kind.INTEGER:
        return _days_moved(one, other, 1)
    if one.kind is Kind.DATE and other.kind is Kind.TIME:
        return _clocked(one, other)
    if other.kind is Kind.INTERVAL:
        return _moved(one, other, 1)
    raise ArgumentError(*_no_sum("+", arguments))


def minus_result(arguments: Arguments) -> Fact:
    """DATE - DATE is a number of days, TIMESTAMP - TIMESTAMP an INTERVAL."""
    one, other = arguments
    if one.kind is Kind.DATE and other.kind is Kind.DATE:
        left, right = known(one), known(other)
        return within(BIGINT, corners(lambda a, b: a - b, left, right), any_null(arguments))
    if one.kind is Kind.DATE and other.kind is Kind.INTEGER:
        return _days_moved(one, other, -1)
    if other.kind is Kind.INTERVAL:
        return _moved(one, other, -1)
    if {one.kind, other.kind} <= {Kind.DATE, Kind.TIMESTAMP}:
        facts = [plain_fact(each) for each in arguments]
        left, right = (moments(Argument(fact)) for fact in facts)
        whole = corners(lambda a, b: a - b, left, right)
        far = not all(near(Argument(fact)) for fact in facts)
        return Fact(
            INTERVAL, ANYTHING if whole == EVERYWHERE else whole, far or any(f.nullable for f in facts)
        )
    raise ArgumentError(*_no_sum("-", arguments))


def _no_sum(sign: str, arguments: Arguments) -> tuple[str, str]:
    left, right = (named(each.type) for each in arguments)
    if Kind.TIMESTAMPTZ in (each.kind for each in arguments):
        return f"{left} {sign} {right} depends on a time zone", ZONE_HELP
    return f"there is no {left} {sign} {right}", "write CAST(... AS ...) around one of them"


def _days_moved(one: Argument, other: Argument, sign: int) -> Fact:
    if not (adapts(other.literal) or holds(INTEGER, type_range(other.type))):
        raise ArgumentError(
            f"a DATE moves by an INTEGER of days, not {named(other.type)}", "write CAST(... AS INTEGER)"
        )
    step = known(other)
    ends = corners(lambda a, b: a + sign * b, known(one), step)
    fails = not near(one) or max(-step.low, step.high) > BEYOND
    return within(DATE, ends, any_null((one, other)) or fails)


def plus_sql(texts: tuple[str, ...], arguments: Arguments) -> str:
    one, other = arguments
    left, right = texts
    if one.kind in (Kind.INTERVAL, Kind.INTEGER, Kind.TIME):
        one, other, left, right = other, one, right, left
    if other.kind is Kind.INTERVAL:
        return _moved_sql((left, right), one, other, "+")
    if other.kind is Kind.TIME:
        return guarded(left, one, f"({left} + {right})")
    return _days_moved_sql(left, right, one, other, "+")


def minus_sql(texts: tuple[str, ...], arguments: Arguments) -> str:
    one, other = arguments
    left, right = texts
    if one.kind is Kind.DATE and other.kind is Kind.DATE:
        return f"({left} - {right})"
    if other.kind is Kind.INTERVAL:
        return _moved_sql((left, right), one, other, "-")
    if other.kind is Kind.INTEGER:
        return _days_moved_sql(left, right, one, other, "-")
    left, right = plain(left, one), plain(right, other)
    return guarded(left, one, guarded(right, other, f"({left} - {right})"))


def _days_moved_sql(left: str, right: str, one: Argument, other: Argument, sign: str) -> str:
    step = known(other)
    right = converted(right, other, INTEGER)
    sql = guarded(left, one, f"({left} {sign} {right})")
    if max(-step.low, step.high) <= BEYOND:
        return sql
    return f"(CASE WHEN {right} BETWEEN -{BEYOND} AND {BEYOND} THEN {sql} END)"

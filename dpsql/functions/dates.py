"""Dates and times: their parts, their differences, and arithmetic with constant INTERVALs.

    year(born)                     a range of years from a range of days
    born + INTERVAL '3 MONTH'      a TIMESTAMP, NULL for dates some 200,000 years away and for infinity
    date_diff('day', born, seen)   BIGINT

The time zone of the session has no say: a TIMESTAMP WITH TIME ZONE is compared, and taken apart only
after ``AT TIME ZONE 'Europe/Berlin'``.
"""

from __future__ import annotations

import math
import re
import zoneinfo
from collections.abc import Callable

from dpsql.functions import Argument, Arguments, Function, Groups, Unfit
from dpsql.functions.calendar import civil, days, months_later
from dpsql.functions.conversion import FAR, converted, converted_fact
from dpsql.functions.literals import quoted
from dpsql.functions.ranges import DAY, any_null, corners, known, truth, within
from dpsql.functions.types import adapts, holds, named
from dpsql.ir.column import (
    ANYTHING,
    BIGINT,
    DATE,
    DOUBLE,
    EVERYWHERE,
    INTEGER,
    INTERVAL,
    TIMESTAMP,
    VARCHAR,
    Categories,
    Fact,
    Interval,
    Kind,
    Number,
    Type,
    type_range,
)

_BEYOND = 200_000 * 365
_DATES = "DATE '199000-01-01 (BC)' AND DATE '199000-01-01'"
_MOMENTS = "TIMESTAMP '199000-01-01 (BC) 00:00:00' AND TIMESTAMP '199000-01-01 00:00:00'"
_INSIDE = 199_000 * 365  # days that surely lie between these
_ZONE_HELP = "write x AT TIME ZONE 'UTC' (or another zone) first"


def dated(argument: Argument, what: str, *, times: bool = False) -> None:
    """The argument must be a DATE or a TIMESTAMP (or a TIME where that has the part)."""
    if argument.kind in (Kind.DATE, Kind.TIMESTAMP) or (times and argument.kind is Kind.TIME):
        return
    if argument.kind is Kind.TIMESTAMPTZ:
        raise Unfit(f"{what} of a TIMESTAMP WITH TIME ZONE depends on a time zone", _ZONE_HELP)
    raise Unfit(f"{what} takes a DATE or TIMESTAMP, not {named(argument.type)}", "write CAST(... AS DATE)")


def plain(text: str, argument: Argument) -> str:
    """TIMESTAMP_S, _MS and _NS as TIMESTAMP."""
    return converted(text, argument, TIMESTAMP) if argument.kind is Kind.TIMESTAMP else text


def _plain_fact(argument: Argument) -> Fact:
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


# ---- parts -----------------------------------------------------------------------------------------

Ends = Callable[[Interval], Interval]


def _fixed(low: int, high: int) -> Ends:
    return lambda whole: Interval(low, high)


def _by_year(of: Callable[[int], int], slack: int = 0) -> Ends:
    def ends(whole: Interval) -> Interval:
        if not whole.finite:
            return EVERYWHERE
        years = (civil(day_of(end))[0] for end in (whole.low, whole.high))
        low, high = (of(year) for year in years)
        return Interval(low - slack, high + slack)

    return ends


def _month_ends(whole: Interval) -> Interval:
    if whole.finite:
        low, high = civil(day_of(whole.low)), civil(day_of(whole.high))
        if low[0] == high[0]:
            return Interval(low[1], high[1])
    return Interval(1, 12)


def _scaled(micros: int) -> Ends:
    def ends(whole: Interval) -> Interval:
        if not whole.finite:
            return EVERYWHERE
        return Interval(int(whole.low) // micros, -(-int(whole.high) // micros))

    return ends


def _yearweek(whole: Interval) -> Interval:
    years = _by_year(lambda year: year, 1)(whole)
    return EVERYWHERE if years.low < 1 else Interval(years.low * 100 + 1, years.high * 100 + 53)


def _seconds(whole: Interval) -> Interval:
    return Interval(whole.low / 1e6, whole.high / 1e6)


def _part(
    name: str,
    ends: Ends,
    *,
    times: bool = False,
    guard: bool = False,
    target: Type = BIGINT,
    example: str | None = None,
) -> Function:
    """``guard``: DuckDB raises for dates at the ends of time."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        dated(one, name, times=times)
        fact = _plain_fact(one)
        whole = EVERYWHERE if one.kind is Kind.TIME else moments(Argument(fact))
        forever = not (near(Argument(fact)) if guard else whole.finite)  # infinity has no parts
        return within(target, ends(whole), fact.nullable or (forever and one.kind is not Kind.TIME))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        text = plain(texts[0], arguments[0])
        return guarded(text, arguments[0], f"{name}({text})") if guard else f"{name}({text})"

    return Function(name, result, render, example or f"{name}(d)")


PARTS = (
    _part("year", _by_year(lambda year: year)),
    _part("quarter", lambda whole: Interval(*((int(m) + 2) // 3 for m in _both(_month_ends(whole))))),
    _part("month", _month_ends),
    _part("week", _fixed(1, 53), guard=True),
    _part("day", _fixed(1, 31)),
    _part("dayofweek", _fixed(0, 6)),
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
    _part("epoch_us", _scaled(1), guard=True, example="epoch_us(ts)"),
    _part("julian", lambda w: Interval(w.low / DAY + 2_440_587, w.high / DAY + 2_440_589), target=DOUBLE),
)


def _both(interval: Interval) -> tuple[Number, Number]:
    return interval.low, interval.high


_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


def _named(name: str, names: tuple[str, ...]) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        (one,) = arguments
        dated(one, name)
        fact = _plain_fact(one)
        return Fact(VARCHAR, Categories(names), fact.nullable or not known(Argument(fact)).finite)

    return Function(name, result, lambda t, a, _: f"{name}({plain(t[0], a[0])})", f"{name}(d)")


def _epoch_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    if one.kind is Kind.INTERVAL:
        return within(DOUBLE, _seconds(known(one)), one.fact.nullable)
    dated(one, "epoch")
    fact = _plain_fact(one)
    whole = moments(Argument(fact))
    return within(DOUBLE, _seconds(whole), fact.nullable or not whole.finite)


def _epoch_ms_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    if one.kind is Kind.INTEGER:
        return _from_number(arguments, 1_000)
    dated(one, "epoch_ms")
    fact = _plain_fact(one)
    whole = moments(Argument(fact))
    return within(BIGINT, _scaled(1_000)(whole), fact.nullable or not near(Argument(fact)))


def _epoch_ms(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is Kind.INTEGER:
        return _from_number_sql("epoch_ms", 1_000, texts[0], arguments[0])
    text = plain(texts[0], arguments[0])
    return guarded(text, arguments[0], f"epoch_ms({text})")


def _from_number(arguments: Arguments, micros: int) -> Fact:
    (one,) = arguments
    if one.kind is not Kind.INTEGER:
        raise Unfit(f"a whole number is wanted here, not {named(one.type)}", "write CAST(... AS BIGINT)")
    whole = known(one)
    fails = max(-whole.low, whole.high) * micros > FAR * DAY
    return within(TIMESTAMP, Interval(whole.low * micros, whole.high * micros), one.fact.nullable or fails)


def _from_number_sql(name: str, micros: int, text: str, argument: Argument) -> str:
    number = converted(text, argument, BIGINT)
    whole, limit = known(argument), FAR * DAY // micros
    if max(-whole.low, whole.high) <= limit:
        return f"{name}({number})"
    return f"(CASE WHEN {number} BETWEEN -{limit} AND {limit} THEN {name}({number}) END)"


# ---- arithmetic ------------------------------------------------------------------------------------

_UNITS = {
    "YEAR": (12, 0, 0), "MONTH": (1, 0, 0), "QUARTER": (3, 0, 0), "DECADE": (120, 0, 0),
    "CENTURY": (1200, 0, 0), "WEEK": (0, 7, 0), "DAY": (0, 1, 0), "HOUR": (0, 0, 3_600_000_000),
    "MINUTE": (0, 0, 60_000_000), "SECOND": (0, 0, 1_000_000), "MILLISECOND": (0, 0, 1_000),
    "MICROSECOND": (0, 0, 1),
}  # fmt: skip
_OTHER_NAMES = {
    "MON": "MONTH", "CENTURIE": "CENTURY", "MIN": "MINUTE", "SEC": "SECOND", "M": "MINUTE", "H": "HOUR",
    "D": "DAY", "Y": "YEAR", "W": "WEEK", "S": "SECOND",
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
        unit = next((u for u in (unit, singular, _OTHER_NAMES.get(singular, "")) if u in _UNITS), "")
        if not unit:
            return None
        terms.append(f"{-int(found[1]) if negative else int(found[1])} {unit}")
        rest = rest[found.end() :]
    whole = " ".join(terms)
    return whole if terms and all(abs(part) < limit for part, limit in _limits(whole)) else None


def _limits(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(zip(interval_parts(text), (12 * 20_000, 365 * 20_000, 20_000 * 365 * DAY), strict=True))


def interval_parts(text: str) -> tuple[int, int, int]:
    """Months, days and microseconds of a canonical INTERVAL text."""
    words = text.split()
    scaled = [
        [int(number) * part for part in _UNITS[unit]]
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


def _constant_interval(argument: Argument) -> tuple[int, int, int]:
    if argument.literal is None or not isinstance(argument.literal.value, str):
        raise Unfit("only a constant INTERVAL can be added", "write INTERVAL '3' MONTH")
    return interval_parts(argument.literal.value)


def _moved(one: Argument, other: Argument, sign: int) -> Fact:
    parts = _constant_interval(other)
    dated(one, "adding an INTERVAL")
    fact = _plain_fact(one)
    whole = moments(Argument(fact))
    ends = Interval(*(shifted(end, parts, sign) for end in (whole.low, whole.high)))
    return within(TIMESTAMP, ends, any_null((one,)) or fact.nullable or not near(Argument(fact)))


def _moved_sql(text: str, interval: str, one: Argument, sign: str) -> str:
    text = plain(text, one)
    return guarded(text, one, f"({text} {sign} {interval})")


def plus_result(arguments: Arguments) -> Fact:
    """DATE + whole number of days is a DATE; DATE or TIMESTAMP + INTERVAL is a TIMESTAMP."""
    one, other = arguments
    if one.kind in (Kind.INTERVAL, Kind.INTEGER):
        one, other = other, one
    if one.kind is Kind.DATE and other.kind is Kind.INTEGER:
        return _days_moved(one, other, 1)
    if other.kind is Kind.INTERVAL:
        return _moved(one, other, 1)
    raise Unfit(*_no_sum("+", arguments))


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
        facts = [_plain_fact(each) for each in arguments]
        left, right = (moments(Argument(fact)) for fact in facts)
        whole = corners(lambda a, b: a - b, left, right)
        far = not all(near(Argument(fact)) for fact in facts)
        return Fact(
            INTERVAL, ANYTHING if whole == EVERYWHERE else whole, far or any(f.nullable for f in facts)
        )
    raise Unfit(*_no_sum("-", arguments))


def _no_sum(sign: str, arguments: Arguments) -> tuple[str, str]:
    left, right = (named(each.type) for each in arguments)
    if Kind.TIMESTAMPTZ in (each.kind for each in arguments):
        return f"{left} {sign} {right} depends on a time zone", _ZONE_HELP
    return f"there is no {left} {sign} {right}", "write CAST(... AS ...) around one of them"


def _days_moved(one: Argument, other: Argument, sign: int) -> Fact:
    if not (adapts(other.literal) or holds(INTEGER, type_range(other.type))):
        raise Unfit(
            f"a DATE moves by an INTEGER of days, not {named(other.type)}", "write CAST(... AS INTEGER)"
        )
    step = known(other)
    ends = corners(lambda a, b: a + sign * b, known(one), step)
    fails = not near(one) or max(-step.low, step.high) > _BEYOND
    return within(DATE, ends, any_null((one, other)) or fails)


def plus_sql(texts: tuple[str, ...], arguments: Arguments) -> str:
    one, other = arguments
    left, right = texts
    if one.kind in (Kind.INTERVAL, Kind.INTEGER):
        one, other, left, right = other, one, right, left
    if other.kind is Kind.INTERVAL:
        return _moved_sql(left, right, one, "+")
    return _days_moved_sql(left, right, one, other, "+")


def minus_sql(texts: tuple[str, ...], arguments: Arguments) -> str:
    one, other = arguments
    left, right = texts
    if one.kind is Kind.DATE and other.kind is Kind.DATE:
        return f"({left} - {right})"
    if other.kind is Kind.INTERVAL:
        return _moved_sql(left, right, one, "-")
    if other.kind is Kind.INTEGER:
        return _days_moved_sql(left, right, one, other, "-")
    left, right = plain(left, one), plain(right, other)
    return guarded(left, one, guarded(right, other, f"({left} - {right})"))


def _days_moved_sql(left: str, right: str, one: Argument, other: Argument, sign: str) -> str:
    step = known(other)
    right = converted(right, other, INTEGER)
    sql = guarded(left, one, f"({left} {sign} {right})")
    if max(-step.low, step.high) <= _BEYOND:
        return sql
    return f"(CASE WHEN {right} BETWEEN -{_BEYOND} AND {_BEYOND} THEN {sql} END)"


# ---- date_trunc, date_diff, date_sub ---------------------------------------------------------------

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
    """The one name that we use for a part of a date."""
    text = text.lower()
    return _PART_NAMES.get(text, text)


def _unit(argument: Argument, units: set[str]) -> str:
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str):
        raise Unfit("the part of the date must be a constant", "write 'month', 'day', ...")
    unit = part_name(literal.value)
    if unit not in units:
        raise Unfit(
            f"{literal.value[:20]!r} is no part of a date here", f"choose from {', '.join(sorted(units))}"
        )
    return unit


def truncated(end: Number, unit: str) -> Number:
    """A moment cut down to its unit, or a little earlier for units that are rarely asked for."""
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
    one = arguments[1]
    dated(one, "date_trunc")
    fact = _plain_fact(one)
    whole = moments(Argument(fact))
    high = truncated(whole.high, unit) if unit in ("week", "month", "quarter", "year") else whole.high
    ends = Interval(truncated(whole.low, unit), high)
    return within(TIMESTAMP, ends, fact.nullable or not near(Argument(fact)))


def _trunc(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    unit = _unit(arguments[0], {*_TRUNC_DAYS, *_TRUNC_MICROS})
    text = plain(texts[1], arguments[1])
    return guarded(text, arguments[1], f"date_trunc('{unit}', {text})")


def _difference(name: str) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        unit = _unit(arguments[0], _DIFFERENCES)
        for each in arguments[1:]:
            dated(each, name)
        facts = [_plain_fact(each) for each in arguments[1:]]
        one, other = (moments(Argument(fact)) for fact in facts)
        least = _TRUNC_MICROS[unit] if unit in _TRUNC_MICROS else _LEAST_DAYS[unit] * DAY
        whole = corners(lambda a, b: b - a, one, other)
        ends = EVERYWHERE
        if whole.finite:
            ends = Interval(int(whole.low) // least - 1, -(-int(whole.high) // least) + 1)
        far = not all(near(Argument(fact)) for fact in facts)
        return within(BIGINT, ends, any(fact.nullable for fact in facts) or far)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        unit = _unit(arguments[0], _DIFFERENCES)
        left, right = (plain(t, a) for t, a in zip(texts[1:], arguments[1:], strict=True))
        sql = f"{name}('{unit}', {left}, {right})"
        return guarded(left, arguments[1], guarded(right, arguments[2], sql))

    return Function(name, result, render, f"{name}('day', d, DATE '2020-06-01')", (3, 3), _last_two)


_LEAST_DAYS = {"week": 7, "month": 28, "quarter": 90, "year": 365, "decade": 3_652, "century": 36_524,
               "millennium": 365_242}  # fmt: skip


def _last_two(count: int) -> Groups:
    return ((1, 2),)


# ---- making dates and text -------------------------------------------------------------------------


def _last_day_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    dated(one, "last_day")
    fact = _plain_fact(one)
    whole = moments(Argument(fact))
    ends = EVERYWHERE
    if whole.finite:
        ends = Interval(*(months_later(days(*civil(day_of(e))[:2], 1), 1) - 1 for e in _both(whole)))
    return within(DATE, ends, fact.nullable or not near(Argument(fact)))


def _last_day(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    text = plain(texts[0], arguments[0])
    return guarded(text, arguments[0], f"last_day({text})")


def _make_date_result(arguments: Arguments, type: Type | None) -> Fact:
    for each in arguments:
        if each.kind is not Kind.INTEGER:
            raise Unfit(
                f"make_date takes whole numbers, not {named(each.type)}", "write CAST(... AS INTEGER)"
            )
    years = known(arguments[0])
    ends = EVERYWHERE
    if years.finite:
        clipped = sorted(max(1, min(9999, int(end))) for end in _both(years))
        ends = Interval(days(clipped[0], 1, 1), days(clipped[1], 12, 31))
    return within(DATE, ends, nullable=True)


def _make_date(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    # make_date raises on the 30th of February; a cast of text has a form that does not
    parts = " || '-' || ".join(f"CAST({text} AS VARCHAR)" for text in texts)
    return f"(CASE WHEN {texts[0]} BETWEEN 1000 AND 9999 THEN TRY_CAST({parts} AS DATE) END)"


_FORMAT = re.compile(r"(?:[^%\0]|%-?[dmyHIMSj]|%[aAbBYpfgUWwuGV%])+")


def _format(argument: Argument) -> str:
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str):
        raise Unfit("the format must be a constant", "write '%Y-%m-%d'")
    if len(literal.value) > 100 or not _FORMAT.fullmatch(literal.value):
        raise Unfit(
            f"the format {literal.value[:40]!r} is not read", "use %Y %m %d %H %M %S %b %a %j and text"
        )
    return literal.value


def _strftime_result(arguments: Arguments, type: Type | None) -> Fact:
    dated(arguments[0], "strftime")
    _format(arguments[1])
    fact = _plain_fact(arguments[0])
    return Fact(VARCHAR, ANYTHING, fact.nullable or not near(Argument(fact)))


def _strftime(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    text = plain(texts[0], arguments[0])
    return guarded(text, arguments[0], f"strftime({text}, {quoted(_format(arguments[1]))})")


def _strptime_result(arguments: Arguments, type: Type | None) -> Fact:
    if arguments[0].kind is not Kind.TEXT:
        raise Unfit(f"strptime takes text, not {named(arguments[0].type)}")
    _format(arguments[1])
    return Fact(TIMESTAMP, ANYTHING, nullable=True)


def _zone(argument: Argument) -> str:
    literal = argument.literal
    name = literal.value if literal is not None else None
    if not isinstance(name, str) or (name != "UTC" and name not in zoneinfo.available_timezones()):
        raise Unfit("the time zone must be a constant with a known name", "write 'UTC' or 'Europe/Berlin'")
    return name


def _at_zone_result(arguments: Arguments, type: Type | None) -> Fact:
    one = arguments[0]
    _zone(arguments[1])
    if one.kind is not Kind.TIMESTAMPTZ:
        raise Unfit(f"AT TIME ZONE takes a TIMESTAMP WITH TIME ZONE, not {named(one.type)}")
    whole = known(one)
    return within(TIMESTAMP, Interval(whole.low - DAY, whole.high + DAY), nullable=True)


def _at_zone(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    low, high = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 00:00:00+00'"
    zone = quoted(_zone(arguments[1]))
    return f"(CASE WHEN {texts[0]} BETWEEN {low} AND {high} THEN timezone({zone}, {texts[0]}) END)"


def _finite_result(arguments: Arguments, type: Type | None) -> Fact:
    (one,) = arguments
    if one.kind not in (Kind.DATE, Kind.TIMESTAMP) and not one.type.numeric:
        raise Unfit(f"there is no infinite {named(one.type)}")
    return truth(any_null(arguments))


FUNCTIONS = (
    *PARTS,
    _named("dayname", _WEEKDAYS),
    _named("monthname", _MONTHS),
    Function("epoch", _epoch_result, lambda t, a, _: f"epoch({plain(t[0], a[0])})", "epoch(ts)"),
    Function("epoch_ms", _epoch_ms_result, _epoch_ms, "epoch_ms(ts)"),
    Function(
        "make_timestamp",
        lambda a, _: _from_number(a, 1),
        lambda t, a, _: _from_number_sql("make_timestamp", 1, t[0], a[0]),
        "make_timestamp(l)",
    ),
    Function("date_trunc", _trunc_result, _trunc, "date_trunc('month', d)", (2, 2)),
    _difference("date_diff"),
    _difference("date_sub"),
    Function("last_day", _last_day_result, _last_day, "last_day(d)"),
    Function("make_date", _make_date_result, _make_date, "make_date(2020, i, 1)", (3, 3)),
    Function(
        "strftime",
        _strftime_result,
        _strftime,
        "strftime(d, '%Y-%m')",
        (2, 2),
    ),
    Function(
        "try_strptime",
        _strptime_result,
        lambda t, a, _: f"try_strptime({converted(t[0], a[0], VARCHAR)}, {quoted(_format(a[1]))})",
        "try_strptime(s, '%Y-%m-%d')",
        (2, 2),
    ),
    Function("timezone", _at_zone_result, _at_zone, "tz AT TIME ZONE 'UTC'", (2, 2)),
    Function("isfinite", _finite_result, lambda t, a, _: f"isfinite({t[0]})", "isfinite(x)"),
    Function("isinf", _finite_result, lambda t, a, _: f"isinf({t[0]})", "isinf(x)"),
)

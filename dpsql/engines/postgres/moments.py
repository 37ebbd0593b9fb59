"""Functions of dates, moments and intervals on PostgreSQL.

    year(seen)                    CASE WHEN isfinite(seen) THEN CAST(extract(year FROM seen) AS int8) END
    seen + INTERVAL '3' MONTH     in a CASE: from 4713 BC to the year 199000, and so is the result
    seen AT TIME ZONE 'Asia/Tokyo'    of zones that the server knows

Claim   no text that is printed here raises on a row, whatever the values are.
Proof   PostgreSQL raises where a moment leaves its calendar, where an infinite one is subtracted, and where a
        part of one is made a whole number. So parts are of finite moments; sums are computed where the moment
        is further from both ends of the calendar than the interval is long; differences are of finite ones,
        and a day number has 32 bits. A zone is one of ``zones``, the names that the server has.
Test    tests/privacy/test_postgres_functions.py
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.identifiers import text as quoted
from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.casts import converted, made_date, narrowed, once
from dpsql.engines.postgres.numbers import RENDERS as OF_NUMBERS
from dpsql.engines.vetted_moments import Moments, unit_of
from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Argument, Arguments
from dpsql.functions.core.ranges import DAY
from dpsql.functions.time.date_arithmetic import interval_parts
from dpsql.ir.column import BIGINT, DOUBLE, INTEGER, TIMESTAMP, Kind, Type

_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_MICROSECONDS = {"millisecond": 1_000, "microsecond": 1}
_EXTRACTED = "CAST(floor(extract({} FROM {{0}})) AS int8)"
_YEAR = "(CAST(extract(year FROM {0}) AS int8) + CASE WHEN extract(year FROM {0}) < 0 THEN 1 ELSE 0 END)"
"""DuckDB has a year 0."""


def _moment(text: str, argument: Argument) -> str:
    """Print a DATE or TIMESTAMP as a TIMESTAMP."""
    if argument.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise NotVetted(f"a part of type {argument.type.said}")
    return converted(text, argument, TIMESTAMP)


def _part(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        moment = _moment(texts[0], arguments[0])
        return f"({once(f'CASE WHEN isfinite({{0}}) THEN {form} END', moment)})"

    return render


def _named(pattern: str) -> Render:
    return _part(f"to_char({{0}}, '{pattern}') COLLATE \"C\"")


_PARTS = {
    "year": _YEAR,
    **{part: _EXTRACTED.format(part) for part in ("quarter", "month", "week", "day", "hour", "minute")},
    **{part: _EXTRACTED.format(part) for part in ("second", "isodow")},
    "dayofweek": _EXTRACTED.format("dow"),
    "dayofyear": _EXTRACTED.format("doy"),
    "millisecond": _EXTRACTED.format("milliseconds"),
    "microsecond": _EXTRACTED.format("microseconds"),
}
"""Parts of a finite moment."""


def _epoch(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is Kind.INTERVAL:
        return f"CAST(extract(epoch FROM {texts[0]}) AS float8)"
    return _part("CAST(extract(epoch FROM {0}) AS float8)")(texts, arguments, type)


def _epoch_in(per_second: int) -> Render:
    return _part(narrowed(f"extract(epoch FROM {{0}}) * {per_second}", BIGINT))


# ---- truncation and differences ----------------------------------------------------------------------


def _truncated(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    unit = unit_of(arguments[0])
    if unit not in (*_SECONDS, *_MICROSECONDS, "day", "week", "month", "quarter", "year"):
        raise NotVetted(f"date_trunc to {unit}")
    form = f"CASE WHEN {_inside('{0}')} THEN date_trunc('{unit}', {{0}}) END"
    return f"({once(form, _moment(texts[1], arguments[1]))})"


_MONTHS = f"({_YEAR} * 12 + CAST(extract(month FROM {{0}}) AS int8))"
_QUARTERS = f"({_YEAR} * 4 + CAST(extract(quarter FROM {{0}}) AS int8))"
_DAYS = "CAST(CAST({0} AS date) - CAST('1970-01-01' AS date) AS int8)"
_COUNTED = {
    "year": _YEAR,
    "quarter": _QUARTERS,
    "month": _MONTHS,
    "day": _DAYS,
    **{unit: f"floor(extract(epoch FROM {{0}}) / {size})" for unit, size in _SECONDS.items()},
    **{
        unit: f"floor(extract(epoch FROM {{0}}) * {1_000_000 // size})"
        for unit, size in _MICROSECONDS.items()
    },
}
"""The number of a period."""


def _difference(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """The periods that begin between two moments; of weeks, those that fit between their days."""
    unit = unit_of(arguments[0])
    number = _COUNTED.get("day" if unit == "week" else unit)
    if number is None:
        raise NotVetted(f"date_diff of {unit}")
    difference = f"{number.replace('{0}', '{1}')} - {number}"
    between = narrowed(f"({difference}) / 7" if unit == "week" else difference, BIGINT)
    whole = f"CASE WHEN {_inside('{0}')} AND {_inside('{1}')} THEN {between} END"
    moments = (_moment(text, argument) for text, argument in zip(texts[1:], arguments[1:], strict=True))
    return f"({once(whole, *moments)})"


def _elapsed(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """The whole periods between two moments."""
    unit = unit_of(arguments[0])
    sizes = {**{name: size * 1_000_000 for name, size in _SECONDS.items()}, **_MICROSECONDS, "day": DAY}
    if unit not in sizes:
        raise NotVetted(f"date_sub of {unit}")
    micros = "((extract(epoch FROM {1}) - extract(epoch FROM {0})) * 1000000)"
    between = narrowed(f"div({micros}, {sizes[unit]})", BIGINT)
    whole = f"CASE WHEN {_inside('{0}')} AND {_inside('{1}')} THEN {between} END"
    moments = (_moment(text, argument) for text, argument in zip(texts[1:], arguments[1:], strict=True))
    return f"({once(whole, *moments)})"


# ---- sums --------------------------------------------------------------------------------------------


def _inside(moment: str, before: int = 0, behind: int = 0) -> str:
    """Print whether a moment is further than so many days from the beginning and the end of the calendar."""
    low = f"CAST('4713-01-02 BC' AS timestamp) + CAST('{before} days' AS interval)"
    high = f"CAST('199000-01-01' AS timestamp) - CAST('{behind} days' AS interval)"
    return f"{moment} BETWEEN {low} AND {high}"


_SHORT = 4_000 * 366
"""The most days of an interval that no constant tells."""


def _moved(sign: str, texts: tuple[str, ...], arguments: Arguments) -> str:
    """A moment plus or minus an interval; a constant one tells how long it is."""
    (moment, step), literal = (_moment(texts[0], arguments[0]), texts[1]), arguments[1].literal
    if literal is not None and isinstance(literal.value, str):
        months, days, micros = interval_parts(literal.value)
        sizes = [months * 31, days, micros // DAY + (micros > 0)]
        forward, back = (sum(max(0, way * size) for size in sizes) for way in (1, -1))
        ends = (back, forward) if sign == "+" else (forward, back)
        form = f"CASE WHEN {_inside('{0}', *ends)} THEN {{0}} {sign} {{1}} END"
        return f"({once(form, moment, step)})"
    short = f"{{1}} BETWEEN CAST('-{_SHORT} days' AS interval) AND CAST('{_SHORT} days' AS interval)"
    form = f"CASE WHEN {short} AND {_inside('{0}', _SHORT, _SHORT)} THEN {{0}} {sign} {{1}} END"
    return f"({once(form, moment, step)})"


def _day_number(date: str) -> str:
    """Print the days of a DATE since 1970, in which infinity is the largest of 32 bits, as in DuckDB."""
    ends = "WHEN {0} = 'infinity' THEN 2147483647 WHEN {0} = '-infinity' THEN -2147483647"
    return once(f"CASE {ends} ELSE {_DAYS} END", date)


def _days_moved(sign: str, texts: tuple[str, ...], arguments: Arguments) -> str:
    count = converted(texts[1], arguments[1], INTEGER)
    inside = f"({_DAYS} {sign} CAST({{1}} AS int8)) BETWEEN -2440000 AND 105000000"
    form = f"CASE WHEN isfinite({{0}}) THEN CASE WHEN {inside} THEN {{0}} {sign} {{1}} END END"
    return f"({once(form, texts[0], count)})"


def _between(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if all(argument.kind is Kind.DATE for argument in arguments):
        return f"({_day_number(texts[0])} - {_day_number(texts[1])})"
    moments = [_moment(text, argument) for text, argument in zip(texts, arguments, strict=True)]
    form = f"CASE WHEN {_inside('{0}')} AND {_inside('{1}')} THEN {{0}} - {{1}} END"
    return f"({once(form, *moments)})"


_MOMENTS = Moments(_moved, _days_moved, _between, OF_NUMBERS)


def _interval(form: str, most: int) -> Render:
    """An interval of whole units, NULL beyond 20,000 years."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        number = converted(texts[0], arguments[0], BIGINT)
        made = f"CASE WHEN {{0}} BETWEEN -{most} AND {most} THEN {form} END"
        return f"({once(made, number)})"

    return render


def _made_interval(word: str, times: int = 1) -> str:
    return f"make_interval({word} => CAST({{0}} * {times} AS int4))"


_YEARS = 20_000

# ---- others ------------------------------------------------------------------------------------------

_FORMATS = {
    "Y": "YYYY", "m": "MM", "d": "DD", "H": "HH24", "M": "MI", "S": "SS", "b": "Mon", "a": "Dy", "j": "DDD",
    "y": "YY", "B": "FMMonth", "A": "FMDay", "I": "HH12", "p": "AM",
}  # fmt: skip


def _formatted(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    literal = arguments[1].literal
    assert literal is not None
    pattern = to_char_pattern(str(literal.value))
    ends = "CAST('0001-01-01' AS timestamp) AND CAST('9999-12-31 23:59:59' AS timestamp)"
    form = f'CASE WHEN {{0}} BETWEEN {ends} THEN to_char({{0}}, {pattern}) COLLATE "C" END'
    return f"({once(form, _moment(texts[0], arguments[0]))})"


def to_char_pattern(written: str) -> str:
    """Print a format of strftime as one of to_char, in which words stand in quotes."""
    rest = written
    parts: list[str] = []
    while rest:
        if rest.startswith("%"):
            if rest[1:2] not in _FORMATS:
                raise NotVetted(f"the format {rest[:3]}")
            parts, rest = [*parts, _FORMATS[rest[1]]], rest[2:]
            continue
        plain, sign, behind = rest.partition("%")
        if any(letter in plain for letter in '"\\{}'):
            raise NotVetted("quotes in a format")
        parts, rest = [*parts, f'"{plain}"'], sign + behind
    return quoted("".join(parts))


def _date(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if not all(argument.kind is Kind.INTEGER for argument in arguments):
        raise NotVetted("make_date of this")
    return f"({once(made_date('1000'), *texts)})"


def _last_day(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    last = "CAST(date_trunc('month', {0}) + interval '1 month - 1 day' AS date)"
    form = f"CASE WHEN {_inside('{0}', 40, 40)} THEN {last} END"
    return f"({once(form, _moment(texts[0], arguments[0]))})"


def _to_timestamp(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], DOUBLE)
    form = "CASE WHEN {0} BETWEEN -62135596800 AND 253402300799 THEN to_timestamp({0}) END"
    return f"({once(form, number)})"


def zone_sql(text: str, argument: Argument, zone: str) -> str:
    """Print AT TIME ZONE, from the year 1 to 9999; the caller knows that the server has the zone."""
    offset = "+00" if argument.kind is Kind.TIMESTAMPTZ else ""
    if argument.type != TIMESTAMP and argument.kind is not Kind.TIMESTAMPTZ:
        raise NotVetted(f"AT TIME ZONE of type {argument.type.said}")
    name = "timestamptz" if offset else "timestamp"
    ends = (f"CAST('{day} 00:00:00{offset}' AS {name})" for day in ("0001-01-01", "9999-12-31"))
    form = f"CASE WHEN {{0}} BETWEEN {' AND '.join(ends)} THEN {{0}} AT TIME ZONE {quoted(zone)} END"
    return f"({once(form, text)})"


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **{name: _part(form) for name, form in _PARTS.items()},
        "days_in_month": lambda t, a, _: f"CAST(extract(day FROM {_last_day(t, a, _)}) AS int8)",
        "isoyear": _part(_EXTRACTED.format("isoyear")),
        "yearweek": _part(f"{_EXTRACTED.format('isoyear')} * 100 + {_EXTRACTED.format('week')}"),
        "dayname": _named("FMDay"),
        "monthname": _named("FMMonth"),
        "epoch": _epoch,
        "date_trunc": _truncated,
        "date_diff": _difference,
        "date_sub": _elapsed,
        "+": _MOMENTS.plus,
        "-": _MOMENTS.minus,
        "to_years": _interval(_made_interval("years"), _YEARS),
        "to_decades": _interval(_made_interval("years", 10), _YEARS // 10),
        "to_quarters": _interval(_made_interval("months", 3), _YEARS * 4),
        "to_months": _interval(_made_interval("months"), _YEARS * 12),
        "to_weeks": _interval(_made_interval("days", 7), _YEARS * 365 // 7),
        "to_days": _interval(_made_interval("days"), _YEARS * 365),
        "to_hours": _interval("{0} * CAST('1 hour' AS interval)", _YEARS * 365 * 24),
        "to_minutes": _interval("{0} * CAST('1 minute' AS interval)", _YEARS * 365 * 24 * 60),
        "strftime": _formatted,
        "make_date": _date,
        "last_day": _last_day,
        "to_timestamp": _to_timestamp,
        "epoch_ms": _epoch_in(1_000),
        "epoch_us": _epoch_in(1_000_000),
    }
)
"""The text of each function; ``timezone`` needs to know the server's zones (dialect.py)."""

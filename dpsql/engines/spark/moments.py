"""Functions of dates, moments and intervals on Spark.

    year(seen)                        CAST(year(seen) AS bigint)
    seen + INTERVAL '3' MONTH         NULL outside of the years 1 to 9999
    seen AT TIME ZONE 'Asia/Tokyo'    of zones that Java knows

Claim   with ANSI off, no text that is printed here raises on a row; each moment that one gives is of the
        years 1 to 9999, or NULL.
Proof   Moments that are read, and constants, are of these years (engine.py), and so is what is made here:
        each sum is compared with the ends. An interval is one of 20,000 years at most, so that no sum leaves
        the 64 bits of microseconds, where Java raises. A zone is one of ``zones``, the names that Java has.
Test    tests/privacy/test_spark_functions.py
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.casts import YEARS, converted, made_date, narrowed, once, text_sql, type_sql
from dpsql.engines.spark.numbers import RENDERS as OF_NUMBERS
from dpsql.engines.vetted_moments import Moments, unit_of
from dpsql.engines.vetted_scalars import Render
from dpsql.functions import Argument, Arguments
from dpsql.functions.core.ranges import DAY
from dpsql.ir.column import BIGINT, DATE, DOUBLE, INTEGER, TIMESTAMP, Kind, Type, type_named

_MICROS = "unix_micros(CAST({0} AS timestamp))"
_MONTH_NAMES = "January February March April May June July August September October November December".split()
_DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def calendar_sql(name: str, type: Type) -> str:
    """Print a moment that is NULL outside of the years 1 to 9999."""
    return once(f"CASE WHEN {_inside(type)} THEN {{0}} END", name)


def _inside(type: Type) -> str:
    last = "9999-12-31" if type.kind is Kind.DATE else "9999-12-31 23:59:59.999999"
    ends = (f"CAST('{end}' AS {type_sql(type)})" for end in ("0001-01-01", last))
    return f"{{0}} BETWEEN {' AND '.join(ends)}"


def _moment(text: str, argument: Argument) -> str:
    """Print a DATE or TIMESTAMP as a TIMESTAMP."""
    if argument.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise NotVetted(f"a part of type {argument.type.said}")
    return converted(text, argument, TIMESTAMP)


def _part(form: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"({once(form, _moment(texts[0], arguments[0]))})"

    return render


def _whole(form: str) -> Render:
    return _part(f"CAST({form} AS bigint)")


def _named(names: list[str], place: str) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return f"get(array({listed}), {place})"


_MICROSECOND = "pmod(unix_micros(CAST({0} AS timestamp)), 60000000)"
_ISO_YEAR = "year(date_add(CAST({0} AS date), 3 - weekday({0})))"
"""The year of the Thursday of its week."""
_PARTS = {
    "year": "year({0})",
    "quarter": "quarter({0})",
    "month": "month({0})",
    "week": "weekofyear({0})",
    "day": "day({0})",
    "hour": "hour({0})",
    "minute": "minute({0})",
    "second": "second({0})",
    "dayofweek": "dayofweek({0}) - 1",
    "isodow": "weekday({0}) + 1",
    "dayofyear": "dayofyear({0})",
    "isoyear": _ISO_YEAR,
    "yearweek": f"{_ISO_YEAR} * 100 + weekofyear({{0}})",
    "millisecond": f"{_MICROSECOND} div 1000",
    "microsecond": _MICROSECOND,
    "days_in_month": "day(last_day(CAST({0} AS date)))",
    "epoch_us": _MICROS,
}


# ---- truncation and differences ----------------------------------------------------------------------

_SIZES = {
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}


def _truncated(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    unit = unit_of(arguments[0])
    if unit not in (*_SIZES, "day", "week", "month", "quarter", "year"):
        raise NotVetted(f"date_trunc to {unit}")
    cut = f"CAST(date_trunc('{unit}', CAST({_moment(texts[1], arguments[1])} AS timestamp)) AS timestamp_ntz)"
    return f"({calendar_sql(cut, TIMESTAMP)})"


def _floored(size: int) -> str:
    return f"({_MICROS} - pmod({_MICROS}, {size})) div {size}"


_DAYS = "CAST(unix_date(CAST({0} AS date)) AS bigint)"
_COUNTED = {
    "year": "CAST(year({0}) AS bigint)",
    "quarter": "CAST(year({0}) * 4 + quarter({0}) AS bigint)",
    "month": "CAST(year({0}) * 12 + month({0}) AS bigint)",
    "day": _DAYS,
    **{unit: _floored(size) for unit, size in _SIZES.items()},
}
"""The number of a period."""


def _between(form: str, texts: tuple[str, ...], arguments: Arguments) -> str:
    moments = (_moment(text, argument) for text, argument in zip(texts[1:], arguments[1:], strict=True))
    return f"({once(form, *moments)})"


def _difference(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """The periods that begin between two moments; of weeks, those that fit between their days."""
    unit = unit_of(arguments[0])
    number = _COUNTED.get("day" if unit == "week" else unit)
    if number is None:
        raise NotVetted(f"date_diff of {unit}")
    between = f"({number.replace('{0}', '{1}')}) - ({number})"
    return _between(f"({between}) div 7" if unit == "week" else between, texts, arguments)


def _elapsed(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """The whole periods between two moments."""
    unit = unit_of(arguments[0])
    size = {**_SIZES, "day": DAY}.get(unit)
    if size is None:
        raise NotVetted(f"date_sub of {unit}")
    return _between(f"({_MICROS.replace('{0}', '{1}')} - {_MICROS}) div {size}", texts, arguments)


def _milliseconds(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    exact = f"CAST({_MICROS} AS decimal(20,0)) * CAST('0.001' AS decimal(4,3))"
    return _part(narrowed(exact, BIGINT))(texts, arguments, type)


def _epoch(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return _part(f"CAST({_MICROS} AS double) / 1000000D")(texts, arguments, type)


# ---- sums --------------------------------------------------------------------------------------------


def _moved(sign: str, texts: tuple[str, ...], arguments: Arguments) -> str:
    """A moment plus or minus an interval, which is a constant or one of whole units."""
    moved = f"{_moment(texts[0], arguments[0])} {sign} {texts[1]}"
    return f"({calendar_sql(moved, TIMESTAMP)})"


def _days_moved(sign: str, texts: tuple[str, ...], arguments: Arguments) -> str:
    count = converted(texts[1], arguments[1], INTEGER)
    most = YEARS * 365
    moved = f"date_add({{0}}, {'-' if sign == '-' else ''}{{1}})"
    form = f"CASE WHEN {{1}} BETWEEN -{most} AND {most} THEN {calendar_sql(moved, DATE)} END"
    return f"({once(form, texts[0], count)})"


def _difference_of_days(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if any(argument.kind is not Kind.DATE for argument in arguments):
        raise NotVetted("a difference of two moments")
    return f"CAST(datediff({texts[0]}, {texts[1]}) AS bigint)"


_MOMENTS = Moments(_moved, _days_moved, _difference_of_days, OF_NUMBERS)


def _interval(form: str, most: int) -> Render:
    """An interval of whole units, NULL beyond 20,000 years."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        number = converted(texts[0], arguments[0], BIGINT)
        made = f"CASE WHEN {{0}} BETWEEN -{most} AND {most} THEN make_interval({form}) END"
        return f"({once(made, number)})"

    return render


# ---- others ------------------------------------------------------------------------------------------


def _padded(part: str, width: int = 2) -> str:
    return f"lpad(CAST({part} AS string), {width}, '0')"


_HOUR_OF_12 = "pmod(hour({0}) + 11, 12) + 1"
_FORMATS = {
    "Y": _padded("year({0})", 4),
    "y": _padded("pmod(year({0}), 100)"),
    "m": _padded("month({0})"),
    "d": _padded("day({0})"),
    "j": _padded("dayofyear({0})", 3),
    "H": _padded("hour({0})"),
    "I": _padded(_HOUR_OF_12),
    "M": _padded("minute({0})"),
    "S": _padded("second({0})"),
    "p": "CASE WHEN hour({0}) < 12 THEN 'AM' ELSE 'PM' END",
    "B": _named(_MONTH_NAMES, "month({0}) - 1"),
    "b": _named([name[:3] for name in _MONTH_NAMES], "month({0}) - 1"),
    "A": _named(_DAY_NAMES, "weekday({0})"),
    "a": _named([name[:3] for name in _DAY_NAMES], "weekday({0})"),
}


def _formatted(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    literal = arguments[1].literal
    assert literal is not None
    return _part(f"concat({', '.join(_format_parts(str(literal.value)))})")(texts[:1], arguments[:1], type)


def _format_parts(written: str) -> list[str]:
    """Print the parts of a format of strftime."""
    plain, *others = written.split("%")
    parts = [text_sql(plain)] if plain else []
    for other in others:
        if other[:1] not in _FORMATS:
            raise NotVetted(f"the format %{other[:1]}")
        parts += [_FORMATS[other[0]], *([text_sql(other[1:])] if other[1:] else [])]
    if any("{" in part for part in (plain, *others)) or "}" in written:
        raise NotVetted("braces in a format")
    return parts or ["''"]


def _date(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if not all(argument.kind is Kind.INTEGER for argument in arguments):
        raise NotVetted("make_date of this")
    parts = (converted(text, each, INTEGER) for text, each in zip(texts, arguments, strict=True))
    return f"({once(made_date('1000'), *parts)})"


def _to_timestamp(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], DOUBLE)
    micros = narrowed("CAST(rint({0} * 1000000D) AS bigint)", BIGINT)
    form = f"CASE WHEN {{0}} BETWEEN -62135596800D AND 253402300799D THEN timestamp_micros({micros}) END"
    return f"({once(form, number)})"


def zone_sql(text: str, argument: Argument, zone: str) -> str:
    """Print AT TIME ZONE; the caller knows that Java has the zone."""
    name = text_sql(zone)
    if argument.kind is Kind.TIMESTAMPTZ:
        return f"({calendar_sql(f'CAST(from_utc_timestamp({text}, {name}) AS timestamp_ntz)', TIMESTAMP)})"
    if argument.type != TIMESTAMP:
        raise NotVetted(f"AT TIME ZONE of type {argument.type.said}")
    moment = f"to_utc_timestamp(CAST({text} AS timestamp), {name})"
    return f"({calendar_sql(moment, type_named('TIMESTAMP WITH TIME ZONE'))})"


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        **{name: _whole(form) for name, form in _PARTS.items()},
        "dayname": _part(_FORMATS["A"]),
        "monthname": _part(_FORMATS["B"]),
        "epoch": _epoch,
        "epoch_ms": _milliseconds,
        "date_trunc": _truncated,
        "date_diff": _difference,
        "date_sub": _elapsed,
        "+": _MOMENTS.plus,
        "-": _MOMENTS.minus,
        "to_years": _interval("CAST({0} AS int)", YEARS),
        "to_decades": _interval("CAST({0} * 10 AS int)", YEARS // 10),
        "to_quarters": _interval("0, CAST({0} * 3 AS int)", YEARS * 4),
        "to_months": _interval("0, CAST({0} AS int)", YEARS * 12),
        "to_weeks": _interval("0, 0, CAST({0} AS int)", YEARS * 365 // 7),
        "to_days": _interval("0, 0, 0, CAST({0} AS int)", YEARS * 365),
        "to_hours": _interval("0, 0, 0, 0, CAST({0} AS int)", YEARS * 365 * 24),
        "strftime": _formatted,
        "make_date": _date,
        "last_day": _part("last_day(CAST({0} AS date))"),
        "to_timestamp": _to_timestamp,
    }
)
"""The text of each function; ``timezone`` needs to know Java's zones (dialect.py)."""

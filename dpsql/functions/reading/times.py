"""Date and time functions, read from sqlglot's node types.

EXTRACT(dow FROM d)    dayofweek(d)
INTERVAL (n) DAY       to_days(n)
d AT TIME ZONE 'UTC'   timezone(d, 'UTC')
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading.shapes import Readers, Reading, of, only
from dpsql.functions.time.periods import part_name

_PARTS = {
    "dow": "dayofweek", "weekday": "dayofweek", "dayofmonth": "day", "doy": "dayofyear", "weekofyear": "week",
    "ms": "millisecond", "us": "microsecond", "usec": "microsecond", "msec": "millisecond", "mon": "month",
    "min": "minute", "sec": "second", "hr": "hour", "h": "hour", "m": "minute", "s": "second", "y": "year",
    "d": "day", "w": "week", "mil": "millennium", "cent": "century", "dec": "decade", "yr": "year",
}  # fmt: skip
_EXTRACTED = {
    "year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear", "isoyear", "yearweek",
    "decade", "century", "millennium", "hour", "minute", "second", "millisecond", "microsecond", "epoch",
    "julian", "era", "nanosecond",
}  # fmt: skip


def part_literal(node: object) -> exp.Expr | None:
    """Return the name of a date part as a text literal."""
    if isinstance(node, exp.Var) or (isinstance(node, exp.Literal) and node.is_string):
        return exp.Literal.string(part_name(node.name))
    return None


def date_part(unit: object, value: exp.Expr) -> Reading | None:
    """Read one part of a date by its name."""
    named = part_literal(unit)
    if named is None:
        return None
    name = _PARTS.get(named.name, named.name)
    return Reading(name, (value,)) if name in _EXTRACTED else None


def _extract(node: exp.Expr) -> Reading | None:
    return date_part(node.this, node.expression) if only(node, "this", "expression") else None


def _trunc(node: exp.Expr) -> Reading | None:
    unit = part_literal(node.args.get("unit"))
    return Reading("date_trunc", (unit, node.this)) if unit and only(node, "this", "unit") else None


def _difference(node: exp.Expr) -> Reading | None:
    unit = part_literal(node.args.get("unit"))
    if unit is None or not only(node, "this", "expression", "unit", "date_part_boundary"):
        return None
    return Reading("date_diff", (unit, node.expression, node.this))


def _from_unix(node: exp.Expr) -> Reading | None:
    scale = node.args.get("scale")
    names = {"": "to_timestamp", "3": "epoch_ms", "6": "make_timestamp"}
    name = names.get(scale.name if isinstance(scale, exp.Expr) else "")
    return Reading(name, (node.this,)) if name and only(node, "this", "scale") else None


_COUNTED = {
    "year": "to_years", "month": "to_months", "day": "to_days", "hour": "to_hours", "minute": "to_minutes",
    "second": "to_seconds", "week": "to_weeks", "quarter": "to_quarters", "decade": "to_decades",
    "century": "to_centuries", "millennium": "to_millennia", "millisecond": "to_milliseconds",
    "microsecond": "to_microseconds",
}  # fmt: skip


def _interval(node: exp.Expr) -> Reading | None:
    """Read INTERVAL (n) DAY; a constant INTERVAL is a literal instead."""
    unit, amount = node.args.get("unit"), node.this
    if type(unit) is not exp.Var or not isinstance(amount, exp.Paren) or not only(node, "this", "unit"):
        return None
    name = _COUNTED.get(part_name(unit.name))
    return Reading(name, (amount.this,)) if name else None


def _strftime(node: exp.Expr) -> Reading | None:
    """Read strftime(x, '%Y') and strftime('%Y', x)."""
    this, form = node.this, node.args.get("format")
    if not isinstance(form, exp.Expr) or not only(node, "this", "format"):
        return None
    return Reading("strftime", (form, this) if this.is_string and not form.is_string else (this, form))


_OF_ONE: dict[str, type[exp.Expr]] = {
    "year": exp.Year, "quarter": exp.Quarter, "month": exp.Month, "week": exp.Week, "day": exp.Day,
    "dayofweek": exp.DayOfWeek, "dayofyear": exp.DayOfYear, "hour": exp.Hour, "minute": exp.Minute,
    "second": exp.Second, "dayname": exp.Dayname, "monthname": exp.Monthname, "to_days": exp.ToDays,
    "last_day": exp.LastDay, "isodow": exp.DayOfWeekIso, "epoch": exp.TimeToUnix,
}  # fmt: skip

READERS: Readers = {
    **{kind: of(name, "this") for name, kind in _OF_ONE.items()},
    exp.WeekOfYear: of("week", "this"),
    exp.DayOfMonth: of("day", "this"),
    exp.UnixToTime: _from_unix,
    exp.TimestampTrunc: _trunc,
    exp.DateTrunc: _trunc,
    exp.DateBin: of("time_bucket", "this", "expression", "unit"),
    exp.Extract: _extract,
    exp.DateDiff: _difference,
    exp.DateAdd: of("+", "this", "expression"),
    exp.DateSub: of("-", "this", "expression"),
    exp.Interval: _interval,
    exp.TimeToStr: _strftime,
    exp.StrToTime: of("try_strptime", "this", "format"),
    exp.DateFromParts: of("make_date", "year", "month", "day"),
    exp.TimeFromParts: of("make_time", "hour", "min", "sec"),
    exp.TimestampFromParts: of("make_timestamp", "year", "month", "day", "hour", "min", "sec"),
    exp.AtTimeZone: of("timezone", "this", "zone"),
}

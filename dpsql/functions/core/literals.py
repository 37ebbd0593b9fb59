"""Literals: the types of numbers, the SQL of values, and text read as dates and numbers.

    number_literal("1.50")                      Literal(Decimal("1.50"), DECIMAL(3,2))
    coerce(Literal("1998-12-01", VARCHAR), DATE)    Literal(date(1998, 12, 1), DATE)
    literal_sql(Literal(5, BIGINT))             CAST(5 AS BIGINT)

``coerce`` reads a text only if DuckDB reads it in the same way. Times of day, UUIDs and INTERVALs are
kept as text.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.ranges import nearest_real, ordinal
from dpsql.functions.core.types import WIDEST, decimal, digits, holds, integer_type
from dpsql.ir.column import (
    BOOLEAN,
    DATE,
    DOUBLE,
    NULL,
    TIMESTAMP,
    Categories,
    Fact,
    Interval,
    Kind,
    Type,
    Value,
    enum_members,
)
from dpsql.ir.scalar import Literal

_WHOLE = re.compile(r"[+-]?[0-9]{1,39}")
_POINT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_FLOAT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(\.(?P<part>[0-9]{1,6}))?"
_TIME = re.compile(_CLOCK)
_SHORT_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})(:(?P<second>[0-9]{1,2})(\.(?P<part>[0-9]{1,6}))?)?"
)
_MOMENT = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    rf"([ T]{_SHORT_CLOCK}(?P<zone>Z|[+-][0-9]{{2}}(:[0-9]{{2}})?)?)?"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TRUTH = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def number_literal(text: str) -> Literal:
    """Return the literal of a number as written in SQL."""
    plain = text.replace("_", "")
    if _WHOLE.fullmatch(plain):
        value = int(plain)
        natural = integer_type(value)
        if natural is not None:
            return Literal(value, natural)
    elif _POINT.fullmatch(plain):
        exact = Decimal(plain)
        natural = decimal_type(exact)
        if natural is not None:
            return Literal(exact, natural)
        if math.isfinite(float(plain)):
            return Literal(float(plain), DOUBLE)
    elif _FLOAT.fullmatch(plain) and math.isfinite(float(plain)):
        return Literal(float(plain), DOUBLE)
    raise ArgumentError(
        f"the number {text[:50]} is too large", "no numeric type can hold it: write a smaller one"
    )


def decimal_type(value: Decimal) -> Type | None:
    """Return the type that DuckDB gives to a decimal literal; None if it reads a DOUBLE."""
    if not value.is_finite():
        return None
    before_point, _, after_point = format(value.copy_abs(), "f").partition(".")
    width = len(before_point) + len(after_point)
    return decimal(width, len(after_point)) if width <= WIDEST else None


def literal_fact(literal: Literal) -> Fact:
    """Return the fact of a literal: the range is its value."""
    value, value_type = literal.value, literal.type
    if value is None:
        return Fact(value_type, Categories(()), nullable=True)
    if value_type.numeric or value_type.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        return Fact(value_type, Interval(ordinal(value), ordinal(value)), nullable=False)
    return Fact(value_type, Categories((value,)), nullable=False)


def constant(literal: Literal) -> Argument:
    return Argument(literal_fact(literal), literal)


def as_own(value: Value, type: Type) -> Value:
    """Return a constant as a value of this type; None if a column of the type cannot hold it."""
    if isinstance(value, bool) != (type.kind is Kind.BOOLEAN):
        return None
    if type.kind is Kind.INTEGER and isinstance(value, int):  # so are most keys: their range tells all
        return value if holds(type, Interval(value, value)) else None
    match value:
        case float() | Decimal() if type.kind is Kind.INTEGER:
            result: Value = int(value) if math.isfinite(value) and value == int(value) else None
        case int() | Decimal() if type.kind is Kind.DECIMAL:
            result = Decimal(value)
        case int() | float() | Decimal() if type.kind is Kind.FLOAT:
            result = float(value)
        case datetime.datetime() if type == DATE:
            midnight = value.time() == datetime.time() and value.tzinfo is None
            result = value.date() if midnight else None
        case datetime.datetime():
            result = value
        case datetime.date() if type.kind is Kind.TIMESTAMP:
            result = datetime.datetime.combine(value, datetime.time())
        case _:
            result = value
    if result is None or (type.sql.startswith("ENUM(") and result not in enum_members(type.sql)):
        return None
    try:
        literal_sql(Literal(result, type))
    except ArgumentError:
        return None
    return result


def literal_sql(literal: Literal) -> str:
    """Return SQL of exactly this value and type."""
    value, target = literal.value, literal.type
    match value:
        case None:
            return "NULL" if target == NULL else f"CAST(NULL AS {target.sql})"
        case bool() if target == BOOLEAN:
            return "TRUE" if value else "FALSE"
        case int() if (
            not isinstance(value, bool)
            and target.kind is Kind.INTEGER
            and holds(target, Interval(value, value))
        ):
            plain = f"(-{-value})" if value < 0 else str(value)
            # DuckDB types the digits before it negates them, or after, depending on its version
            sure = integer_type(value) == integer_type(abs(value)) == target
            return plain if sure else f"CAST({plain} AS {target.sql})"
        case Decimal() if target.kind is Kind.DECIMAL and value.is_finite():
            plain = format(value.copy_abs(), "f")
            text = f"(-{plain})" if value < 0 else plain
            return (
                text
                if "." in plain and decimal_type(value) == target
                else f"CAST('{value:f}' AS {target.sql})"
            )
        case float() if target.kind is Kind.FLOAT and math.isfinite(value):
            text = repr(abs(value))
            text = text if "e" in text else text + "e0"
            text = f"(-{text})" if math.copysign(1, value) < 0 else text
            return text if target == DOUBLE else f"CAST({text} AS {target.sql})"
        case datetime.datetime() if target.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
            if (value.tzinfo is None) == (target.kind is Kind.TIMESTAMP):
                return f"CAST({quoted(_moment(value))} AS {target.sql})"
        case datetime.date() if target == DATE and not isinstance(value, datetime.datetime):
            return f"CAST('{value.isoformat()}' AS DATE)"
        case str() if target.kind in (Kind.TEXT, Kind.TIME, Kind.UUID, Kind.INTERVAL):
            return quoted(value) if target.sql == "VARCHAR" else f"CAST({quoted(value)} AS {target.sql})"
        case _:
            pass
    raise ArgumentError(
        f"a constant cannot be {'infinite or ' if isinstance(value, float) else ''}of this type here"
    )


def _moment(value: datetime.datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat(sep=" ")
    return value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(sep=" ") + "+00"


def quoted(text: str) -> str:
    """Return a string literal; a zero byte becomes chr(0), because a statement may hold none."""
    parts = ["'" + part.replace("'", "''") + "'" for part in text.split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"


def coerce(literal: Literal, type: Type) -> Literal | None:
    """Return the literal as a value of the type, as DuckDB would cast it; None if that is not certain."""
    value = literal.value
    if literal.type == type:
        return literal
    read = None if value is None else _value_as(value, type)
    return None if read is None and value is not None else Literal(read, type, literal.span)


def _value_as(value: Value, type: Type) -> Value:
    text = value if isinstance(value, str) else None
    match type.kind:
        case Kind.INTEGER:
            if text is not None:
                value = int(text) if _WHOLE.fullmatch(text) else None
            fits = (
                isinstance(value, int) and not isinstance(value, bool) and holds(type, Interval(value, value))
            )
            return value if fits else None
        case Kind.DECIMAL:
            if text is not None:
                value = Decimal(text) if _POINT.fullmatch(text) else None
            return None if isinstance(value, bool) else _decimal(value, type)
        case Kind.FLOAT:
            if text is not None:
                value = float(text) if _FLOAT.fullmatch(text) else None
            if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
                return None
            read = float(value) if type == DOUBLE else nearest_real(float(value))
            return read if math.isfinite(read) else None
        case Kind.BOOLEAN:
            return _TRUTH.get(text.lower()) if text is not None else None
        case Kind.TEXT:
            return value if isinstance(value, str) and type.sql == "VARCHAR" else None
        case Kind.DATE:
            match = None if text is None else _MOMENT.fullmatch(text)
            return None if match is None or _clock(match) is None else _date(match["date"])
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
                return _midnight(value) if type == TIMESTAMP else None
            match = None if text is None else _MOMENT.fullmatch(text)
            return None if match is None else _timestamp(match, type)
        case Kind.TIME:
            match = None if text is None else _TIME.fullmatch(text)
            return text if match and _clock(match) is not None else None
        case Kind.UUID:
            return text.lower() if text is not None and _UUID.fullmatch(text) else None
        case _:
            return None


def _decimal(value: Value, type: Type) -> Decimal | None:
    if not isinstance(value, int | Decimal):
        return None
    width, scale = digits(type)
    with localcontext() as context:
        context.prec = 200
        read = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        return with_one_zero(read) if abs(read) < Decimal(10) ** (width - scale) else None


def with_one_zero(value: Decimal) -> Decimal:
    """Return a value as DECIMAL holds it: unlike Python's decimals and DuckDB's floats it has no -0.0."""
    return value.copy_abs() if value.is_zero() else value


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date(*map(int, text.split("-")))
    except ValueError:
        return None


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime(day.year, day.month, day.day)


def _clock(match: re.Match[str]) -> datetime.time | None:
    if match["hour"] is None:
        return datetime.time()
    part = (match["part"] or "").ljust(6, "0")
    try:
        return datetime.time(int(match["hour"]), int(match["minute"]), int(match["second"] or 0), int(part))
    except ValueError:
        return None


def _timestamp(match: re.Match[str], type: Type) -> datetime.datetime | None:
    day, clock, zone = _date(match["date"]), _clock(match), match["zone"]
    if day is None or clock is None or (zone is None) != (type.kind is Kind.TIMESTAMP):
        return None
    if zone is None:
        short = clock.microsecond == 0 and 1678 <= day.year <= 2261  # fits TIMESTAMP_S and _NS too
        return datetime.datetime.combine(day, clock) if type == TIMESTAMP or short else None
    try:  # the text names the zone, so the session's time zone does not matter
        return datetime.datetime.fromisoformat(f"{day}T{clock}{zone}").astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None

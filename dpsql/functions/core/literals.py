"""Constants: what type a number in the text has, how a constant is printed, how text is read as a date.

    number_literal("1.50")                      Literal(Decimal("1.50"), DECIMAL(3,2))
    coerce(Literal("1998-12-01", VARCHAR), DATE)    Literal(date(1998, 12, 1), DATE)
    literal_sql(Literal(5, BIGINT))             CAST(5 AS BIGINT)

``coerce`` reads what DuckDB reads in the same way or not at all. Times of day, UUIDs and INTERVALs are
held as their text.
"""

from __future__ import annotations

import ctypes
import datetime
import math
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext

from dpsql.functions import Argument, ArgumentError
from dpsql.functions.core.ranges import ordinal
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
)
from dpsql.ir.scalar import Literal
from dpsql.policy.domain import enum_members

_WHOLE = re.compile(r"[+-]?[0-9]{1,39}")
_POINT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_FLOAT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
_CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(\.(?P<part>[0-9]{1,6}))?"
_TIME = re.compile(_CLOCK)
_MOMENT = re.compile(
    rf"(?P<date>[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}})([ T]{_CLOCK}(?P<zone>Z|[+-][0-9]{{2}}(:[0-9]{{2}})?)?)?"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TRUTH = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def number_literal(text: str) -> Literal:
    """The constant that a number in the text is."""
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
    raise ArgumentError(f"the number {text[:50]} is too large", "no type holds it")


def decimal_type(value: Decimal) -> Type | None:
    """The type of a decimal constant as DuckDB reads its text; None when it is read as a DOUBLE."""
    if not value.is_finite():
        return None
    whole, _, part = format(value.copy_abs(), "f").partition(".")
    width = len(whole) + len(part)
    return decimal(width, len(part)) if width <= WIDEST else None


def literal_fact(literal: Literal) -> Fact:
    """What is known of a constant: everything."""
    value, own = literal.value, literal.type
    if value is None:
        return Fact(own, Categories(()), nullable=True)
    if own.numeric or own.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        return Fact(own, Interval(ordinal(value), ordinal(value)), nullable=False)
    return Fact(own, Categories((value,)), nullable=False)


def constant(literal: Literal) -> Argument:
    return Argument(literal_fact(literal), literal)


def as_own(value: Value, own: Type) -> Value:
    """A constant as a value that a column of this type can hold; None where it can hold no such value."""
    if isinstance(value, bool) != (own.kind is Kind.BOOLEAN):
        return None
    match value:
        case int() | float() | Decimal() if own.kind is Kind.INTEGER:
            found: Value = int(value) if math.isfinite(value) and value == int(value) else None
        case int() | Decimal() if own.kind is Kind.DECIMAL:
            found = Decimal(value)
        case int() | float() | Decimal() if own.kind is Kind.FLOAT:
            found = float(value)
        case datetime.datetime() if own == DATE:
            whole = value.time() == datetime.time() and value.tzinfo is None
            found = value.date() if whole else None
        case datetime.datetime():
            found = value
        case datetime.date() if own.kind is Kind.TIMESTAMP:
            found = datetime.datetime.combine(value, datetime.time())
        case _:
            found = value
    if found is None or (own.sql.startswith("ENUM(") and found not in enum_members(own.sql)):
        return None
    try:
        literal_sql(Literal(found, own))
    except ArgumentError:
        return None
    return found


def literal_sql(literal: Literal) -> str:
    """SQL of exactly this value and type."""
    value, own = literal.value, literal.type
    match value:
        case None:
            return "NULL" if own == NULL else f"CAST(NULL AS {own.sql})"
        case bool() if own == BOOLEAN:
            return "TRUE" if value else "FALSE"
        case int() if (
            not isinstance(value, bool) and own.kind is Kind.INTEGER and holds(own, Interval(value, value))
        ):
            plain = f"(-{-value})" if value < 0 else str(value)
            return plain if integer_type(value) == own else f"CAST({plain} AS {own.sql})"
        case Decimal() if own.kind is Kind.DECIMAL and value.is_finite():
            plain = format(value.copy_abs(), "f")
            text = f"(-{plain})" if value < 0 else plain
            return text if "." in plain and decimal_type(value) == own else f"CAST('{value:f}' AS {own.sql})"
        case float() if own.kind is Kind.FLOAT and math.isfinite(value):
            text = repr(abs(value))
            text = text if "e" in text else text + "e0"
            text = f"(-{text})" if math.copysign(1, value) < 0 else text
            return text if own == DOUBLE else f"CAST({text} AS {own.sql})"
        case datetime.datetime() if own.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
            if (value.tzinfo is None) == (own.kind is Kind.TIMESTAMP):
                return f"CAST({quoted(_moment(value))} AS {own.sql})"
        case datetime.date() if own == DATE and not isinstance(value, datetime.datetime):
            return f"CAST('{value.isoformat()}' AS DATE)"
        case str() if own.kind in (Kind.TEXT, Kind.TIME, Kind.UUID, Kind.INTERVAL):
            return quoted(value) if own.sql == "VARCHAR" else f"CAST({quoted(value)} AS {own.sql})"
        case _:
            pass
    raise ArgumentError(
        f"a constant cannot be {'infinite or ' if isinstance(value, float) else ''}of this kind here"
    )


def _moment(value: datetime.datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat(sep=" ")
    return value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(sep=" ") + "+00"


def quoted(text: str) -> str:
    """A string constant; a zero byte, which no statement may hold, becomes chr(0)."""
    parts = ["'" + each.replace("'", "''") + "'" for each in text.split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"


def coerce(literal: Literal, type: Type) -> Literal | None:
    """The constant as a value of the type, as DuckDB would read it; None where we do not know that."""
    value = literal.value
    if literal.type == type:
        return literal
    read = None if value is None else _read(value, type)
    return None if read is None and value is not None else Literal(read, type, literal.span)


def _read(value: Value, type: Type) -> Value:
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
            return None if isinstance(value, bool) else _to_decimal(value, type)
        case Kind.FLOAT:
            if text is not None:
                value = float(text) if _FLOAT.fullmatch(text) else None
            if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
                return None
            read = float(value) if type == DOUBLE else float(ctypes.c_float(float(value)).value)
            return read if math.isfinite(read) else None
        case Kind.BOOLEAN:
            return _TRUTH.get(text.lower()) if text is not None else None
        case Kind.TEXT:
            return value if isinstance(value, str) and type.sql == "VARCHAR" else None
        case Kind.DATE:
            return None if text is None else _date(text)
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
                return _midnight(value) if type == TIMESTAMP else None
            found = None if text is None else _MOMENT.fullmatch(text)
            return None if found is None else _timestamp(found, type)
        case Kind.TIME:
            found = None if text is None else _TIME.fullmatch(text)
            return text if found and _clock(found) is not None else None
        case Kind.UUID:
            return text.lower() if text is not None and _UUID.fullmatch(text) else None
        case _:
            return None


def _to_decimal(value: Value, type: Type) -> Decimal | None:
    if not isinstance(value, int | Decimal):
        return None
    width, scale = digits(type)
    with localcontext() as context:
        context.prec = 200
        read = Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        return read if abs(read) < Decimal(10) ** (width - scale) else None


def _date(text: str) -> datetime.date | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        return datetime.date(*map(int, text.split("-")))
    except ValueError:
        return None


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime(day.year, day.month, day.day)


def _clock(found: re.Match[str]) -> datetime.time | None:
    if found["hour"] is None:
        return datetime.time()
    part = (found["part"] or "").ljust(6, "0")
    try:
        return datetime.time(int(found["hour"]), int(found["minute"]), int(found["second"]), int(part))
    except ValueError:
        return None


def _timestamp(found: re.Match[str], type: Type) -> datetime.datetime | None:
    day, clock, zone = _date(found["date"]), _clock(found), found["zone"]
    if day is None or clock is None or (zone is None) != (type.kind is Kind.TIMESTAMP):
        return None
    if zone is None:
        short = clock.microsecond == 0 and 1678 <= day.year <= 2261  # what TIMESTAMP_S and _NS hold too
        return datetime.datetime.combine(day, clock) if type == TIMESTAMP or short else None
    try:  # the time zone is in the text, so that no setting of the session has a say
        return datetime.datetime.fromisoformat(f"{day}T{clock}{zone}").astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None

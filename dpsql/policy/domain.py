"""A declared range or list, converted to the column's type: the numbers that the engine clips to.

    DATE        range = [1970-01-02, 1970-01-03]    Interval(1, 2)    days since 1970-01-01
    TIMESTAMP   range = [1970-01-01, 1970-01-01]    Interval(0, 86399999999)    its whole last day
    TINYINT     range = [0.5, 1000]                 Interval(1, 127)    the part that the type can hold
    DECIMAL     values = [0.5]  of DECIMAL(4,2)     Categories((Decimal("0.50"),))
    ENUM        values = ["a"]                      Categories(("a",)), "a" being a member

    VARCHAR[]   length = 5                          Sized(5)    at most 5 items

A range or list that the type cannot hold is a ``Mismatch``: the policy was written for another column.
"""

from __future__ import annotations

import datetime
import decimal
import math
import struct
import zoneinfo
from decimal import Decimal

from dpsql.ir.column import (
    Categories,
    Interval,
    Kind,
    Number,
    Sized,
    Type,
    Value,
    decimal_size,
    enum_members,
    item_type,
    type_range,
)
from dpsql.policy.model import Bound

_DAY_ONE = datetime.date(1970, 1, 1)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Mismatch(Exception):
    """A declaration that does not fit the column's type; ``at`` is the position of the wrong value."""

    def __init__(self, why: str, at: int | None = None, help: str = "") -> None:
        super().__init__(why)
        self.at = at
        self.help = help


def interval_of(type: Type, ends: tuple[Bound, Bound], timezone: str) -> Interval:
    """Convert a declared range to the column's own numbers."""
    low, high = ends
    match type.kind:
        case Kind.INTEGER | Kind.DECIMAL | Kind.FLOAT:
            return _numbers(type, low, high)
        case Kind.DATE:
            return Interval(_days(low, 0), _days(high, 1))
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            zone = timezone if type.kind is Kind.TIMESTAMPTZ else None
            return _moments(low, high, zone)
        case _:
            raise Mismatch(f"a column of type {shown(type)} has no range", help=_help_instead(type))


def _help_instead(type: Type) -> str:
    match type.kind:
        case Kind.TEXT:
            return 'list its possible values: { values = ["..."] }; or leave the range out'
        case Kind.BOOLEAN:
            return "a BOOLEAN needs no range: { }"
        case _:
            return "leave the range out: { }"


def _numbers(type: Type, low: Bound, high: Bound) -> Interval:
    if isinstance(low, datetime.date) or isinstance(high, datetime.date):
        raise Mismatch(f"the range of a column of type {shown(type)} must be two numbers")
    if type.kind is Kind.INTEGER:
        low, high = math.ceil(low), math.floor(high)
    if type.kind is not Kind.FLOAT:
        most = type_range(type)
        low, high = max(low, _whole(most.low)), min(high, _whole(most.high))
    if low > high:
        raise Mismatch(f"no value of type {shown(type)} lies in this range")
    return Interval(low, high)


def _whole(number: Number) -> Number:
    return int(number) if math.isfinite(number) else number


def _days(end: Bound, at: int) -> int:
    if isinstance(end, datetime.datetime) or not isinstance(end, datetime.date):
        raise Mismatch("the range of a DATE column must be two dates", at, "range = [1900-01-01, 2030-12-31]")
    return (end - _DAY_ONE).days


def _moments(low: Bound, high: Bound, zone: str | None) -> Interval:
    ends = []
    for at, end in enumerate((low, high)):
        if not isinstance(end, datetime.date):
            raise Mismatch("the range of a TIMESTAMP column must be two dates or date-times", at)
        if isinstance(end, datetime.datetime):
            moment = end
        else:  # a date alone is the whole day
            moment = datetime.datetime.combine(end, datetime.time.min if at == 0 else datetime.time.max)
        if moment.tzinfo is not None and zone is None:
            raise Mismatch("a TIMESTAMP without time zone has no offset", at, "leave the offset out")
        ends.append(_microseconds(moment, zone))
    if ends[0] > ends[1]:
        raise Mismatch("this range is empty in the policy's time zone")
    return Interval(*ends)


def _microseconds(moment: datetime.datetime, zone: str | None) -> int:
    if moment.tzinfo is None:
        utc = datetime.UTC
        moment = moment.replace(tzinfo=utc if zone in (None, "UTC") else zoneinfo.ZoneInfo(str(zone)))
    return (moment - _EPOCH) // _MICROSECOND


def categories_of(type: Type, listed: tuple[Value, ...]) -> Categories:
    """Convert a declared list to values of the column's type."""
    values: list[Value] = []
    seen: set[Value] = set()
    members = frozenset(enum_members(type.sql)) if type.sql.startswith("ENUM(") else None
    for at, value in enumerate(listed):
        converted = _convert(type, value, at)
        if members is not None and converted not in members:
            raise Mismatch("the column's ENUM has no such member", at)
        if converted in seen:
            raise Mismatch(f"as {shown(type)} this value is listed twice", at)
        seen.add(converted)
        values.append(converted)
    return Categories(tuple(values))


def _convert(type: Type, value: Value, at: int) -> Value:
    """Convert one value to the column's Python type, or raise Mismatch."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match type.kind:
        case Kind.BOOLEAN if isinstance(value, bool):
            return value
        case Kind.TEXT if isinstance(value, str):
            return value
        case Kind.DATE if isinstance(value, datetime.date):
            return value
        case Kind.INTEGER if is_number and isinstance(value, int):
            most = type_range(type)
            if most.low <= value <= most.high:
                return value
        case Kind.DECIMAL if is_number:
            return _decimal(type, Decimal(str(value)), at)
        case Kind.FLOAT if is_number and isinstance(value, int | float):
            return _float(type, value, at)
        case Kind.BOOLEAN | Kind.TEXT | Kind.DATE | Kind.INTEGER | Kind.DECIMAL | Kind.FLOAT:
            pass
        case _:
            raise Mismatch(f"a column of type {shown(type)} has no list of values", help="leave it out: { }")
    raise Mismatch(f"this is no value of type {shown(type)}", at)


def _decimal(type: Type, value: Decimal, at: int) -> Decimal:
    width, scale = decimal_size(type)
    with decimal.localcontext(prec=100):  # the widest DECIMAL has 38 digits; the usual context rounds to 28
        shifted = value.scaleb(scale)
        if shifted != shifted.to_integral_value() or abs(shifted) >= 10**width:
            raise Mismatch(f"this is no value of type {shown(type)}", at)
        return Decimal(int(shifted)).scaleb(-scale)


def _float(type: Type, value: int | float, at: int) -> float:
    try:
        if type.sql == "FLOAT":  # the nearest 32-bit number, which is equal to the column's value
            return float(struct.unpack("<f", struct.pack("<f", value))[0]) + 0.0
        return float(value) + 0.0  # never -0.0
    except OverflowError:
        raise Mismatch(f"this is no value of type {shown(type)}", at) from None


def size_of(type: Type, most: int) -> Sized:
    """Return a declared length, of a text or a list."""
    if type.kind is not Kind.TEXT and item_type(type) is None:
        raise Mismatch(f"a column of type {shown(type)} has no length", help="leave the length out: { }")
    return Sized(most)


def shown(type: Type) -> str:
    """Return the type as shown to people, without the members of an ENUM."""
    return type.said

"""Values of an answer as PostgreSQL's clients read them: DuckDB's type -> an oid, a text, a binary form.

    DECIMAL(9,2)   oid 1700   12.34        00 02 00 00 00 00 00 02 00 0c 0d 48
    HUGEINT        oid 1700   -170141...   what PostgreSQL has no integer for is numeric
    INTEGER[]      oid 25     [1, 2]       lists, structs and maps are text, as JSON

Dates beyond Python's come from the engine as text ('290000-01-01', '0044-03-15 (BC)') and are counted here.
Test: tests/unit/test_server_values.py
"""

from __future__ import annotations

import datetime
import re
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from dpsql.lazy_dataclass import dataclass
from dpsql.render.digits import plain

BOOL, BYTEA, INT8, INT2, INT4, TEXT, JSON, FLOAT4, FLOAT8 = 16, 17, 20, 21, 23, 25, 114, 700, 701
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, TIMETZ, NUMERIC, UUID = (
    *(1082, 1083, 1114, 1184, 1186, 1266, 1700),
    2950,
)
EPOCH = datetime.date(2000, 1, 1).toordinal()
_DAY = 86_400_000_000
_FAR = re.compile(r"(\d{4,})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?(\+00)?( \(BC\))?")


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of PostgreSQL; ``size`` is -1 where it varies."""

    oid: int
    size: int
    text: Callable[[Any], str]
    binary: Callable[[Any], bytes]
    modifier: int = -1

    def encode(self, value: Any, format: int) -> bytes | None:
        if value is None:
            return None
        return self.binary(value) if format else self.text(value).encode("utf-8", "replace")


def kind_of(sql: str) -> Kind:
    """Return the type for DuckDB's spelling of a type."""
    if sql.startswith("DECIMAL(") and sql.endswith(")"):
        width, _, scale = sql[8:-1].partition(",")
        return Kind(NUMERIC, -1, _decimal, _numeric, ((int(width) << 16) | int(scale or 0)) + 4)
    return _KINDS.get(sql, _TEXT)


# ---- as text -----------------------------------------------------------------------------------------


def _bool(value: Any) -> str:
    return "t" if value else "f"


def _decimal(value: Any) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _double(value: Any) -> str:
    text = repr(float(value))
    return _NAMES.get(text, text)


_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _float(value: Any) -> str:
    """Return the shortest text that gives the same number of four bytes."""
    for digits in range(6, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            break
    return _NAMES.get(text, text)


def _bytea(value: Any) -> str:
    return "\\x" + bytes(value).hex()


def _moment(value: Any) -> str:
    if isinstance(value, str):
        return _sign(value)
    text = value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    return str(re.sub(r"([+-]\d\d):00$", r"\1", text))


def _sign(text: str) -> str:
    """Write a year before Christ as PostgreSQL does."""
    return text.replace(" (BC)", " BC")


def _interval(value: Any) -> str:
    if isinstance(value, str):
        return value
    days, rest = _split(value)
    seconds, micros = divmod(abs(rest), 1_000_000)
    clock = f"{'-' if rest < 0 else ''}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{days} days {clock}" + (f".{micros:06}" if micros else "")


def _split(value: datetime.timedelta) -> tuple[int, int]:
    """Return days and microseconds of one sign."""
    total = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
    days = abs(total) // _DAY * (1 if total >= 0 else -1)
    return days, total - days * _DAY


# ---- as bytes ----------------------------------------------------------------------------------------


def _int(size: int) -> Callable[[Any], bytes]:
    return lambda value: int(value).to_bytes(size, "big", signed=True)


def _numeric(value: Any) -> bytes:
    """Encode digits to the base 10,000: how many, the weight of the first, sign, scale."""
    number = value if isinstance(value, Decimal) else Decimal(value)
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return struct.pack("!HhHH", 0, 0, 0xC000, 0)
    scale = max(0, -exponent)
    text = "".join(map(str, digits)) + "0" * max(0, exponent)
    point = max(0, len(text) - scale)
    whole, part = text[:point], text[point:].rjust(scale, "0")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    part = part.ljust(-(-scale // 4) * 4, "0")
    groups = [int((whole + part)[at : at + 4]) for at in range(0, len(whole + part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    head = struct.pack("!HhHH", len(groups), weight if groups else 0, 0x4000 if sign else 0, scale)
    return head + struct.pack(f"!{len(groups)}H", *groups)


def _date(value: Any) -> bytes:
    days = _far(value) // _DAY if isinstance(value, str) else value.toordinal() - EPOCH
    return _int(4)(days)


def _timestamp(value: Any) -> bytes:
    if isinstance(value, str):
        return _int(8)(_far(value))
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC)
    return _int(8)(_DAY * (value.toordinal() - EPOCH) + _micros(value))


def _micros(value: Any) -> int:
    """Return the microseconds since midnight; 24:00:00 comes as text."""
    if isinstance(value, str):
        hours, minutes, seconds = value.split(":")
        return (int(hours) * 60 + int(minutes)) * 60_000_000 + int(Decimal(seconds) * 1_000_000)
    whole = (int(value.hour) * 60 + int(value.minute)) * 60 + int(value.second)
    return whole * 1_000_000 + int(value.microsecond)


def _far(text: str) -> int:
    """Return the microseconds since 2000 of a moment that is beyond Python's, in the Gregorian calendar."""
    found = _FAR.fullmatch(text)
    if found is None:
        raise ValueError("this is no moment")
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    year = 1 - year if found[9] else year
    cycles, year = divmod(year - 2000, 400)  # 400 years have 146,097 days, always the same ones
    days = cycles * 146_097 + datetime.date(2000 + year, month, day).toordinal() - EPOCH
    micros = 0
    if found[4]:
        micros = ((int(found[4]) * 60 + int(found[5])) * 60 + int(found[6])) * 1_000_000
        micros += int((found[7] or "0").ljust(6, "0"))
    return days * _DAY + micros


def _time(value: Any) -> bytes:
    return _micros(value).to_bytes(8, "big")


def _timetz(value: Any) -> bytes:
    offset = value.utcoffset() or datetime.timedelta()
    return _time(value) + (-int(offset.total_seconds())).to_bytes(4, "big", signed=True)


def _interval_bytes(value: Any) -> bytes:
    days, micros = _split(value)
    return struct.pack("!qii", micros, days, 0)


def _uuid(value: Any) -> bytes:
    return (value if isinstance(value, uuid.UUID) else uuid.UUID(value)).bytes


def _word(value: Any) -> bytes:
    return plain(value).encode("utf-8", "replace")


_TEXT = Kind(TEXT, -1, plain, _word)
_HUGE = Kind(NUMERIC, -1, _decimal, _numeric)
_STAMP = Kind(TIMESTAMP, 8, _moment, _timestamp)
_KINDS = {
    "BOOLEAN": Kind(BOOL, 1, _bool, lambda value: b"\1" if value else b"\0"),
    **dict.fromkeys(("TINYINT", "SMALLINT", "UTINYINT"), Kind(INT2, 2, str, _int(2))),
    **dict.fromkeys(("INTEGER", "USMALLINT"), Kind(INT4, 4, str, _int(4))),
    **dict.fromkeys(("BIGINT", "UINTEGER"), Kind(INT8, 8, str, _int(8))),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT"), _HUGE),
    "FLOAT": Kind(FLOAT4, 4, _float, lambda value: struct.pack("!f", value)),
    "DOUBLE": Kind(FLOAT8, 8, _double, lambda value: struct.pack("!d", value)),
    "DATE": Kind(DATE, 4, _moment, _date),
    "TIME": Kind(TIME, 8, _moment, _time),
    "TIME WITH TIME ZONE": Kind(TIMETZ, 12, _moment, _timetz),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), _STAMP),
    "TIMESTAMP WITH TIME ZONE": Kind(TIMESTAMPTZ, 8, _moment, _timestamp),
    "INTERVAL": Kind(INTERVAL, 16, _interval, _interval_bytes),
    "UUID": Kind(UUID, 16, str, _uuid),
    "BLOB": Kind(BYTEA, -1, _bytea, bytes),
    "JSON": Kind(JSON, -1, plain, _word),
}

"""The values that clients bind to the parameters of a statement (parse/marks.py).

They come as text or bytes, of a type that the client names; else of that which the statement compares them
with (inference.py), else text.
Test: tests/unit/test_server_values.py
"""

from __future__ import annotations

import datetime
import re
import struct
import uuid
from decimal import Decimal, InvalidOperation

from dpsql.ir.column import Value
from dpsql.server import encoding
from dpsql.server.messages import NotText, as_text


class BadValue(Exception):
    """A value does not fit its type; ``state`` is the sqlstate."""

    def __init__(self, message: str, state: str = "22P02", hint: str = "") -> None:
        super().__init__(message)
        self.message, self.state, self.hint = message, state, hint


def value_of(oid: int, format: int, data: bytes | None) -> Value:
    """Return a bound value."""
    if data is None:
        return None
    try:
        return _binary(oid, data) if format else _text(oid, as_text(data))
    except (ValueError, OverflowError, InvalidOperation, struct.error, UnicodeDecodeError):
        raise BadValue(f"a value is no {_NAMES.get(oid, 'value')} of its type", "22P02") from None
    except NotText as error:
        raise BadValue(str(error), "22021") from None


_NAMES = {encoding.BOOL: "boolean", encoding.DATE: "date", encoding.NUMERIC: "number", encoding.UUID: "uuid"}
_INTEGERS = {encoding.INT2: 2, encoding.INT4: 4, encoding.INT8: 8, 26: 4}
_TEXTS = {0, 18, 19, 25, 114, 705, 1042, 1043}
_LISTS = {1000: 16, 1002: 18, 1003: 19, 1005: 21, 1007: 23, 1009: 25, 1015: 1043, 1016: 20, 1028: 26}
"""Types of arrays, and of their items."""
_TRUE = {"t", "true", "y", "yes", "on", "1"}
_FALSE = {"f", "false", "n", "no", "off", "0"}


def _text(oid: int, text: str) -> Value:
    if oid in _INTEGERS:
        return int(text)
    if oid == encoding.BOOL:
        word = text.strip().lower()
        if word not in _TRUE | _FALSE:
            raise ValueError
        return word in _TRUE
    if oid in (encoding.FLOAT4, encoding.FLOAT8):
        return float(text)
    if oid == encoding.NUMERIC:
        return Decimal(text)
    if oid == encoding.DATE:
        return datetime.date.fromisoformat(text.strip()[:10])
    if oid == encoding.TIMESTAMP:
        return datetime.datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    if oid == encoding.TIMESTAMPTZ:
        moment = datetime.datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    if oid == encoding.UUID:
        return str(uuid.UUID(text))
    if oid in _LISTS:
        return [None if item is None else _text(_LISTS[oid], item) for item in _items(text)]  # type: ignore[return-value]  # dpsql refuses lists, with a help; the catalogue takes them
    if oid == encoding.BYTEA:
        raise _unknown(oid)
    return text


def _items(text: str) -> list[str | None]:
    """Read an array of one dimension: {a,"b c",NULL}."""
    if len(text) > _LONGEST_LIST or not (text.startswith("{") and text.endswith("}")):
        raise ValueError
    inside, items, at = text[1:-1], list[str | None](), 0
    while at < len(inside):
        found = _ITEM.match(inside, at)  # nothing is tried twice: a long text takes no longer than it is
        if found is None:
            raise ValueError
        quoted, bare, at = found[1], found[2], found.end()
        if bare is None:
            items.append(re.sub(r"\\(.)", r"\1", quoted))
        else:
            items.append(None if bare.upper() == "NULL" else bare)
    return items


_ITEM = re.compile(r'(?:"((?:[^"\\]|\\.)*+)"|([^",{}]++))(?:,|\Z)')
_LONGEST_LIST = 100_000
"""Characters or bytes of an array: what clients send of names and types is far shorter."""


def _binary(oid: int, data: bytes) -> Value:
    if oid in _INTEGERS:
        if len(data) != _INTEGERS[oid]:
            raise ValueError
        return int.from_bytes(data, "big", signed=oid != 26)
    if oid == encoding.BOOL:
        if data not in (b"\0", b"\1"):
            raise ValueError
        return data == b"\1"
    if oid == encoding.FLOAT4:
        return float(struct.unpack("!f", data)[0])
    if oid == encoding.FLOAT8:
        return float(struct.unpack("!d", data)[0])
    if oid == encoding.NUMERIC:
        return _numeric(data)
    if oid == encoding.DATE:
        (days,) = struct.unpack("!i", data)
        return datetime.date.fromordinal(encoding.EPOCH + days)
    if oid in (encoding.TIMESTAMP, encoding.TIMESTAMPTZ):
        (micros,) = struct.unpack("!q", data)
        zone = datetime.UTC if oid == encoding.TIMESTAMPTZ else None
        return datetime.datetime(2000, 1, 1, tzinfo=zone) + datetime.timedelta(microseconds=micros)
    if oid == encoding.UUID:
        return str(uuid.UUID(bytes=data))
    if oid in _TEXTS:
        return as_text(data)
    if oid in _LISTS:
        return _list(data, _LISTS[oid])  # type: ignore[return-value]  # as above
    raise _unknown(oid)


def _list(data: bytes, of: int) -> list[Value]:
    """Read an array of one dimension, of items of this type."""
    dimensions, _, oid = struct.unpack("!iiI", data[:12])
    if oid != of or len(data) > _LONGEST_LIST:
        raise ValueError
    count = struct.unpack("!i", data[12:16])[0] if dimensions == 1 else 0
    if dimensions not in (0, 1) or not 0 <= count <= len(data):
        raise ValueError
    items: list[Value] = []
    at = 20
    for _ in range(count):
        (size,) = struct.unpack("!i", data[at : at + 4])
        at += 4 + max(0, size)
        items.append(None if size == -1 else _binary(oid, data[at - max(0, size) : at]))
    return items


def _numeric(data: bytes) -> Decimal:
    count, weight, sign, _ = struct.unpack("!HhHH", data[:8])
    groups = struct.unpack(f"!{count}H", data[8:])
    if sign not in (0, 0x4000) or any(group > 9999 for group in groups) or count > 64 or abs(weight) > 64:
        raise ValueError
    digits = "".join(f"{group:04}" for group in groups) or "0"
    return Decimal(f"{'-' if sign else ''}{digits}E{4 * (weight - count + 1)}")


def _unknown(oid: int) -> BadValue:
    return BadValue(
        f"a value of the type {oid} is not read here",
        "0A000",
        "bind numbers, texts, booleans, dates, timestamps; for a list write IN ($1, $2)",
    )

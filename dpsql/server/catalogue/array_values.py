"""Values of the types that only catalogues have, as clients read them: oid, "char", name, arrays, vectors.

    encoded(["a", None], 1009, binary=False)     {a,NULL}
    encoded(16384, 26, binary=True)              00 00 40 00
    decoded(b"\\0\\0@\\0", 26)                     16384

Test: tests/server/test_catalogue_values.py
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

_ELEMENTS = {
    1000: 16,
    1002: 18,
    1003: 19,
    1016: 20,
    1005: 21,
    22: 21,
    1007: 23,
    1009: 25,
    1015: 1043,
    1028: 26,
    30: 26,
}
"""Types of arrays and vectors, and of their items."""
_VECTORS = (22, 30)
_SIZES = {16: 1, 18: 1, 19: 64, 20: 8, 21: 2, 23: 4, 26: 4, 700: 4, 701: 8}
_PACKED = {20: "!q", 21: "!h", 23: "!i", 26: "!I", 700: "!f", 701: "!d"}


def size_of(oid: int) -> int:
    """Return the number of bytes of a type's values, -1 where it varies: for descriptions of rows."""
    return _SIZES.get(oid, -1)


def encoded(value: object, oid: int, binary: bool) -> bytes | None:
    """Return a value of a catalogue's answer as text or in binary form; None is NULL."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return _binary_array(value, oid) if binary else _text_array(value, oid).encode()
    if binary and oid in _PACKED and isinstance(value, int | float):
        return struct.pack(_PACKED[oid], value)
    if binary and oid == 16:
        return b"\1" if value else b"\0"
    return _text(value).encode("utf-8", "replace")


def _text(value: object) -> str:
    return ("t" if value else "f") if isinstance(value, bool) else str(value)


def _text_array(values: Sequence[object], oid: int) -> str:
    if oid in _VECTORS:
        return " ".join(map(_text, values))
    return "{" + ",".join("NULL" if value is None else _quoted(_text(value)) for value in values) + "}"


def _quoted(text: str) -> str:
    plain = text and text.upper() != "NULL" and not set(text) & set('{}",\\ \t\n\r\v\f')
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _binary_array(values: Sequence[object], oid: int) -> bytes:
    """Return dimensions, the type of the items, and each item with its length."""
    element = _ELEMENTS.get(oid, 25)
    dimensions = (
        struct.pack("!ii", len(values), 0 if oid in _VECTORS else 1) if values or oid in _VECTORS else b""
    )
    head = struct.pack("!iiI", 1 if dimensions else 0, int(any(value is None for value in values)), element)
    return head + dimensions + b"".join(map(_item(element), values))


def _item(element: int) -> Callable[[object], bytes]:
    def item(value: object) -> bytes:
        made = encoded(value, element, binary=True)
        return struct.pack("!i", -1) if made is None else struct.pack("!i", len(made)) + made

    return item


def decoded(data: bytes, oid: int) -> object:
    """Return the value of a parameter in binary form; ValueError if it is none of these types."""
    if oid in _PACKED and len(data) == _SIZES[oid]:
        return struct.unpack(_PACKED[oid], data)[0]
    if oid == 16 and len(data) == 1:
        return data != b"\0"
    if oid in (18, 19, 25, 1043):
        return data.decode()
    if oid not in _ELEMENTS:
        raise ValueError("a type that no catalogue has")
    try:
        dimensions, _, element = struct.unpack_from("!iiI", data)
        count = struct.unpack_from("!i", data, 12)[0] if dimensions else 0
    except struct.error:
        raise ValueError("this is no array") from None
    if dimensions not in (0, 1) or element != _ELEMENTS[oid] or not 0 <= count <= len(data):
        raise ValueError("this is no array of one dimension")
    values: list[object] = []
    at = 20
    for _ in range(count):
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        at += 4
        if size > len(data) - at or (size < 0 and size != -1):
            raise ValueError("this array is cut off")
        values.append(None if size < 0 else decoded(data[at : at + size], element))
        at += max(0, size)
    return values

"""Messages of PostgreSQL's protocol 3.0: bytes -> a message of the client, and fields -> bytes of ours.

    b"Q" 00 00 00 0d "SELECT 1" 00      Query("SELECT 1")

Reading is total: any bytes give a message or ``Malformed``. Nothing is trusted, lengths least of all.
Test: tests/unit/test_server_messages.py, tests/drivers/test_server_garbage.py
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from dpsql.lazy_dataclass import dataclass

SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
_MOST_FORMATS = 65_535


class Malformed(Exception):
    """These bytes are no message: the connection cannot go on."""


class NotText(Exception):
    """A text is not UTF-8, or holds a zero byte: the statement fails, and the connection goes on."""


# ---- what clients send -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Startup:
    """``minor`` is the version asked for, 3.minor."""

    minor: int
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EncryptionRequest:
    tls: bool


@dataclass(frozen=True, slots=True)
class CancelRequest:
    key: bytes


@dataclass(frozen=True, slots=True)
class Query:
    sql: str


@dataclass(frozen=True, slots=True)
class Parse:
    name: str
    sql: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    portal: bool
    name: str


@dataclass(frozen=True, slots=True)
class Execute:
    portal: str
    most: int


@dataclass(frozen=True, slots=True)
class Close:
    portal: bool
    name: str


@dataclass(frozen=True, slots=True)
class Sync:
    pass


@dataclass(frozen=True, slots=True)
class Flush:
    pass


@dataclass(frozen=True, slots=True)
class Terminate:
    pass


@dataclass(frozen=True, slots=True)
class FunctionCall:
    pass


@dataclass(frozen=True, slots=True)
class CopyMessage:
    """Part of a COPY FROM, which the server never starts: it is passed over."""


Message: TypeAlias = (
    Query | Parse | Bind | Describe | Execute | Close | Sync | Flush | Terminate | FunctionCall | CopyMessage
)


class _Fields:
    """Reads the fields of a message's body, one after the other."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def raw(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._body):
            raise Malformed("a field is longer than its message")
        self._at += size
        return self._body[self._at - size : self._at]

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Malformed("a text does not end")
        part, self._at = self._body[self._at : end], end + 1
        return as_text(part)

    def int16(self) -> int:
        return int.from_bytes(self.raw(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.raw(4), "big", signed=True)

    def count(self) -> int:
        return int.from_bytes(self.raw(2), "big")

    def end(self) -> None:
        if self._at != len(self._body):
            raise Malformed("a message is longer than its fields")


def as_text(part: bytes) -> str:
    """Decode a text of a client."""
    try:
        text = part.decode()
    except UnicodeDecodeError:
        raise NotText("a text is not UTF-8") from None
    if "\0" in text:
        raise NotText("a text holds a zero byte")
    return text


def startup(body: bytes) -> Startup | EncryptionRequest | CancelRequest:
    """Read the first message, after its length; it has no type."""
    fields = _Fields(body)
    code = fields.int32()
    if code in (SSL_REQUEST, GSS_REQUEST):
        fields.end()
        return EncryptionRequest(code == SSL_REQUEST)
    if code == CANCEL_REQUEST:
        return CancelRequest(fields.raw(len(body) - 4))
    if code >> 16 != 3:
        raise Malformed("this is not version 3 of the protocol")
    parameters: dict[str, str] = {}
    while name := _word(fields):
        parameters[name] = _word(fields)
    fields.end()
    return Startup(code & 0xFFFF, parameters)


def _word(fields: _Fields) -> str:
    try:
        return fields.text()
    except NotText as error:
        raise Malformed(str(error)) from None


def message(kind: bytes, body: bytes) -> Message:
    """Read a message of a client that has logged in."""
    fields = _Fields(body)
    match kind:
        case b"Q":
            result: Message = Query(fields.text())
        case b"P":
            name, sql = fields.text(), fields.text()
            result = Parse(name, sql, tuple(fields.int32() & 0xFFFFFFFF for _ in range(fields.count())))
        case b"B":
            portal, statement = fields.text(), fields.text()
            formats = _formats(fields)
            values = tuple(_value(fields) for _ in range(fields.count()))
            result = Bind(portal, statement, formats, values, _formats(fields))
        case b"D" | b"C":
            sort = fields.raw(1)
            if sort not in (b"S", b"P"):
                raise Malformed("neither a statement nor a portal")
            result = (Describe if kind == b"D" else Close)(sort == b"P", fields.text())
        case b"E":
            result = Execute(fields.text(), fields.int32())
        case b"S" | b"H" | b"X":
            result = Sync() if kind == b"S" else Flush() if kind == b"H" else Terminate()
        case b"F":
            return FunctionCall()
        case b"d" | b"c" | b"f":
            return CopyMessage()
        case _:
            raise Malformed("a message of an unknown type")
    fields.end()
    return result


def _formats(fields: _Fields) -> tuple[int, ...]:
    formats = tuple(fields.int16() for _ in range(fields.count()))
    if not set(formats) <= {0, 1}:
        raise Malformed("a format is neither text nor binary")
    return formats


def _value(fields: _Fields) -> bytes | None:
    size = fields.int32()
    return None if size == -1 else fields.raw(size)


def sasl_initial(body: bytes) -> tuple[str, bytes]:
    """Read the name of a mechanism and the client's first message."""
    fields = _Fields(body)
    name, size = _word(fields), fields.int32()
    data = fields.raw(size) if size != -1 else b""
    fields.end()
    return name, data


# ---- what the server sends --------------------------------------------------------------------------------


def made(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return kind + (len(body) + 4).to_bytes(4, "big") + body


def _string(text: str) -> bytes:
    return text.replace("\0", "").encode("utf-8", "replace") + b"\0"


def _int16(number: int) -> bytes:
    return number.to_bytes(2, "big")


def _int32(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "big")


def authentication(code: int, data: bytes = b"") -> bytes:
    return made(b"R", _int32(code), data)


def sasl_mechanisms(names: Sequence[str]) -> bytes:
    return authentication(10, b"".join(map(_string, names)) + b"\0")


def negotiated(unknown: Sequence[str]) -> bytes:
    """Say that the version is 3.0, and which options of the protocol are unknown."""
    return made(b"v", _int32(0), _int32(len(unknown)), *map(_string, unknown))


def parameter_status(name: str, value: str) -> bytes:
    return made(b"S", _string(name), _string(value))


def backend_key(key: bytes) -> bytes:
    return made(b"K", key)


def ready(state: str) -> bytes:
    return made(b"Z", state.encode())


def fields_message(kind: bytes, fields: Mapping[str, str]) -> bytes:
    """Return an error (``E``) or a notice (``N``)."""
    return made(kind, *(name.encode() + _string(value) for name, value in fields.items() if value), b"\0")


def complete(tag: str) -> bytes:
    return made(b"C", _string(tag))


PARSED, BOUND, CLOSED = made(b"1"), made(b"2"), made(b"3")
NO_DATA, SUSPENDED, EMPTY, COPY_DONE = made(b"n"), made(b"s"), made(b"I"), made(b"c")


def parameter_types(types: Sequence[int]) -> bytes:
    return made(b"t", _int16(len(types)), *map(_int32, types))


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a row description; ``size`` is -1 where it varies, ``modifier`` -1 where there is none."""

    name: str
    oid: int
    size: int
    modifier: int
    format: int


def row_description(fields: Sequence[Field]) -> bytes:
    parts = [
        _string(field.name)
        + struct.pack("!ihIhih", 0, 0, field.oid, field.size, field.modifier, field.format)
        for field in fields
    ]
    return made(b"T", _int16(len(parts)), *parts)


def data_row(cells: Iterable[bytes | None]) -> bytes:
    parts = [b"\xff\xff\xff\xff" if cell is None else _int32(len(cell)) + cell for cell in cells]
    return made(b"D", _int16(len(parts)), *parts)


def copy_out(format: int, columns: int) -> bytes:
    return made(b"H", bytes([format]), _int16(columns), _int16(format) * columns)


def copy_data(data: bytes) -> bytes:
    return made(b"d", data)

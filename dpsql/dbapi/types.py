"""The names that PEP 249 asks for: date constructors, type codes and exceptions."""

from __future__ import annotations

import datetime
import time

from dpsql import errors

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> Date:
    return Date(*_moment(ticks)[:3])


def TimeFromTicks(ticks: float) -> Time:
    return Time(*_moment(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> Timestamp:
    return Timestamp(*_moment(ticks)[:6])


def _moment(ticks: float) -> time.struct_time:
    try:
        moment = time.localtime(float(ticks))
        Date(*moment[:3])
    except (TypeError, ValueError, OverflowError, OSError):
        raise errors.InterfaceError(
            "ticks are seconds since 1970, as a number", help="time.time() returns those of now"
        ) from None
    return moment


class _TypeCode(str):
    """A type code of ``description``, equal to the names of all DuckDB types that it stands for."""

    names: frozenset[str]

    def __new__(cls, name: str, *names: str) -> _TypeCode:
        code = super().__new__(cls, name)
        code.names = frozenset((name, *names))
        return code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.partition("(")[0] in self.names

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


STRING = _TypeCode("VARCHAR", "ENUM", "UUID")
BINARY = _TypeCode("BLOB", "BIT")
NUMBER = _TypeCode(
    "DOUBLE",
    *"FLOAT DECIMAL TINYINT SMALLINT INTEGER BIGINT HUGEINT BOOLEAN".split(),
    *"UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT".split(),
)
DATETIME = _TypeCode(
    *("TIMESTAMP", "DATE", "TIME", "TIMESTAMP WITH TIME ZONE", "INTERVAL"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
)
ROWID = _TypeCode("ROWID")


class Exceptions:
    """The exceptions as attributes of every connection, an optional extension of PEP 249."""

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

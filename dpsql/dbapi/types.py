"""What PEP 249 wants to be there by name: the makers of dates, the type codes, the exceptions."""

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
        found = time.localtime(float(ticks))
        Date(*found[:3])
    except (TypeError, ValueError, OverflowError, OSError):
        raise errors.InterfaceError(
            "ticks are seconds since 1970, as a number", help="time.time() gives those of this moment"
        ) from None
    return found


class _TypeCode(str):
    """A type code of ``description``: equal to DuckDB's names of all types it stands for."""

    names: frozenset[str]

    def __new__(cls, name: str, *names: str) -> _TypeCode:
        made = super().__new__(cls, name)
        made.names = frozenset((name, *names))
        return made

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
    """The exceptions, as PEP 249's optional extension has them: attributes of every connection."""

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

"""DuckDB's types as SQLAlchemy's.

DECIMAL(9,2)        DECIMAL(9, 2)
ENUM                VARCHAR
HUGEINT             BIGINT
"""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, types
from sqlalchemy.sql import sqltypes, type_api

_MICROSECOND = datetime.timedelta(microseconds=1)


class Interval(type_api.NativeForEmulated, sqltypes._AbstractInterval):
    """A duration, sent as microseconds."""

    __visit_name__ = "INTERVAL"
    native = True

    @classmethod
    def adapt_emulated_to_native(cls, impl: Any, **kw: Any) -> Interval:
        return cls()

    def bind_processor(self, dialect: Any) -> Callable[[Any], Any]:
        return lambda value: value // _MICROSECOND if isinstance(value, datetime.timedelta) else value

    def bind_expression(self, bindvalue: Any) -> Any:
        return func.to_microseconds(bindvalue, type_=self)


_NAMED: dict[str, type[types.TypeEngine[Any]]] = {
    "BOOLEAN": types.BOOLEAN,
    "TINYINT": types.SMALLINT,
    "UTINYINT": types.SMALLINT,
    "SMALLINT": types.SMALLINT,
    "USMALLINT": types.INTEGER,
    "INTEGER": types.INTEGER,
    "UINTEGER": types.BIGINT,
    "BIGINT": types.BIGINT,
    "UBIGINT": types.BIGINT,
    "HUGEINT": types.BIGINT,
    "UHUGEINT": types.BIGINT,
    "FLOAT": types.REAL,
    "DOUBLE": types.DOUBLE,
    "VARCHAR": types.VARCHAR,
    "UUID": types.UUID,
    "BLOB": types.BLOB,
    "DATE": types.DATE,
    "TIME": types.TIME,
    "TIMESTAMP": types.TIMESTAMP,
    "TIMESTAMP_S": types.TIMESTAMP,
    "TIMESTAMP_MS": types.TIMESTAMP,
    "TIMESTAMP_NS": types.TIMESTAMP,
    "INTERVAL": Interval,
}


def type_of(sql: str) -> types.TypeEngine[Any]:
    """Return the SQLAlchemy type of a column; ``NullType`` if there is none."""
    if sized := re.fullmatch(r"DECIMAL\((\d+), ?(\d+)\)", sql):
        return types.DECIMAL(int(sized[1]), int(sized[2]))
    if sql == "ENUM":
        return types.VARCHAR()
    if sql == "TIMESTAMP WITH TIME ZONE":
        return types.TIMESTAMP(timezone=True)
    return _NAMED.get(sql, types.NullType)()


class Uuid(types.Uuid[Any]):
    """A UUID, sent as text."""

    def bind_processor(self, dialect: Any) -> Callable[[Any], Any]:
        return lambda value: str(value) if isinstance(value, uuid.UUID) else value


ADAPTED: dict[type[types.TypeEngine[Any]], type[types.TypeEngine[Any]]] = {
    types.Interval: Interval,
    types.Uuid: Uuid,
}

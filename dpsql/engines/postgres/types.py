"""PostgreSQL's types: which columns are read, and in which type each of ours is computed.

    integer         INTEGER        int4            numeric(8,2)   DECIMAL(8,2)     numeric(8,2)
    text, varchar   VARCHAR        text            boolean        BOOLEAN          bool

A column of another type does not exist for queries: char(n) compares without its blanks, numeric without a
precision holds what no DECIMAL holds, domains and types of extensions have operators of their own.
"""

from __future__ import annotations

from dpsql.functions.core.types import digits
from dpsql.ir.column import Kind, Type

_BY_OID = {
    16: "BOOLEAN",
    21: "SMALLINT",
    23: "INTEGER",
    20: "BIGINT",
    700: "FLOAT",
    701: "DOUBLE",
    25: "VARCHAR",
    1043: "VARCHAR",
    1082: "DATE",
    1114: "TIMESTAMP",
    1184: "TIMESTAMP WITH TIME ZONE",
}
"""The types of columns, by their numbers, which are fixed in PostgreSQL."""

_NUMERIC = 1700
_WIDEST = 38

_NAMES = {
    "BOOLEAN": "bool",
    "TINYINT": "int2",
    "SMALLINT": "int2",
    "INTEGER": "int4",
    "BIGINT": "int8",
    "UTINYINT": "int2",
    "USMALLINT": "int4",
    "UINTEGER": "int8",
    "UBIGINT": "numeric",
    "HUGEINT": "numeric",
    "FLOAT": "float4",
    "DOUBLE": "float8",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "INTERVAL": "interval",
}


def type_of_column(oid: int, modifier: int) -> str | None:
    """Return our name of a column's type; None if such columns are not read."""
    if oid != _NUMERIC:
        return _BY_OID.get(oid)
    if modifier < 4:
        return None
    width, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return f"DECIMAL({width},{scale})" if scale <= width <= _WIDEST else None


def name_of(type: Type) -> str | None:
    """Return PostgreSQL's name of a type that holds all values of this one, if there is one."""
    if type.kind is Kind.DECIMAL:
        return "numeric({},{})".format(*digits(type))
    return _NAMES.get(type.sql)

"""Spark's types: which columns of parquet files are read, and in which type each of ours is computed.

    INTEGER         int               DECIMAL(8,2)    decimal(8,2)       TIMESTAMP    timestamp_ntz
    VARCHAR         string            HUGEINT         decimal(38,0)      DATE         date

A column of another type does not exist for measures.
"""

from __future__ import annotations

from dpsql.functions.core.types import digits
from dpsql.ir.column import Kind, Type

_NAMES = {
    "BOOLEAN": "boolean",
    "TINYINT": "tinyint",
    "SMALLINT": "smallint",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "decimal(38,0)",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "DATE": "date",
    "TIMESTAMP": "timestamp_ntz",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}

STORED = frozenset(_NAMES) - {"HUGEINT"}
"""The types of columns, but for DECIMALs, which files hold and Spark reads as they are."""


def name_of(type: Type) -> str | None:
    """Return Spark's name of a type that holds all values of this one, if there is one."""
    if type.kind is Kind.DECIMAL:
        return "decimal({},{})".format(*digits(type))
    return _NAMES.get(type.sql)


def is_stored(type: Type) -> bool:
    return type.kind is Kind.DECIMAL or type.sql in STORED

"""Whether a stored value is a value of its type: not every writer looks, and DuckDB does not when it reads.

    DECIMAL(6, 2)   of 12345.67 a sum may overflow
    TIMESTAMP       a moment before the first one cannot be printed

Parquet files may hold such values, and tables that were made of these files.
"""

from __future__ import annotations

from dpsql.engines.names import quote
from dpsql.ir.column import Column, Kind, decimal_size

_FIRST = "290309-12-22 (BC) 00:00:00"


def legal_sql(column: Column) -> str | None:
    """A condition that a value of a column meets; None where all bits mean something."""
    name, type_ = quote(column.name), column.fact.type
    match type_.kind:
        case Kind.DECIMAL:
            digits, scale = decimal_size(type_)
            most = f"CAST('{'9' * (digits - scale)}.{'9' * scale}' AS {type_.sql})"
            return f"{name} BETWEEN -{most} AND {most}"
        case Kind.DATE:
            return f"{name} >= DATE '-infinity'"
        case Kind.TIMESTAMP:
            return f"{name} = TIMESTAMP '-infinity' OR {name} >= TIMESTAMP '{_FIRST}'"
        case Kind.TIMESTAMPTZ:
            return f"{name} = TIMESTAMPTZ '-infinity' OR {name} >= TIMESTAMPTZ '{_FIRST}+00'"
        case _:
            return None

"""Conditions for legal stored values: not every writer checks its values, and DuckDB's reader does not.

    DECIMAL(6, 2)   a sum of 12345.67 may overflow
    TIMESTAMP       a timestamp before the first legal one cannot be printed

Parquet files and frames may hold such values, and so may tables that were created from them.
"""

from __future__ import annotations

from dpsql.engines.identifiers import quote
from dpsql.ir.column import Column, Kind, decimal_size

_FIRST = "290309-12-22 (BC) 00:00:00"
_LAST = "294247-01-10 04:00:54.775806"
_LETTERS = {"TIMESTAMP_S": -7, "TIMESTAMP_MS": -3}  # rounded, it would lie beyond


def legal_sql(column: Column) -> str | None:
    """Print the condition that a column's value is legal; None if every bit pattern is legal."""
    name, type_ = quote(column.name), column.fact.type
    match type_.kind:
        case Kind.DECIMAL:
            digits, scale = decimal_size(type_)
            most = f"CAST('{'9' * (digits - scale)}.{'9' * scale}' AS {type_.sql})"
            return f"{name} BETWEEN -{most} AND {most}"
        case Kind.DATE:
            return f"{name} >= DATE '-infinity'"
        case Kind.TIME:
            return f"{name} BETWEEN TIME '00:00:00' AND TIME '24:00:00'"
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ if type_.sql != "TIMESTAMP_NS":
            ends = (_FIRST, _LAST[: _LETTERS.get(type_.sql)])
            zone = "+00" if type_.kind is Kind.TIMESTAMPTZ else ""
            first, last = (f"CAST('{end}{zone}' AS {type_.sql})" for end in ends)
            least, most = (f"CAST('{end}' AS {type_.sql})" for end in ("-infinity", "infinity"))
            return f"{name} BETWEEN {first} AND {last} OR {name} IN ({least}, {most})"
        case _:
            return None

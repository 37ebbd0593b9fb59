"""Conditions for legal stored values: not every writer checks its values, and DuckDB's reader does not.

    BOOLEAN         a byte of 2 is neither true nor false, and equal to some true
    ENUM            a code behind the last one is read from elsewhere
    DECIMAL(6, 2)   a sum of 12345.67 may overflow
    TIMESTAMP       a timestamp before the first legal one cannot be printed
    TIMESTAMP[]     so it is with the items of a list, the fields of a struct, the keys and values of a map
    MAP(...)        a map with a key twice is read, and may fail where it is copied

Parquet files and frames may hold such values, and so may tables and logs that were written from them.
"""

from __future__ import annotations

import re

from dpsql.engines.identifiers import quote, text
from dpsql.ir.column import (
    Column,
    Kind,
    Type,
    decimal_size,
    entry_types,
    field_types,
    item_type,
    list_of,
    type_named,
)

_FIRST = "290309-12-22 (BC) 00:00:00"
_LAST = "294247-01-10 04:00:54.775806"
_ARRAY = re.compile(r"(.+)\[\d+\]", re.DOTALL)
_LETTERS = {"TIMESTAMP_S": -7, "TIMESTAMP_MS": -3}  # rounded, it would lie beyond


def legal_sql(column: Column) -> str | None:
    """Print the condition that a column's value is legal; None if every bit pattern is legal."""
    return _legal_sql(quote(column.name), column.fact.type, 0)


def _legal_sql(value: str, type_: Type, depth: int) -> str | None:
    """Print the condition of a value, and of everything that a query can take out of it."""
    match type_.kind:
        case Kind.BOOLEAN:
            return f"CAST({value} AS UTINYINT) <= 1"
        case Kind.TEXT if type_.sql.startswith("ENUM("):
            return f"enum_code({value}) < length(enum_range(CAST(NULL AS {type_.sql})))"
        case Kind.DECIMAL:
            digits, scale = decimal_size(type_)
            most = f"CAST('{'9' * (digits - scale)}.{'9' * scale}' AS {type_.sql})"
            return f"{value} BETWEEN -{most} AND {most}"
        case Kind.DATE:
            return f"{value} >= DATE '-infinity'"
        case Kind.TIME:
            return f"{value} BETWEEN TIME '00:00:00' AND TIME '24:00:00'"
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ if type_.sql != "TIMESTAMP_NS":
            ends = (_FIRST, _LAST[: _LETTERS.get(type_.sql)])
            zone = "+00" if type_.kind is Kind.TIMESTAMPTZ else ""
            first, last = (f"CAST('{end}{zone}' AS {type_.sql})" for end in ends)
            least, most = (f"CAST('{end}' AS {type_.sql})" for end in ("-infinity", "infinity"))
            return f"{value} BETWEEN {first} AND {last} OR {value} IN ({least}, {most})"
        case Kind.OPAQUE if depth and type_.sql == "TIME_NS":
            return f"{value} BETWEEN TIME_NS '00:00:00' AND TIME_NS '24:00:00'"
        case Kind.OPAQUE if depth and type_.sql == "TIME WITH TIME ZONE":
            first, last = (f"CAST('{end}' AS TIMETZ)" for end in ("00:00:00+15:59:59", "24:00:00-15:59:59"))
            offset = f"date_part('timezone', {value})"
            return f"{value} BETWEEN {first} AND {last} AND abs({offset}) < {16 * 3_600}"
        case Kind.OPAQUE:
            item, one = item_type(type_), f"v{depth}"
            if item is not None and (legal := _legal_sql(one, item, depth + 1)) is not None:
                return f"list_bool_and(list_transform({value}, lambda {one}: {legal}))"
            parts = [_legal_sql(part, inner, depth + 1) for part, inner in _parts(value, type_)]
            if entry_types(type_) is not None:
                keys = f"map_keys({value})"
                parts.append(f"list_unique({keys}) = length({keys})")  # parquet: some keys twice, or NULL
            return " AND ".join(f"({part})" for part in parts if part is not None) or None
        case _:
            return None


def _parts(value: str, type_: Type) -> list[tuple[str, Type]]:
    """Return what is inside a struct, a union, a map or an array: its SQL and its type.

    A query opens no union and no array, but it may open what holds one, and then windows sort by its text.
    """
    if (entry := entry_types(type_)) is not None:
        return [(f"map_keys({value})", list_of(entry[0])), (f"map_values({value})", list_of(entry[1]))]
    if (array := _ARRAY.fullmatch(type_.sql)) is not None:
        return [(f"CAST({value} AS {array[1]}[])", type_named(f"{array[1]}[]"))]
    name, _, fields = type_.sql.partition("(")
    inner = field_types(type_named(f"STRUCT({fields}")) if name in ("STRUCT", "UNION") else {}
    return [(f"{name.lower()}_extract({value}, {text(field)})", part) for field, part in inner.items()]

"""Quote names for SQL, and convert fetched values.

patients -> main."patients"        archive.visits -> "archive"."visits"        '2024-01-31' -> a date
"""

from __future__ import annotations

import datetime
import math

from dpsql.ir.column import Kind, Value

TEXTED = frozenset((Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.TIME, Kind.UUID))
"""Keys of these kinds are fetched as text: Python cannot represent all dates of DuckDB."""


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def table_sql(name: str) -> str:
    """Quote a table of the catalogue, with its schema."""
    return ".".join(quote(part) for part in name.split(".", 1)) if "." in name else f"main.{quote(name)}"


def fetched(value: object, kind: Kind) -> Value:
    """Convert a fetched key to a Python value; dates that Python cannot represent stay text.

    NaN is one object: so it is equal to itself in a tuple, as it is in SQL.
    """
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    if value is None or not isinstance(value, str):
        return value  # type: ignore[return-value]  # NULL or a number: all else is fetched as text
    try:
        if kind is Kind.DATE:
            return datetime.date.fromisoformat(value)
        if kind is Kind.TIMESTAMP:
            return datetime.datetime.fromisoformat(value)
        if kind is Kind.TIMESTAMPTZ:  # the text ends with an offset
            return datetime.datetime.fromisoformat(value).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return value
    return value

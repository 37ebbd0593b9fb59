"""The ranges of a public table's columns, and which of them hold no NULL, as DuckDB and PostgreSQL find them.

wards(ward, beds) with the rows ('A', 10), ('B', NULL)      beds is in [10, 10]; ward is filled

Claim   in every row of the table that a session reads, a value is within its column's range, and that of a
        filled column is not NULL: row keys, lists of groups and outer joins rest on it.
Proof   All rows were looked at, as measures read them: by the same view of files, in the same types. The data
        does not change while the session is open, or there is no answer (``Engine.unchanged``).
Test    grammar_tests/test_planted.py forgets the NULLs of public columns; tests/privacy/test_postgres.py puts
        one there while a session is open

Of large tables NULLs are not looked for: it takes long at each opening, and their keys are seldom groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from dpsql.engines.identifiers import quote
from dpsql.ir.column import Interval, Type
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PublicColumns:
    """The minimum and maximum of each numeric column, if both are finite, and the columns without NULL."""

    ranges: Mapping[str, Interval]
    filled: frozenset[str]


MOST_ROWS = 100_000
"""A table of more rows is large."""


def public_columns_sql(types: Mapping[str, Type], source: str, rows: int) -> str:
    """Print the query for what is known of the columns of a table that has any, and so many rows."""
    looked = "FALSE" if rows > MOST_ROWS else "count({}) = count(*) AND count(*) > 0"
    filled = (looked.format(quote(name)) for name in types)
    ends = (f"min({quote(name)}), max({quote(name)})" for name in _numeric(types))
    return f"SELECT {', '.join((*filled, *ends))} FROM {source}"


def public_columns_of(types: Mapping[str, Type], row: Sequence[object]) -> PublicColumns:
    """Read the row that the query fetched."""
    filled = frozenset(name for name, is_filled in zip(types, row, strict=False) if is_filled is True)
    ends = row[len(types) :]
    ranges = {}
    for name, low, high in zip(_numeric(types), ends[::2], ends[1::2], strict=True):
        if isinstance(low, int | float | Decimal) and isinstance(high, int | float | Decimal):
            bounds = [end if isinstance(end, int) else float(end) for end in (low, high)]
            if all(math.isfinite(end) for end in bounds):
                ranges[name] = Interval(*bounds)
    return PublicColumns(ranges, filled)


def _numeric(types: Mapping[str, Type]) -> list[str]:
    return [name for name, of_column in types.items() if of_column.numeric]

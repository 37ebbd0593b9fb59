"""Released tables of few rows, held by the statement that reads them: no table is made, filled and dropped.

    WITH "release"("ward", "count") AS MATERIALIZED (SELECT unnest(TRY_CAST(? AS VARCHAR[])), ...) SELECT ...

Claim   the statement has the rows that it has over tables with these rows, and an order of its own only where
        SQL leaves it open. It is the same each time.
Proof   A name means the same: a table of the WITH is found before others of that name, as a temporary table
        is, and a table that is named inside the statement before both. Its columns have the same names and
        types and its rows the same order: lists are unnested side by side, and the engine has one thread.
        Whether tables are held depends on the statement and on what was released.
Test    grammar_tests/test_cases.py: fixtures, both ways; tests/unit/test_held_tables.py: names, orders, texts
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.lazy_dataclass import dataclass

MOST = 500
"""Rows of a table: more than that, lists take longer than arrays."""

_LONGEST = 100_000  # characters of texts: the statement's own memory holds them


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Held:
    """A released table: the names and types of its columns, and their values as they are sent."""

    name: str
    columns: tuple[tuple[str, str], ...]
    values: tuple[list[object], ...]


def holding(sql: str, tables: Sequence[Held]) -> tuple[str, list[list[object]]] | None:
    """Return SQL that holds these tables, and its parameters; None if they must be tables of the engine."""
    if not tables or not sql.startswith("SELECT ") or sum(map(_length, tables)) > _LONGEST:
        return None
    listed = ", ".join(map(_listed, tables))
    return f"WITH {listed} {sql}", [values for table in tables for values in table.values]


def _length(table: Held) -> int:
    """Return the number of characters of its texts."""
    return sum(len(value) for values in table.values for value in values if isinstance(value, str))


def _listed(table: Held) -> str:
    names = ", ".join(quote(name) for name, _ in table.columns)
    columns = ", ".join(f"unnest(TRY_CAST(? AS {kind}[]))" for _, kind in table.columns)
    return f"{quote(table.name)}({names}) AS MATERIALIZED (SELECT {columns})"

"""SQL that lists every unit of the database once, with the value that says in which block it is.

    SELECT u1, max(b) FROM (SELECT DISTINCT CAST(patient_id AS VARCHAR) AS u1, CAST(cohort AS VARCHAR) AS b
    FROM patients ... UNION ALL SELECT DISTINCT CAST(patient_id AS VARCHAR), NULL FROM visits ...) GROUP BY u1

A unit is in the block of its row in its own table, and in the rest if it has none, whatever other tables say.
Units are whole numbers, texts or UUIDs, of which each has one spelling (policy/units.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpsql.engines.identifiers import quote
from dpsql.ir.relation import names_of
from dpsql.ir.unit_blocks import UnitBlocks, UnitHolder

CHUNK = 1 << 16
"""Units that are fetched at a time."""


def units_sql(holders: Sequence[UnitHolder], blocks: UnitBlocks, rows_of: Callable[[str], str]) -> str:
    """Print the query; ``rows_of`` prints a table in FROM."""
    width = len(names_of(holders[0].columns))
    listed = ", ".join(f"u{place}" for place in range(1, width + 1))
    parts = " UNION ALL ".join(_held(holder, blocks, rows_of(holder.table)) for holder in holders)
    return f"SELECT {listed}, max(b) FROM ({parts}) AS held GROUP BY {listed}"


def _held(holder: UnitHolder, blocks: UnitBlocks, rows: str) -> str:
    names = [quote(name) for name in names_of(holder.columns)]
    texts = (f"CAST({name} AS VARCHAR) AS u{place}" for place, name in enumerate(names, 1))
    value = quote(blocks.column) if holder.table == blocks.table else "NULL"
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return f"SELECT DISTINCT {', '.join(texts)}, CAST({value} AS VARCHAR) AS b FROM {rows} WHERE {present}"

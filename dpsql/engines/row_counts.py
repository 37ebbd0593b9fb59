"""How many rows private tables have, or meet a condition: counted once for each version of the data.

    lineitem    6,001,215, of which 5,916,591 have l_shipdate <= DATE '1998-09-02'

Counts are exact private facts: they stay in this object, and decide nothing but which of two statements with
the same result is run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.special_units_sql import meeting_sql
from dpsql.engines.unit_totals import ANSWERS
from dpsql.ir.not_shown import NotShown
from dpsql.lazy_dataclass import dataclass


@dataclass(slots=True, repr=False)
class RowCounts(NotShown):
    """The counts of one engine's tables. ``run`` runs a statement and fetches its rows."""

    run: Callable[[str], list[tuple[object, ...]]]
    dialect: Dialect = DUCKDB
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def of(self, table: str, where: str = "") -> int:
        """Return how many rows t of the table there are, or meet the condition."""
        if (table, where) not in self._counts:
            rows = f"{self.dialect.table(table)} AS t"
            rows = meeting_sql(table, where, self.dialect) if where else rows
            [(count,)] = self.run(f"SELECT count(*) FROM {rows}")
            assert isinstance(count, int)
            if len(self._counts) >= ANSWERS:
                self._counts.clear()
            self._counts[table, where] = count
        return self._counts[table, where]

    def forget(self) -> None:
        self._counts.clear()

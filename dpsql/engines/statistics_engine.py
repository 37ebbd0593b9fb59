"""A second engine for the same file, whose planner knows the least and the largest value of each column.

    SELECT flag, SUM(price) FROM lineitem GROUP BY flag    groups by a code of the flag, sums in 64 bits:
                                                           half the time

The first engine plans without statistics, since planning calls functions on the ends of columns and fails
where they fail (engines/duckdb.py). This one gets only measures of which no call can fail so, and if it fails
all the same, the first engine measures as if there were no other.

Claim   which engine measures is seen in time alone.
Proof   The sums are those of fast_sums.py, which are the same whatever the statement; an engine adds up whole
        numbers, and statistics decide how. So are totals of a unit's rows below them, floats as steps of a
        grid, and what windows pick: no rows tie that differ (facts/known_calls.py). A failure here, but an
        interruption, has no effect but that the first engine is asked: it raises what it raises.
Test    tests/privacy/test_statistics_engine.py, grammar_tests/test_second_engine.py
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from dpsql.driver import beside, duckdb
from dpsql.engines.exact_tables import measured
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.parsed_once import ParsedOnce
from dpsql.engines.special_units import Limits
from dpsql.engines.stored_groups import GroupStore
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


class StatisticsEngine:
    """A connection to the second engine. Statements that follow a measure run while it is ``reading``."""

    def __init__(
        self,
        engine: duckdb.DuckDBPyConnection,
        catalog: str,
        limits: Limits | None = None,
        reading: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._connection = beside(engine)
        self._connection.execute(f"USE {catalog}")
        self._sums = FastSums(self._all, limits or Limits(keys=0))
        self._groups = GroupStore(self._all, self._arrays, self._ask)
        self._reading = reading
        self._parsed = ParsedOnce(self._connection)

    def measure(self, planned: MeasurePlan) -> ExactTable | None:
        """Return the exact table of a measure; None if this engine fails."""
        try:
            sums = self._sums
            store = self._groups if sums.many_groups(planned) else None
            with sums.held(planned):
                return measured(
                    planned, self._all, self._arrays, sums.statement, store, special_of=sums.special
                )
        except duckdb.InterruptException:
            raise
        except (duckdb.Error, MemoryError):
            return None

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()

    def _all(self, sql: str) -> list[tuple[object, ...]]:
        return self._connection.execute(self._parsed(sql)).fetchall()

    def _ask(self, sql: str) -> list[tuple[object, ...]]:
        with self._reading():
            return self._all(sql)

    def _arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        return self._connection.execute(sql).fetchnumpy()

"""Many draws of one release: measured once, with new noise from the system's randomness each time.

Drawn(db, "SELECT state, AVG(age) FROM people GROUP BY state", 1.0).values(200)    one row per release
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import dpsql
from benchmarks.data import session_of
from dpsql.audit.noiseless import silently
from dpsql.ir.column import Value
from dpsql.ir.source import Source
from dpsql.ir.table import ReleasedTable
from dpsql.plan.terms import Terms
from dpsql.planning import planned
from dpsql.post.finish import finish
from dpsql.release.release import from_system, release

Floats = NDArray[np.float64]


class Drawn:
    """The release of a query with one stage and one measure."""

    def __init__(self, db: dpsql.Connection, sql: str, epsilon: float) -> None:
        session = session_of(db)
        terms = Terms(session.accountant, session.budget, epsilon)
        each = planned(session, Source(sql), (), terms).stages[0].measures[0]
        self.planned = replace(each, measure=replace(each.measure, counted=()))  # all groups, at every draw
        self._exact = session.engine.measure(self.planned)

    def quiet(self) -> ReleasedTable:
        """Return the plan without noise and with thresholds at one unit."""
        return silently(self._exact, self.planned)

    def exact(self) -> Floats:
        """Return the answers without noise, in the order of the keys."""
        return self._finished(self.quiet())

    def values(self, repetitions: int) -> Floats:
        """Return one row per release, one column per group; all keys are public.

        NaN stands where a release does not show a group: that of NULL, within its margin.
        """
        groups, rows = self.quiet().groups, []
        for table in (self.once() for _ in range(repetitions)):
            shown = dict(zip(table.groups, self._finished(table), strict=True))
            rows.append([shown.get(group, np.nan) for group in groups])
        return np.array(rows, dtype=np.float64)

    def answers(self, repetitions: int) -> list[tuple[Value, ...]]:
        """Return the aggregates of the only group, of any type, for every release."""
        tables = (finish(self.once(), self.planned) for _ in range(repetitions))
        return [tuple(column.values[0] for column in each) for each in tables]

    def once(self) -> ReleasedTable:
        return release(self._exact, self.planned, from_system)

    def _finished(self, table: ReleasedTable) -> Floats:
        column = finish(table, self.planned)[-1]
        return np.array([_number(value) for value in column.values], dtype=np.float64)


def _number(value: Value) -> float:
    return np.nan if value is None else float(value)  # type: ignore[arg-type]  # aggregates here are numbers

"""The index of a declared value -> the value."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.details.votes.detail import Votes
from dpsql.ir.column import Value
from dpsql.ir.finished import Finished
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np


def column(
    finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[Votes], released: ReleasedTable, first: int
) -> Finished:
    """Return one declared value for each group, without a margin."""
    candidates = detail_plan.detail.values
    names: list[Value] = [candidates[place].value for place in released.sums[:, first].tolist()]
    return Finished(finish.call.name, finish.type, names, np.full(len(names), np.nan))


def reach(detail_plan: DetailPlan[Votes], confidence: float) -> None:
    """Return None: listed values have no distances."""


def note(detail_plans: Sequence[DetailPlan[Votes]], unit: str) -> str:
    """Return '': the explanation says everything."""
    return ""

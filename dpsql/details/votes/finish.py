"""The place of a value on the list -> the value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.details.votes.detail import Votes
from dpsql.ir.column import Value
from dpsql.ir.finished import Finished
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable


def column(
    finish: Finish, planned: MeasurePlan, each: DetailPlan[Votes], released: ReleasedTable, first: int
) -> Finished:
    """A value of the list, without a margin."""
    listed = each.detail.values
    names: list[Value] = [listed[place].value for place in released.sums[:, first].tolist()]
    return Finished(finish.call.name, finish.type, names, np.full(len(names), np.nan))


def reach(each: DetailPlan[Votes], confidence: float) -> None:
    """Values of a list have no distances."""


def note(found: Sequence[DetailPlan[Votes]], unit: str) -> str:
    """Nothing that the explanation does not say."""
    return ""

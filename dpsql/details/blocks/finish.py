"""The chosen bin of a DP_SAMPLE -> the midpoint of the bin.

There is no margin: the error of the choice depends on the blocks, and they are private.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.ir.finished import Finished
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np


def column(
    finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[Blocks], released: ReleasedTable, first: int
) -> Finished:
    """Return one value for each group."""
    low, high = detail_plan.detail.low, detail_plan.detail.high
    values = [low + (high - low) * ((place + 0.5) / BINS) for place in released.sums[:, first].tolist()]
    unknown = np.full(len(values), np.nan)
    return Finished(finish.call.name, finish.type, [*values], unknown, unknown, unknown)


def reach(detail_plan: DetailPlan[Blocks], confidence: float) -> None:
    """Return None: the error depends on the private values of the blocks."""


def note(detail_plans: Sequence[DetailPlan[Blocks]], unit: str) -> str:
    """Return a note that names the number of blocks."""
    blocks = [detail_plan.blocks for detail_plan in detail_plans if detail_plan.blocks]
    if not blocks:
        return ""
    return f"DP_SAMPLE is the median over {max(blocks)} blocks of units: small blocks differ from all rows."

"""The bin that was chosen of a DP_SAMPLE -> the value in its middle.

How far off the choice is depends on the blocks, and they are private.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.ir.finished import Finished
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable


def column(
    finish: Finish, planned: MeasurePlan, each: DetailPlan[Blocks], released: ReleasedTable, first: int
) -> Finished:
    """One value for each group."""
    low, high = each.detail.low, each.detail.high
    found = [low + (high - low) * ((place + 0.5) / BINS) for place in released.sums[:, first].tolist()]
    nothing = np.full(len(found), np.nan)
    return Finished(finish.call.name, finish.type, [*found], nothing, nothing, nothing)


def reach(each: DetailPlan[Blocks], confidence: float) -> None:
    """It depends on the blocks."""


def note(found: Sequence[DetailPlan[Blocks]], unit: str) -> str:
    """Over how many blocks the median is taken."""
    blocks = [each.blocks for each in found if each.blocks]
    if not blocks:
        return ""
    return f"DP_SAMPLE is the median over {max(blocks)} blocks of units: small ones differ from the whole."

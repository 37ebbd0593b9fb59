"""Blocks counted by bin -> the bin chosen as the median, for each group that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.detail_kinds import Draw
from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.blocks import medians
from dpsql.mechanisms.exponential import Choose, Integers
from dpsql.release.groups import weighed


def released(
    detail_plan: DetailPlan[Blocks],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> Integers:
    """Return one number for every group that is shown: the chosen bin."""
    if not groups:
        return np.zeros((0, 1), np.int64)
    chosen = medians(
        weighed(weights, groups),
        detail_plan.blocks,
        BINS,
        Fraction(detail_plan.epsilon),
        detail_plan.sensitivity,
        choose,
    )
    return chosen[:, np.newaxis]

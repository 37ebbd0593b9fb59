"""Blocks in bins of a grid -> the bin that was chosen for the median of each group that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.blocks import medians
from dpsql.mechanisms.exponential import Choose, Integers
from dpsql.release.groups import plain


def released(
    each: DetailPlan[Blocks],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> Integers:
    """One number for every group that is shown."""
    if not groups:
        return np.zeros((0, 1), np.int64)
    known = {plain(group): found for group, found in weights.items()}
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = [known.get(plain(group), nothing) for group in groups]
    chosen = medians(found, each.blocks, BINS, Fraction(each.epsilon), each.sensitivity, choose)
    return chosen[:, np.newaxis]

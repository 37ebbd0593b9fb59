"""Weights -> released numbers: the only place that calls the release part of a kind of detail."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw, part
from dpsql.ir.column import Value
from dpsql.ir.detail import Detail
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.exponential import Choices, Choose, Chosen, choose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def released_detail(
    detail_plan: DetailPlan[Detail],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    select: Choose,
) -> NDArray[np.int64]:
    """Return one row of numbers for every group that is shown."""
    return part("release", detail_plan.detail.kind).released(detail_plan, weights, groups, draw, select)


def chosen_by_system(choices: Choices, rate: Fraction) -> Chosen:
    """Make choices with the operating system's randomness. The session uses nothing else."""
    return choose(choices, rate, os.urandom)

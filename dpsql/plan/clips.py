"""Clips: the sensitivity of a measure, a bound in grid steps on the norm of one unit's vector of sums.

one row, MAX(1)       ROWS: nothing is scaled, a unit with one row has the norm of one row
many rows, no keys    UNIT: a unit's sums are scaled down to the norm of the rows that count in full
many rows, keys       L1 or CELLS: a unit's sums over all its groups together are scaled down
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsql.errors import refuse
from dpsql.ir.plan import Norm, Shape
from dpsql.ir.statistic import Part
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.rewrite.statistics import GRID

LARGEST = 2**40
"""Largest clip in grid steps; far below the overflow of integer sums."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A way to bound a unit's vector: in this norm, by so many grid steps, enforced in this shape."""

    norm: Norm
    steps: int
    shape: Shape


def clips_of(facts: MeasureFacts) -> tuple[Clip, Clip]:
    """Return the clip in L1 and the clip in L2.

    A row adds at most ``most`` steps to each family, in either norm. A row that is copied into n grouping
    sets has its copies in n different groups, since the set's number is a key: a vector v, n times on
    disjoint coordinates, has norm n |v| in L1 and sqrt(n) |v| in L2. The triangle inequality over a unit's
    rows (not over their copies) gives the bound for the unit.
    """
    measure = facts.measure
    copies = measure.copies
    most = [family.most for family in measure.families]
    one_l1, one_l2 = copies * sum(most), _ceil_root(copies * sum(steps * steps for steps in most))
    at_most = facts.proved_rows()
    if at_most is not None:
        return (
            Clip(Norm.L1, _checked_size(facts, one_l1 * at_most), Shape.ROWS),
            Clip(Norm.L2, _checked_size(facts, one_l2 * at_most), Shape.ROWS),
        )
    rows, counted = facts.guessed, any(statistic.part is Part.UNITS for statistic in measure.statistics)
    cells = Shape.CELLS if measure.keys else Shape.UNIT
    scaled = cells if counted or not measure.keys else Shape.L1
    return (
        Clip(Norm.L1, _checked_size(facts, one_l1 * rows), scaled),
        Clip(Norm.L2, _checked_size(facts, one_l2 * rows), cells),
    )


def _checked_size(facts: MeasureFacts, steps: int) -> int:
    if steps > LARGEST:
        raise refuse(
            "D305",
            f"one {facts.known.unit} could have too many rows here",
            facts.measure.span,
            label=f"up to {steps // GRID:,} rows after all joins",
            help="join on declared keys, or lower rows_per_unit in the policy",
        )
    return steps


def _ceil_root(square: int) -> int:
    root = math.isqrt(square)
    return root if root * root == square else root + 1

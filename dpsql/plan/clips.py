"""How much one unit can change: its vector of sums is bounded in a norm, by so many grid steps.

one row, MAX(1)       ROWS: nothing is scaled, a unit of one row has one row's norm
many rows, no keys    UNIT: a unit's sums are scaled down to the norm of the rows that count in full
many rows, keys       L1 or CELLS: all its cells together are
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
"""Grid steps of a clip at most: far from where sums of integers could overflow."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A way to bound a unit's vector: in this norm, by so many grid steps, enforced in this shape."""

    norm: Norm
    steps: int
    shape: Shape


def clips_of(subject: MeasureFacts) -> tuple[Clip, Clip]:
    """The L1 and the L2 way. A row adds at most ``most`` steps to each family, in either norm.

    Where a row is copied into n grouping sets, its copies fall in n different groups, since the set's
    number is a key: n times v on n coordinates of their own is n |v| in L1 and sqrt(n) |v| in L2. The
    triangle inequality over a unit's rows (not over their copies) does the rest.
    """
    measure = subject.measure
    copies = measure.copies
    most = [family.most for family in measure.families]
    one_l1, one_l2 = copies * sum(most), _root(copies * sum(each * each for each in most))
    at_most = subject.proved_rows()
    if at_most is not None:
        return (
            Clip(Norm.L1, _sized(subject, one_l1 * at_most), Shape.ROWS),
            Clip(Norm.L2, _sized(subject, one_l2 * at_most), Shape.ROWS),
        )
    rows, counted = subject.guessed, any(each.part is Part.UNITS for each in measure.statistics)
    cells = Shape.CELLS if measure.keys else Shape.UNIT
    scaled = cells if counted or not measure.keys else Shape.L1
    return (
        Clip(Norm.L1, _sized(subject, one_l1 * rows), scaled),
        Clip(Norm.L2, _sized(subject, one_l2 * rows), cells),
    )


def _sized(subject: MeasureFacts, steps: int) -> int:
    if steps > LARGEST:
        raise refuse(
            "D305",
            f"one {subject.known.unit} could own too many rows here",
            subject.measure.span,
            label=f"up to {steps // GRID:,} rows after all joins",
            help="join on declared keys, or lower rows_per_unit in the policy",
        )
    return steps


def _root(square: int) -> int:
    root = math.isqrt(square)
    return root if root * root == square else root + 1

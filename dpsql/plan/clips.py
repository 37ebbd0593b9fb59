"""Clips: the sensitivity of a measure, a bound in grid steps on the norm of one unit's vector of sums.

one row, MAX(1)       ROWS: nothing is scaled, a unit with one row has the norm of one row
many rows, no keys    UNIT: a unit's sums are scaled down to the norm of the rows that count in full
many rows, keys       L1 or CELLS: a unit's sums over all its groups together are scaled down
units, or one row     UNIT or CELLS: a unit counts once in a group, so its groups bound the norm, not its rows
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.errors import refuse
from dpsql.ir.measure import Measure
from dpsql.ir.plan import Norm, Shape
from dpsql.ir.scalar import Scalar
from dpsql.ir.statistic import Family, Part
from dpsql.lazy_dataclass import dataclass
from dpsql.plan import unit_norms
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
    """Return the clip in L1 and the clip in L2; refuse what does not fit the grid."""
    clips = norms_of(facts)
    for clip in clips:
        if clip.steps > LARGEST:
            raise refuse(
                "D305",
                f"one {facts.known.unit} could have too many rows here",
                facts.measure.span,
                label=f"up to {clip.steps // GRID:,} rows after all joins",
                help="say how many rows count in full: SELECT OPTIONS(max_rows_contributed = 1000) "
                "SUM(x) ...; or join on declared keys",
            )
    return clips


def norms_of(facts: MeasureFacts) -> tuple[Clip, Clip]:
    """Return the clip in L1 and the clip in L2, of any size.

    A row adds at most ``most`` steps to each family, in either norm. A row that is copied into n grouping
    sets has its copies in n different groups, since the set's number is a key: a vector v, n times on
    disjoint coordinates, has norm n |v| in L1 and sqrt(n) |v| in L2. The triangle inequality over a unit's
    rows (not over their copies) gives the bound for the unit.
    """
    copies, most = facts.measure.copies, [family.most for family in facts.measure.families]
    at_most = facts.proved_rows()
    if facts.measure.model is not None and facts.measure.model.short:
        rows = facts.rows if at_most is None else at_most
        assert rows is not None, "the rows of a fit are clipped"
        return _short(most, rows)
    if at_most is not None:
        one_l1, one_l2 = copies * sum(most), _ceil_root(copies * _square(most))
        return Clip(Norm.L1, one_l1 * at_most, Shape.ROWS), Clip(Norm.L2, one_l2 * at_most, Shape.ROWS)
    cells = Shape.CELLS if facts.measure.keys else Shape.UNIT
    scaled = cells if facts.counts_units or not facts.measure.keys else Shape.L1
    bounds = []
    if facts.rows is not None:
        bounds.append(_of_rows(facts, facts.rows))
    if facts.groups:
        bounds.append(_once_in_a_group(facts))
    in_l1, in_l2 = (min(norms) for norms in zip(*bounds, strict=True))
    return Clip(Norm.L1, in_l1, scaled), Clip(Norm.L2, in_l2, cells)


def _short(most: list[int], rows: int) -> tuple[Clip, Clip]:
    """Return the clips of a unit whose rows have vectors of length 1 at most, in L1 and in L2.

    A step for each number is left for rounding. Nothing is trusted: either norm is enforced.
    """
    one = max(most) + _ceil_root(len(most))
    in_l1, in_l2 = min(sum(most), _ceil_root(len(most) * one**2)), min(_ceil_root(_square(most)), one)
    return Clip(Norm.L1, rows * in_l1, Shape.UNIT), Clip(Norm.L2, rows * in_l2, Shape.UNIT)


def _of_rows(facts: MeasureFacts, rows: int) -> tuple[int, int]:
    """Return the norms in L1 and L2 of a unit with so many rows, each with a vector of its own."""
    copies, families = facts.measure.copies, facts.measure.families
    masses = [_mass(family, facts) for family in families]
    most = [family.most for family, mass in zip(families, masses, strict=True) if mass is None]
    massive = [
        min(mass, rows * family.most)
        for family, mass in zip(families, masses, strict=True)
        if mass is not None
    ]
    in_l1 = copies * (rows * sum(most) + sum(massive))
    if not massive:
        return in_l1, rows * _ceil_root(copies * _square(most))
    return in_l1, _ceil_root(copies * (rows**2 * _square(most) + _square(massive)))


def _once_in_a_group(facts: MeasureFacts) -> tuple[int, int]:
    """Return the norms in L1 and L2 of a unit that counts once in a group, or has one row there (unit_norms).

    Grouping sets are different groups: their L1 norms add up, and the squares of their L2 norms. One row adds
    to one alternative of a family; a unit of several rows may add to every count of units among them. A sum
    with a mass is bounded by itself, in each grouping set.
    """
    measure = facts.measure
    units = [statistic.most for statistic in measure.statistics if statistic.part is Part.UNITS]
    masses = [_mass(family, facts) for family in measure.families]
    free = [family for family, mass in zip(measure.families, masses, strict=True) if mass is None]
    one, rows = [family.most for family in free], [_most_of_rows(family, measure) for family in free]
    in_l1 = square = 0
    for most, alone in zip(facts.groups, facts.alone, strict=True):
        of_row, of_unit = ([], one) if alone else (rows, units)
        in_l1 += unit_norms.l1(facts.rows, most, sum(of_row), sum(of_unit))
        square += unit_norms.l2_squared(facts.rows, most, _square(of_row), _square(of_unit))
        for family, mass in zip(measure.families, masses, strict=True):
            if mass is not None:
                of_row, of_unit = ([], [family.most]) if alone else ([family.most], [])
                in_l1 += min(mass, unit_norms.l1(facts.rows, most, sum(of_row), sum(of_unit)))
                norm = unit_norms.l2_squared(facts.rows, most, _square(of_row), _square(of_unit))
                square += min(mass**2, norm)
    return in_l1, _ceil_root(square)


def _mass(family: Family, facts: MeasureFacts) -> int | None:
    """Return what a unit's values in a family add up to, in grid steps; None if a part of it has no mass.

    A row adds to one alternative, so alternatives of one argument share its mass. Each row is rounded by half
    a step, or more steps where it is rounded first; a unit has no more rows here than where they were summed.
    """
    masses: dict[Scalar, Fraction] = {}
    rounded = 1
    for first, *others in family.alternatives:
        statistic = facts.measure.statistics[first]
        argument = statistic.argument
        if others or argument is None or argument not in facts.masses or statistic.part is not Part.VALUE:
            return None
        steps = facts.masses[argument] / statistic.step
        masses[argument] = max(steps, masses.get(argument, steps))
        rounded = max(rounded, math.ceil(statistic.unit / statistic.step))
    return math.ceil(sum(masses.values())) + rounded * (facts.rows or 0)


def _most_of_rows(family: Family, measure: Measure) -> int:
    """Return the most that a row adds to the family's sums of rows."""
    firsts = (measure.statistics[first] for first, *_ in family.alternatives)
    return max((first.together for first in firsts if first.part is not Part.UNITS), default=0)


def _square(steps: list[int]) -> int:
    return sum(most * most for most in steps)


def _ceil_root(square: int) -> int:
    root = math.isqrt(square)
    return root if root * root == square else root + 1

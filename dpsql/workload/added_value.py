"""Statistics of several numbers -> what one row adds to its cell in all of them: one, or its x.

    COUNT(*) FILTER (WHERE age < 20)      COUNT(*)                1
    SUM(cost) FILTER (WHERE age < 20)     SUM(cost)               cost, clamped to the widest of their ranges
    SUM(cost)                             SUM(age)                nothing: two numbers of a row

Claim   where a row counts in a number, it adds to its cell what it adds to the number; it adds at most
        ``most`` steps, the largest |x| of any of the numbers.
Proof   A number clamps x to the range that its own conditions leave of the range that is declared. The cell
        clamps to all of these ranges, so it changes no x that has the declared range. No end of a range is
        beyond its statistic's ``most`` times its ``step``, so none is beyond the largest such product.
Test    tests/privacy/test_joint_sums.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dpsql.ir.measure import Measure
from dpsql.ir.statistic import Family, Part, Statistic


def added_value(statistics: Sequence[Statistic]) -> Statistic | None:
    """Return the statistic of a cell; None where a row does not add the same to all of these."""
    if len({(each.part, each.offset, each.other) for each in statistics}) != 1:
        return None
    widest = max(statistics, key=lambda each: each.most * each.step)
    match widest.part:
        case Part.ROWS if len({each.most for each in statistics}) == 1:
            return replace(widest, argument=None, condition=None)
        case Part.VALUE if widest.offset == 0 and len({repr(each.argument) for each in statistics}) == 1:
            low, high = min(each.low for each in statistics), max(each.high for each in statistics)
            return replace(widest, condition=None, low=low, high=high)
        case _:
            return None


def in_steps_of(measure: Measure, one: Statistic) -> Measure:
    """Return a measure whose numbers are in the grid steps of ``one``."""
    statistics = tuple(
        replace(each, step=one.step, digits=one.digits, most=math.ceil(each.most * each.step / one.step))
        for each in measure.statistics
    )
    families = tuple(
        Family(family.alternatives, max(statistics[place].most for place in family.statistics))
        for family in measure.families
    )
    return replace(measure, statistics=statistics, families=families)

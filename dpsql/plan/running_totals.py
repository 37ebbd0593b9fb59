"""Whether running totals are asked for, and how exact they are in one way and another.

SELECT bin, SUM(COUNT(*)) OVER (ORDER BY bin) FROM ... GROUP BY bin

one group after the other   the n-th total has the noise of n groups: 16/epsilon for 256 of them
runs of 8, 64               8.5/epsilon
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.ir.column import Kind, decimal_size
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys
from dpsql.mechanisms import prefix

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

CHOICES = (
    *(("laplace", Norm.L1, branching) for branching in prefix.BRANCHINGS),
    ("gaussian", Norm.L2, prefix.ROOT),
)
"""Mechanism, norm of the columns, matrix."""


def running_groups(planned: MeasurePlan) -> int | None:
    """How many groups are added up in the order of the only key; None where that is not what is asked."""
    measure, rule = planned.measure, planned.rule
    single = len(measure.statistics) == 1 and len(measure.keys) == 1 and not measure.sets
    if not (measure.running and single and not measure.details and isinstance(rule, PublicKeys)):
        return None
    groups = len(rule.domains[0])
    return groups if 2 <= groups <= prefix.MOST_GROUPS else None


def plain_variances(groups: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of groups and running totals, where every group has a noise of its own with a variance of 1."""
    return np.ones(groups), np.arange(1.0, groups + 1)


def asked_of(measure: Measure, variances: tuple[NDArray[np.float64], NDArray[np.float64]]) -> float:
    """The variances of all numbers that are shown: running totals, and the groups if these are shown too."""
    groups, totals = variances
    running = dict(measure.running)
    shown = any(running.get(each.call.name, True) for each in measure.finishes)
    return float(totals.sum()) + (float(groups.sum()) if shown else 0.0)


def delivered_unit(measure: Measure) -> int:
    """The grid steps of 1, or of the last decimal, if that is what every number is rounded to."""
    (statistic,) = measure.statistics
    types = {each.type for each in measure.finishes}
    if len(types) != 1 or (kind := types.pop()).kind not in (Kind.INTEGER, Kind.DECIMAL):
        return 1
    last = Fraction(1, 10 ** decimal_size(kind)[1]) if kind.kind is Kind.DECIMAL else Fraction(1)
    steps = last / statistic.step
    return int(steps) if steps.denominator == 1 else 1

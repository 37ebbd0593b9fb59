"""Running totals: whether a measure is shown as running totals, and their variance with and without runs.

SELECT bin, SUM(COUNT(*)) OVER (ORDER BY bin) FROM ... GROUP BY bin

one sum per group   the n-th total has the noise of n groups: 16/epsilon for 256 groups
runs of 8, 64       8.5/epsilon
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.ir.column import Kind, Type, decimal_size
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys
from dpsql.late_numpy import np
from dpsql.mechanisms import prefix
from dpsql.plan.clips import LARGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray  # a separate module of numpy that loads slowly

CHOICES = (
    *(("laplace", Norm.L1, branching) for branching in prefix.BRANCHINGS),
    ("gaussian", Norm.L2, prefix.ROOT),
)
"""(mechanism, norm of the columns, branching of the matrix)."""


def running_groups(planned: MeasurePlan) -> int | None:
    """Return how many groups are added up in the order of the only key; None if not a running total."""
    measure, rule = planned.measure, planned.rule
    single = len(measure.statistics) == 1 and len(measure.keys) == 1 and not measure.sets
    if not (measure.running and single and not measure.details and isinstance(rule, PublicKeys)):
        return None
    groups = len(rule.domains[0])
    return groups if 2 <= groups <= prefix.MOST_GROUPS else None


def plain_variances(groups: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the variances of groups and running totals if every group has its own noise of variance 1."""
    return np.ones(groups), np.arange(1.0, groups + 1)


def asked_of(measure: Measure, variances: tuple[NDArray[np.float64], NDArray[np.float64]]) -> float:
    """Add the variances of all shown numbers: running totals, and the groups if these are shown too."""
    groups, totals = variances
    running = dict(measure.running)
    shown = any(running.get(finish.call.name, True) for finish in measure.finishes)
    return float(totals.sum()) + (float(groups.sum()) if shown else 0.0)


def delivered_unit(measure: Measure) -> int:
    """Return the grid steps of 1, or of the last decimal place, if every number is rounded to it; else 1."""
    step = measure.statistics[0].step
    return math.gcd(*(_unit_of(finish.type, step) for finish in measure.finishes))


def _unit_of(type: Type, step: Fraction) -> int:
    match type.kind:
        case Kind.INTEGER:
            last = Fraction(1)
        case Kind.DECIMAL:
            last = Fraction(1, 10 ** decimal_size(type)[1])
        case _:
            return 1
    steps = last / step
    return int(steps) if steps.denominator == 1 and steps <= LARGEST else 1  # sums of zeros have tiny steps

"""Exact counts by codes -> noisy marginals: the only such arrow, and all that is kept of them.

    groups    (number of the marginal, its columns, -1 for none, and a cell)    (3, 0, 2, 17)
    sums      the noisy count of that cell, in grid steps

The noise and the choices are those of a release; each event of the plan is spent at most once (``Draws``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.event import GaussianEvent
from dpsql.ir.plan import MeasurePlan, Noise, Norm
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import CodedGroups, ExactTable, ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import gaussian
from dpsql.mechanisms.exponential import Choose
from dpsql.mechanisms.synthetic.counts import RowCounts
from dpsql.mechanisms.synthetic.draws import Draws
from dpsql.mechanisms.synthetic.methods import METHODS

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


TOTAL: tuple[Value, ...] = (0, -1, -1, 0)
"""The group of the total, which is measured first."""


def counts_of(exact: ExactTable, planned: MeasurePlan) -> RowCounts:
    """Return exact counts of which any marginal can be asked: private."""
    assert isinstance(planned.rule, SyntheticRows)
    assert isinstance(exact.groups, CodedGroups)
    plan = planned.rule.plan
    return RowCounts(exact.groups.codes, exact.sums[:, 0], plan.sizes, plan.step)


def released_marginals(exact: ExactTable, planned: MeasurePlan, draw: Draw, choose: Choose) -> ReleasedTable:
    """Spend the events of the plan; return the noisy marginals in the order in which they were measured."""
    assert isinstance(planned.rule, SyntheticRows)
    plan = planned.rule.plan

    def noise(event: GaussianEvent, size: int) -> NDArray[np.int64]:
        return draw(Noise(gaussian.NAME, Norm.L2, event.sensitivity, event.scale, event), size)

    draws = Draws(plan.events, noise, choose)
    measured = METHODS[plan.method].measured(plan, counts_of(exact, planned), draws)
    groups, numbers = list[tuple[Value, ...]](), list[int]()
    for number, marginal in enumerate(measured.marginals):
        first, second = (*marginal.columns, -1, -1)[:2]
        groups += [(number, first, second, cell) for cell in range(len(marginal.numbers))]
        numbers += marginal.numbers
    return ReleasedTable(groups, np.array(numbers, dtype=np.int64).reshape(-1, 1))

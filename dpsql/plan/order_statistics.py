"""What the choices of a histogram's order statistics may cost: levels one after the other, and densities.

three quantiles, epsilon 1    two levels at 9/20 each, distances for margins at 1/10
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.accounting import Allowance
from dpsql.errors import refuse
from dpsql.ir.column import Kind
from dpsql.ir.detail import Histogram, Votes
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.grid import TIMED, End
from dpsql.ir.plan import DetailPlan
from dpsql.ir.scalar import Scalar
from dpsql.mechanisms.density import SHARE
from dpsql.mechanisms.quantiles import levels

WEIGHT = 2**20
"""Of a row that counts in full."""

LARGEST = 2.0**50
"""A unit's weight over the epsilon of a choice at most: far from where the distances of weights overflow."""


def planned_choices(
    detail: Histogram, kind: Kind, rows: int, share: Fraction, ask: Callable[[Fraction], Allowance]
) -> DetailPlan:
    """A choice for each level of the tree; extremes and dates have no margins, and pay for none."""
    number = levels(detail.targets)
    dense = kind not in TIMED and any(not isinstance(each, End) for each in detail.targets)
    epsilon = ask(share * (1 - SHARE if dense else 1) / number).choice
    events = (ChoiceEvent(epsilon),) * number
    if dense:
        events += (ChoiceEvent(ask(share * SHARE).choice),)
    return _sized(DetailPlan(detail, rows, rows * WEIGHT, events, None, epsilon, number), detail.argument)


def planned_choice(
    detail: Votes, rows: int, share: Fraction, ask: Callable[[Fraction], Allowance]
) -> DetailPlan:
    """One choice of a value in each group."""
    epsilon = ask(share).choice
    found = DetailPlan(detail, rows, rows * WEIGHT, (ChoiceEvent(epsilon),), None, epsilon, 1)
    return _sized(found, detail.argument)


def _sized(planned: DetailPlan, argument: Scalar) -> DetailPlan:
    """The same, or the refusal of a price that buys next to nothing."""
    epsilons = [event.epsilon for event in planned.events if isinstance(event, ChoiceEvent)]
    if planned.sensitivity > LARGEST * min(epsilons):
        raise refuse(
            "D503",
            "the price is too small: the error would not fit the grid",
            argument.span,
            help="pay more for this query",
        )
    return planned

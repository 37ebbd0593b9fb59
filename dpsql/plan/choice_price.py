"""The price of a choice among weighed rows: enough to keep its error on the grid of weights."""

from __future__ import annotations

from dpsql.errors import refuse
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.plan import D_co, DetailPlan
from dpsql.ir.scalar import Scalar

WEIGHT = 2**20
"""Of a row that counts in full."""

LARGEST = 2.0**50
"""A unit's weight over the epsilon of a choice at most: far from where the distances of weights overflow."""


def sized(planned: DetailPlan[D_co], argument: Scalar) -> DetailPlan[D_co]:
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

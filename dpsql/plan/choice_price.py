"""The price of a choice among weighted rows: it must keep the error within the grid of weights."""

from __future__ import annotations

from dpsql.errors import refuse
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.plan import D_co, DetailPlan
from dpsql.ir.scalar import Scalar

WEIGHT = 2**20
"""The weight of a row that counts in full."""

LARGEST = 2.0**50
"""Largest ratio of a unit's weight to the epsilon of a choice; distances of weights are far from overflow."""


def sized(planned: DetailPlan[D_co], argument: Scalar) -> DetailPlan[D_co]:
    """Return the plan unchanged, or refuse a price that is too small for the grid of weights."""
    epsilons = [event.epsilon for event in planned.events if isinstance(event, ChoiceEvent)]
    if planned.sensitivity > LARGEST * min(epsilons):
        raise refuse(
            "D503",
            "the price is too small: the error would not fit the grid",
            argument.span,
            help="pay more for this query",
        )
    return planned

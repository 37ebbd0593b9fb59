"""What a query says of delta is a ceiling, and no more."""

from __future__ import annotations

from dpsql.accounting import DELTA_UNIT
from dpsql.errors import refuse
from dpsql.ir.options import Option
from dpsql.ir.plan import StagePlan
from dpsql.plan.terms import Terms


def check_delta(said: Option, stages: tuple[StagePlan, ...], terms: Terms) -> None:
    """A query's delta is a ceiling: on what its plan takes of the policy's, and below the policy's own."""
    assert isinstance(said.value, int | float)
    if not 0 <= said.value <= terms.budget.delta:
        raise refuse(
            "D502" if said.value > 0 else "D503",
            f"delta lies between 0 and the policy's {terms.budget.delta:g}",
            said.span,
            label="the policy's delta is all that the owner gives, over all queries together",
            help="leave it out: a query takes a small part of the policy's delta",
        )
    events = tuple(e for stage in stages for each in stage.measures for e in each.events)
    taken = terms.accountant.delta(terms.accountant.charge(events))
    if taken > said.value * DELTA_UNIT:
        raise refuse(
            "D304",
            f"this query takes a delta of {taken / DELTA_UNIT:g}",
            said.span,
            label="more than it says; the accountant sets it, and no group could be shown with less",
            help="leave delta out, or group by columns with declared values, which needs none",
        )

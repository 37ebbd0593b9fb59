"""Check a query's delta option: a ceiling on the delta that its plan takes."""

from __future__ import annotations

from dpsql.accounting import DELTA_UNIT
from dpsql.accounting.charged import charged
from dpsql.errors import refuse
from dpsql.ir.options import Option
from dpsql.ir.plan import StagePlan
from dpsql.plan.terms import Terms


def check_delta(option: Option, stages: tuple[StagePlan, ...], terms: Terms) -> None:
    """Refuse a ceiling that is out of range, and a plan that takes more delta than the ceiling."""
    assert isinstance(option.value, int | float)
    if not 0 <= option.value <= terms.budget.delta:
        raise refuse(
            "D502" if option.value > 0 else "D503",
            f"delta must be between 0 and the policy's {terms.budget.delta:g}",
            option.span,
            label="the policy's delta is all that the owner grants, for all queries together",
            help="leave it out: a query takes a small part of the policy's delta",
        )
    events = tuple(event for stage in stages for measure in stage.measures for event in measure.events)
    taken = terms.accountant.delta(charged(terms.accountant, events))
    if taken > option.value * DELTA_UNIT:
        raise refuse(
            "D304",
            f"this query needs a delta of {taken / DELTA_UNIT:g}",
            option.span,
            label="more than its ceiling; the accountant sets it, and with less no group could be shown",
            help="leave delta out, or group by columns with declared values, which needs none",
        )

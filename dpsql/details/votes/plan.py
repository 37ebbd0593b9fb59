"""MODE: one choice of a value in each group."""

from __future__ import annotations

from fractions import Fraction

from dpsql.detail_kinds import Ask
from dpsql.details.votes.detail import Votes
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan
from dpsql.plan.choice_price import WEIGHT, sized


def planned(
    detail: Votes, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
) -> DetailPlan[Votes]:
    """Plan one choice of a value in each group."""
    epsilon = ask(share).choice
    detail_plan = DetailPlan(detail, rows, rows * WEIGHT, (ChoiceEvent(epsilon),), None, epsilon, 1)
    return sized(detail_plan, detail.argument)


def own_rows(detail: Votes) -> None:
    """Return None: the clip decides, as for sums."""

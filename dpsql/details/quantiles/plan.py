"""The price of a histogram's order statistics: the levels of choices, and the densities for margins.

three quantiles, epsilon 1    two levels at 17/40 each, distances for margins at 3/20
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.detail_kinds import Ask
from dpsql.details.quantiles.detail import Histogram
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.grid import TIMED, End
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan
from dpsql.mechanisms.density import SHARE
from dpsql.mechanisms.quantiles import levels
from dpsql.plan.choice_price import WEIGHT, sized


def planned(
    detail: Histogram, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
) -> DetailPlan[Histogram]:
    """Plan one choice for each level of the tree; extremes and dates have no margins, so they pay none."""
    kind = fact_of(detail.argument, facts_of(measure.relation)).type.kind
    number = levels(detail.targets)
    dense = kind not in TIMED and any(not isinstance(target, End) for target in detail.targets)
    epsilon = ask(share * (1 - SHARE if dense else 1) / number).choice
    events = (ChoiceEvent(epsilon),) * number
    if dense:
        events += (ChoiceEvent(ask(share * SHARE).choice),)
    return sized(DetailPlan(detail, rows, rows * WEIGHT, events, None, epsilon, number), detail.argument)


def own_rows(detail: Histogram) -> None:
    """Return None: the clip decides, as for sums."""

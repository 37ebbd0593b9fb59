"""Which mechanism releases the numbers of a detail, and what it costs.

Histogram   choices by the exponential mechanism
Votes       one such choice
Matching    a count of claims, with noise
Blocks      one choice among the blocks' values
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from dpsql.accounting import Allowance
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind
from dpsql.ir.detail import BINS, Blocks, BoundSearch, Detail, Histogram, Matching, Votes
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan, Noise
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.blocks import how_many
from dpsql.plan.order_statistics import planned_choice, planned_choices

Ask = Callable[[Fraction], Allowance]
"""What a share of the price buys."""


def planned_detail(
    detail: Detail, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
) -> DetailPlan:
    """``rows`` of a unit count in full, it is proved to be in ``groups``; ``share`` is of the price."""
    match detail:
        case Histogram():
            return planned_choices(detail, _kind(detail, measure), rows, share, ask)
        case Votes():
            return planned_choice(detail, rows, share, ask)
        case Matching(most=most):
            return _matched(detail, most, ask(share))
        case Blocks():
            return _blocks(detail, measure, groups, ask(share).choice)
        case BoundSearch():
            raise AssertionError("bounds are found by a plan of their own: plan/bound_search.py")
        case _:
            assert_never(detail)


def _kind(detail: Histogram, measure: Measure) -> Kind:
    return fact_of(detail.argument, facts_of(measure.relation)).type.kind


def _matched(detail: Matching, most: int, allowance: Allowance) -> DetailPlan:
    """One unit moves all counts by ``most`` in either norm: the noise with the smaller deviation."""
    noises = [_noise("laplace", most, 1 / allowance.laplace, allowance)]
    if allowance.gaussian is not None:
        noises.append(_noise("gaussian", most, allowance.gaussian, allowance))
    noise = min(noises, key=lambda each: mechanism(each.mechanism).deviation(each.scale))
    if not noise.scale < 2**50:
        raise refuse(
            "D503",
            "the price is too small: the noise would not fit the grid",
            detail.argument.span,
            help="pay more for this query",
        )
    return DetailPlan(detail, most, most, (noise.event,), noise)


def _noise(name: str, most: int, ratio: float, allowance: Allowance) -> Noise:
    chosen = mechanism(name)
    scale = chosen.scale_for(most, ratio)
    event = chosen.event(most, scale, allowance.gaussian_epsilon, allowance.gaussian_point_delta)
    return Noise(name, chosen.NORM, most, scale, event)


def _blocks(detail: Blocks, measure: Measure, groups: int | None, epsilon: float) -> DetailPlan:
    if groups is None:
        raise refuse(
            "D302",
            "nothing says in how many groups one unit's blocks are",
            measure.span,
            label="rows of one unit may be in any number of groups",
            help="take DP_SAMPLE of all rows, or group by what each unit has one of",
        )
    events = (ChoiceEvent(epsilon),)
    blocks = how_many(epsilon, groups, BINS)
    return DetailPlan(detail, 0, 2 * groups, events, epsilon=epsilon, choices=1, blocks=blocks)

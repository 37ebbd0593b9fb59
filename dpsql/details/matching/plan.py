"""A count of claims, with the noise of the smaller deviation."""

from __future__ import annotations

from fractions import Fraction

from dpsql.detail_kinds import Ask
from dpsql.details.matching.detail import Matching
from dpsql.errors import refuse
from dpsql.ir.allowance import Allowance
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan, Noise
from dpsql.mechanisms import mechanism


def planned(
    detail: Matching, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
) -> DetailPlan[Matching]:
    """One unit moves all counts by ``most`` in either norm: the noise with the smaller deviation."""
    allowance, most = ask(share), detail.most
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


def own_rows(detail: Matching) -> int:
    """It has a bound of its own."""
    return detail.most


def _noise(name: str, most: int, ratio: float, allowance: Allowance) -> Noise:
    chosen = mechanism(name)
    scale = chosen.scale_for(most, ratio)
    event = chosen.event(most, scale, allowance.gaussian_epsilon, allowance.gaussian_point_delta)
    return Noise(name, chosen.NORM, most, scale, event)

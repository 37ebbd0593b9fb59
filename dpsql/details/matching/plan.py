"""COUNT(DISTINCT x): a count of claims, with the noise that has the smaller standard deviation."""

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
    """Choose between Laplace and Gaussian noise.

    One unit changes the counts by at most ``most`` in either norm; the smaller deviation wins.
    """
    allowance, most = ask(share), detail.most
    noises = [_noise("laplace", most, 1 / allowance.laplace, allowance)]
    if allowance.gaussian is not None:
        noises.append(_noise("gaussian", most, allowance.gaussian, allowance))
    noise = min(noises, key=lambda noise: mechanism(noise.mechanism).deviation(noise.scale))
    if not noise.scale < 2**50:
        raise refuse(
            "D503",
            "the price is too small: the noise would not fit the grid",
            detail.argument.span,
            help="pay more for this query",
        )
    return DetailPlan(detail, most, most, (noise.event,), noise)


def own_rows(detail: Matching) -> int:
    """Return the limit on claimed values, which bounds the detail instead of a clip."""
    return detail.most


def _noise(name: str, most: int, ratio: float, allowance: Allowance) -> Noise:
    rule = mechanism(name)
    scale = rule.scale_for(most, ratio)
    event = rule.event(most, scale, allowance.gaussian_epsilon, allowance.gaussian_point_delta)
    return Noise(name, rule.NORM, most, scale, event)

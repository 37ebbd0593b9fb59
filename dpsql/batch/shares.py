"""One total price, shared over the statements of a file.

    --epsilon 2, zcdp     rho of the whole = what a price of 2 buys
    weights 1, 1, 2       a quarter, a quarter, a half of that rho
    prices                0.9488, 0.9488, 1.375        each alone; all three together: 2

Prices are shared by their weights, in what the accountant adds up (rho under ``zcdp``), so that the whole
file costs the total. What a statement could not take, for the owner's ceiling, the others get.

Without declared weights the shares make the sum of the statements' relative errors least. The relative
error of a statement is its noise beside what is in a group if people fall evenly into the groups. With a
share u it is a/u^p, where p is the accountant's ``noise_power``; so u is proportional to a^(1/(1 + p)).
The factor a is known from the plan alone: see ``strain``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from dpsql.accounting import Accountant, Budget
from dpsql.ir.detail import Detail
from dpsql.ir.plan import DetailPlan, MeasurePlan, Noise, Plan, PublicKeys
from dpsql.mechanisms import mechanism

GROUPS = 20
"""How many private groups there are, where only the data knows."""

_RANKS = 3.0
"""A choice at epsilon is off by about so many rows over epsilon, in 95 of 100 cases."""


def shared(
    total: float, weights: Sequence[float], accountant: Accountant, budget: Budget, ceiling: float
) -> tuple[float, ...]:
    """The price of each statement, rounded down to four digits; none is above the ceiling."""
    whole, most = accountant.weight(total, budget), accountant.weight(ceiling, budget)
    parts = _filled(whole, weights, most)
    return tuple(min(ceiling, _down(accountant.price_of_weight(each, budget))) for each in parts)


def combined(prices: Sequence[float], accountant: Accountant, budget: Budget) -> float:
    """What remains of a total price when these are taken off, weight from weight, as a price."""
    first, *others = prices
    left = accountant.weight(first, budget) - sum(accountant.weight(each, budget) for each in others)
    return 0.0 if left <= 0 else accountant.price_of_weight(left, budget)


def _filled(whole: float, weights: Sequence[float], most: float) -> list[float]:
    """The whole in proportion to weights, but nobody gets more than ``most``."""
    found = [0.0] * len(weights)
    left, open_ = whole, set(range(len(weights)))
    while open_:
        heaviest = sum(weights[at] for at in open_)
        full = {at for at in open_ if left * weights[at] / heaviest >= most}
        if not full:
            for at in open_:
                found[at] = left * weights[at] / heaviest
            break
        for at in full:
            found[at] = most
        left, open_ = left - most * len(full), open_ - full
    return found


def _down(price: float) -> float:
    step = 10.0 ** (math.floor(math.log10(price)) - 3) if price > 0 else 1.0
    return float(f"{math.floor(price / step * (1 + 1e-9)) * step:.4g}")


# ---- how much of the whole a statement needs -----------------------------------------------------------


def balance(plans: Sequence[Plan], accountant: Accountant) -> list[float]:
    """Weights that make the sum of relative errors least, for plans that were made at one price."""
    return [strain(each) ** (1 / (1 + accountant.noise_power)) for each in plans]


def strain(plan: Plan) -> float:
    """The relative error of a typical number: how far noise reaches, over what a unit gives to a group at

    most, times the number of groups. A unit's rows and the bounds of values cancel.
    """
    return fmean(
        error * _groups(each) for stage in plan.stages for each in stage.measures for error in _errors(each)
    )


def _groups(each: MeasurePlan) -> int:
    if not isinstance(each.rule, PublicKeys):
        return GROUPS
    sizes = [len(values) for values in each.rule.domains]
    if not each.rule.sets:
        return max(1, math.prod(sizes))
    return max(1, sum(math.prod(sizes[at] for at in positions) for _, positions in each.rule.sets))


def _errors(each: MeasurePlan) -> list[float]:
    rows = each.rows or 1
    reach = _reach(each.noise)
    found = [reach / (rows * statistic.most) for statistic in each.measure.statistics]
    return [*found, *map(_error, each.details)] or [1.0]


def _error(detail: DetailPlan[Detail]) -> float:
    if detail.noise is not None:
        return _reach(detail.noise) / max(1, detail.sensitivity)
    return _RANKS / detail.epsilon if detail.epsilon else 1.0


def _reach(noise: Noise) -> float:
    """How far noise reaches, in proportion to its scale, as a share of the price is.

    Whole units do so at low prices only: at high ones 95 of 100 draws of them are 0, and so is their
    half-width, while those of a share of the price reach as far as Laplace noise does.
    """
    name = "laplace" if noise.mechanism == "geometric" else noise.mechanism
    return mechanism(name).half_width(noise.scale)

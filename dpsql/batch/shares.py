"""Share one total price over the statements of a file.

    --epsilon 2, zcdp     the rho that a price of 2 buys
    weights 1, 1, 2       a quarter, a quarter and a half of that rho
    prices                0.9488, 0.9488, 1.375        of each alone; all three together: 2

The weights divide what the accountant adds up (rho under ``zcdp``), so that the file costs the total. If the
owner's ceiling limits the price of a statement, the other statements share the rest.

Without declared weights the shares minimize the sum of the statements' relative errors. The relative error of
a statement is its noise divided by the size of a group, if people are spread evenly over the groups. With a
share u it is a/u^p, where p is the accountant's ``noise_power``; so u is proportional to a^(1/(1 + p)).
``strain`` computes the factor a from the plan alone.
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
"""Assumed number of groups of a private key: only the data knows it."""

_RANKS = 3.0
"""Error of a choice in rows, times epsilon, in 95 of 100 cases."""


def shared(
    total: float, weights: Sequence[float], accountant: Accountant, budget: Budget, ceiling: float
) -> tuple[float, ...]:
    """Return the price of each statement, rounded down to four digits; none is above the ceiling."""
    amount, most = accountant.weight(total, budget), accountant.weight(ceiling, budget)
    parts = _divided(amount, weights, most)
    return tuple(min(ceiling, _rounded_down(accountant.price_of_weight(part, budget))) for part in parts)


def added(prices: Sequence[float], accountant: Accountant, budget: Budget) -> float:
    """Return, as one price, what these prices spend together, rounded down to four digits."""
    amount = sum(accountant.weight(price, budget) for price in prices)
    return _rounded_down(accountant.price_of_weight(amount, budget))


def combined(prices: Sequence[float], accountant: Accountant, budget: Budget) -> float:
    """Return, as a price, what remains of the first price after the others are subtracted from it."""
    total, *parts = prices
    left = accountant.weight(total, budget) - sum(accountant.weight(part, budget) for part in parts)
    return 0.0 if left <= 0 else accountant.price_of_weight(left, budget)


def _divided(amount: float, weights: Sequence[float], most: float) -> list[float]:
    """Divide an amount in proportion to weights, with at most ``most`` in each part."""
    parts = [0.0] * len(weights)
    left, below = amount, set(range(len(weights)))
    while below:
        weight = sum(weights[place] for place in below)
        full = {place for place in below if left * weights[place] / weight >= most}
        if not full:
            for place in below:
                parts[place] = left * weights[place] / weight
            break
        for place in full:
            parts[place] = most
        left, below = left - most * len(full), below - full
    return parts


def _rounded_down(price: float) -> float:
    step = 10.0 ** (math.floor(math.log10(price)) - 3) if price > 0 else 1.0
    return float(f"{math.floor(price / step * (1 + 1e-9)) * step:.4g}")


# ---- the share that a statement needs ------------------------------------------------------------------


def balance(plans: Sequence[Plan], accountant: Accountant) -> list[float]:
    """Return weights that minimize the sum of relative errors, for plans made at one price."""
    return [strain(plan) ** (1 / (1 + accountant.noise_power)) for plan in plans]


def strain(plan: Plan) -> float:
    """Return the relative error of a typical number.

    It is the half-width of the noise, divided by the most that a unit adds to a group, times the number of
    groups. A unit's rows and the bounds of values cancel.
    """
    return fmean(
        error * _groups(measure)
        for stage in plan.stages
        for measure in stage.measures
        for error in _errors(measure)
    )


def _groups(measure: MeasurePlan) -> int:
    """Return the number of groups: all combinations of public keys, or a guess."""
    if not isinstance(measure.rule, PublicKeys):
        return GROUPS
    sizes = [len(values) for values in measure.rule.domains]
    if not measure.rule.sets:
        return max(1, math.prod(sizes))
    return max(1, sum(math.prod(sizes[place] for place in places) for _, places in measure.rule.sets))


def _errors(measure: MeasurePlan) -> list[float]:
    """Return the error of each statistic and detail, relative to what one unit adds to a group."""
    rows = measure.rows or 1
    width = _half_width(measure.noise)
    deviations = measure.deviations()
    if deviations is not None:
        width *= float(deviations.mean())
    errors = [width / (rows * statistic.most) for statistic in measure.measure.statistics]
    return [*errors, *map(_detail_error, measure.details)] or [1.0]


def _detail_error(detail: DetailPlan[Detail]) -> float:
    if detail.noise is not None:
        return _half_width(detail.noise) / max(1, detail.sensitivity)
    return _RANKS / detail.epsilon if detail.epsilon else 1.0


def _half_width(noise: Noise) -> float:
    """Return the half-width of noise as a function of its scale that is proportional to it.

    The half-width of geometric noise is not: at a high price 95 of 100 draws are 0, and so is the half-width.
    Laplace noise of the same scale takes its place, since a share of the price makes the scale larger.
    """
    name = "laplace" if noise.mechanism == "geometric" else noise.mechanism
    return mechanism(name).half_width(noise.scale)

"""Approximate differential privacy by basic composition: epsilons add up, and deltas add up.

A query takes the same fraction of the whole delta as of the whole epsilon, so that both run out together.
Beside a threshold, Gaussian noise gets 55 % of the query's delta and the threshold the rest. Laplace noise
needs no delta.

Claim   queries whose charges stay within the total are together (epsilon, delta)-private, even when
        each is chosen after seeing the answers of those before.
Proof   Laplace noise is (D/b, 0)-private. Gaussian noise is private at every point of its curve
        (Balle and Wang 2018, theorem 8), so also at the planned point, which is checked again here.
        Keys shown by a threshold add its delta. Basic composition is adaptive (Rogers et al. 2016).
Test    tests/privacy/test_accountants.py
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.accounting import DELTA_UNIT, AccountantOf, Budget
from dpsql.accounting.conversions import analytic_sigma, gaussian_delta
from dpsql.accounting.rounding import (
    INVERTIBLE,
    at_most,
    delta_units,
    down,
    epsilon_of,
    price,
    ratio_of,
    shown,
    too_small,
    too_small_to_show,
    up,
)
from dpsql.accounting.units import UNIT, UnitAccountant, Units
from dpsql.ir.allowance import Allowance
from dpsql.ir.event import (
    AlertEvent,
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)

NOISE_SHARE = Fraction(55, 100)
"""Share of a query's delta for noise beside a threshold; .54 to .62 give nearly the lowest threshold."""


class Approx(UnitAccountant):
    """Basic composition: sums of (epsilon, delta)."""

    name = "approx"

    def total(self, budget: Budget) -> Units:
        return Units(down(Fraction(budget.epsilon)), down(Fraction(budget.delta), DELTA_UNIT))

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        total = self.total(budget)
        units = down(price(epsilon) * share)
        if not units:
            raise too_small(epsilon)
        exact = Fraction(units, UNIT)
        laplace, choice = at_most(exact * INVERTIBLE), at_most(exact)
        deltas = min(total.delta, total.delta * units // total.main)
        if thresholds and deltas < 2 <= total.delta:
            raise too_small_to_show(epsilon)
        if deltas < 2:  # too little for both noise and threshold
            return Allowance(laplace, choice, None, None, None, geometric=laplace)
        noise = math.ceil(deltas * NOISE_SHARE) if thresholds else deltas
        point = at_most(Fraction(units, UNIT)), at_most(Fraction(noise, DELTA_UNIT))
        return Allowance(
            laplace,
            choice,
            analytic_sigma(*point),
            at_most(Fraction(deltas, DELTA_UNIT)) if thresholds else None,
            at_most(Fraction(deltas - noise, DELTA_UNIT)) if thresholds else None,
            *point,
            geometric=laplace,
        )

    def _charge(self, event: Event) -> Units:
        match event:
            case LaplaceEvent() | GeometricEvent():
                return Units(up(ratio_of(event)))
            case ChoiceEvent():
                return Units(up(epsilon_of(event)))
            case GaussianEvent(epsilon=epsilon, delta=delta):
                ratio = ratio_of(event)
                if not ratio:
                    return Units()
                if epsilon is None or delta is None:
                    raise TypeError(f"no point (epsilon, delta) was planned for {event}")
                if not (0 <= epsilon < math.inf and gaussian_delta(at_most(1 / ratio), epsilon) <= delta):
                    raise ValueError(f"the planned point is not on the curve of {event}")
                return Units(up(Fraction(epsilon)), up(Fraction(delta), DELTA_UNIT))
            case ThresholdEvent():
                return Units(0, delta_units(event))
            case ResponseEvent() | AlertEvent():
                return Units(up(epsilon_of(event)))
            case _:
                assert_never(event)

    def epsilon(self, spent: Units, budget: Budget) -> float:
        return shown(Fraction(spent.main, UNIT))


ACCOUNTANT: AccountantOf[Units] = Approx()

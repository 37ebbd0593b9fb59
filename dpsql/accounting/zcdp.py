"""Zero-concentrated differential privacy: rhos add up, so many queries cost less than their epsilons.

Four fifths of the owner's delta convert rho to epsilon; one fifth is for thresholds. A price epsilon buys
the rho that alone is (epsilon, .8 delta)-private, but never a larger fraction of the whole rho than epsilon
is of the whole epsilon: delta alone is worth some rho, and a price near zero would otherwise buy it. A
query with a threshold takes the same fraction of the last fifth as of the whole rho, so that both run out
together.

Claim   queries whose charges stay within the total are together (epsilon, delta)-private, even when
        each is chosen after seeing the answers of those before.
Proof   Gaussian noise is D^2/(2 sigma^2)-zCDP (Bun and Steinke 2016, proposition 1.6). Laplace noise with
        eps0 = D/b is (eps0 - 1 + exp(-eps0))-zCDP: see mechanisms/laplace.py. A choice with a loss that
        ranges over epsilon is epsilon^2/8-zCDP (Cesar and Rogers 2021, by Hoeffding's lemma). Anything
        epsilon-private is epsilon tanh(epsilon/2)-zCDP: see conversions.response_rho. Keys shown by a
        threshold make it delta-approximate zCDP; sums of rho and of delta compose adaptively, as a filter
        (Feldman and Zrnic 2021; Whitehouse et al. 2023). rho gives (epsilon, .8 delta) by Canonne, Kamath
        and Steinke 2020, proposition 12, and the threshold's sum is at most .2 delta.
Test    tests/privacy/test_accountants.py
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpsql.accounting import DELTA_UNIT, AccountantOf, Budget
from dpsql.accounting.conversions import (
    laplace_eps0,
    laplace_rho,
    response_rho,
    rho_sigma,
    zcdp_eps,
    zcdp_rho,
)
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
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)

SELECTION = Fraction(1, 5)
"""Share of the owner's delta for thresholds."""


class Zcdp(UnitAccountant):
    """Composition of zCDP: sums of (rho, delta of thresholds)."""

    name = "zcdp"
    noise_power = 0.5  # rho goes with the square of sensitivity over scale

    def total(self, budget: Budget) -> Units:
        return _total(budget)

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        return _allowance(epsilon, budget, share, thresholds)

    def _charge(self, event: Event) -> Units:
        match event:
            case LaplaceEvent():
                return Units(up(laplace_rho(ratio_of(event))))
            case GeometricEvent():
                return Units(up(response_rho(ratio_of(event))))
            case GaussianEvent():
                return Units(up(ratio_of(event) ** 2 / 2))
            case ChoiceEvent():
                return Units(up(epsilon_of(event) ** 2 / 8))
            case ThresholdEvent():
                return Units(0, delta_units(event))
            case ResponseEvent():
                return Units(up(response_rho(epsilon_of(event))))
            case _:
                assert_never(event)

    def epsilon(self, spent: Units, budget: Budget) -> float:
        if not spent.main:
            return 0.0
        total = self.total(budget).main
        proven = Fraction(zcdp_eps(spent.main / UNIT, _conversion_delta(budget)))
        if spent.main > total:
            return shown(proven)
        # a price takes at most its share of the epsilon from the rho that delta alone is worth: see allowance
        part = Fraction(budget.epsilon) * spent.main / total
        return min(shown(max(proven, part)), budget.epsilon)


@lru_cache(maxsize=256)
def _total(budget: Budget) -> Units:
    rho = zcdp_rho(budget.epsilon, _conversion_delta(budget))
    return Units(down(Fraction(rho)), down(Fraction(budget.delta) * SELECTION, DELTA_UNIT))


@lru_cache(maxsize=256)
def _allowance(epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
    total = _total(budget)
    part = total.main * price(epsilon) / Fraction(budget.epsilon)
    rho = Fraction(zcdp_rho(epsilon, _conversion_delta(budget)))
    units = math.floor(min(rho * UNIT, part) * share)
    deltas = min(total.delta, total.delta * units // max(1, total.main))
    if not units:
        raise too_small(epsilon)
    if thresholds and not deltas:
        raise too_small_to_show(epsilon)
    exact = Fraction(units, UNIT)
    delta = at_most(Fraction(deltas, DELTA_UNIT)) if thresholds else None
    laplace = at_most(Fraction(laplace_eps0(exact)) * INVERTIBLE)
    choice = at_most(Fraction(math.isqrt(8 * units * UNIT), UNIT))  # epsilon^2 / 8 is within the units
    return Allowance(laplace, choice, rho_sigma(exact), delta, delta)


@lru_cache(maxsize=256)
def _conversion_delta(budget: Budget) -> float:
    return at_most(Fraction(budget.delta) * (1 - SELECTION))


ACCOUNTANT: AccountantOf[Units] = Zcdp()

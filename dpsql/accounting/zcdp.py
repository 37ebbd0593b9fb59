"""Zero-concentrated differential privacy: rhos add up, and many queries cost less than their epsilons.

Of the owner's delta, four fifths turn rho into epsilon and one fifth is for thresholds. A price epsilon
buys the rho that alone is (epsilon, four fifths)-private, but never a larger part of the whole rho than
it is of the whole epsilon (delta alone is worth some rho, which an epsilon of almost nothing would
otherwise buy). A query that thresholds takes of the last fifth the fraction that its rho is of the
whole rho, so that both run out together.

Claim   queries whose charges stay within the total are together (epsilon, delta)-private, even when
        each is chosen after seeing the answers of those before.
Proof   Gaussian noise is D^2/(2 sigma^2)-zCDP (Bun and Steinke 2016, proposition 1.6). Laplace noise with
        eps0 = D/b is (eps0 - 1 + exp(-eps0))-zCDP: see mechanisms/laplace.py. A choice whose loss ranges
        over epsilon is epsilon^2/8-zCDP (Cesar and Rogers 2021, by Hoeffding's lemma). Whatever is
        epsilon-private is epsilon tanh(epsilon/2)-zCDP: see conversions.response_rho. Keys shown by a
        threshold make it delta-approximate zCDP; sums of rho and of delta compose adaptively, as a filter
        (Feldman and Zrnic 2021; Whitehouse et al. 2023). rho gives (epsilon, .8 delta) by Canonne, Kamath
        and Steinke 2020, proposition 12, and the threshold's sum is at most .2 delta.
Test    tests/privacy/test_accountants.py
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.accounting import DELTA_UNIT, UNIT, Accountant, Allowance, Budget, Spent
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
"""Of the owner's delta, for thresholds."""


class Zcdp:
    """(rho, delta of thresholds), added up."""

    name = "zcdp"

    def total(self, budget: Budget) -> Spent:
        rho = zcdp_rho(budget.epsilon, _conversion_delta(budget))
        return Spent(down(Fraction(rho)), down(Fraction(budget.delta) * SELECTION, DELTA_UNIT))

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        total = self.total(budget)
        part = total.main * price(epsilon) / Fraction(budget.epsilon)
        rho = Fraction(zcdp_rho(epsilon, _conversion_delta(budget)))
        units = math.floor(min(rho * UNIT, part) * share)
        deltas = min(total.delta, total.delta * units // max(1, total.main))
        if not units:
            raise too_small(epsilon)
        if thresholds and not deltas:
            raise too_small_to_show(epsilon)
        each = Fraction(units, UNIT)
        delta = at_most(Fraction(deltas, DELTA_UNIT)) if thresholds else None
        laplace = at_most(Fraction(laplace_eps0(each)) * INVERTIBLE)
        choice = at_most(Fraction(math.isqrt(8 * units * UNIT), UNIT))  # epsilon^2 / 8 is within the units
        return Allowance(laplace, choice, rho_sigma(each), delta, delta)

    def charge(self, events: tuple[Event, ...]) -> Spent:
        return sum((self._charge(event) for event in events), Spent())

    def _charge(self, event: Event) -> Spent:
        match event:
            case LaplaceEvent():
                return Spent(up(laplace_rho(ratio_of(event))))
            case GeometricEvent():
                return Spent(up(response_rho(ratio_of(event))))
            case GaussianEvent():
                return Spent(up(ratio_of(event) ** 2 / 2))
            case ChoiceEvent():
                return Spent(up(epsilon_of(event) ** 2 / 8))
            case ThresholdEvent():
                return Spent(0, delta_units(event))
            case ResponseEvent():
                return Spent(up(response_rho(epsilon_of(event))))
            case _:
                assert_never(event)

    def epsilon(self, spent: Spent, budget: Budget) -> float:
        if not spent.main:
            return 0.0
        total = self.total(budget).main
        proven = Fraction(zcdp_eps(spent.main / UNIT, _conversion_delta(budget)))
        if spent.main > total:
            return shown(proven)
        # of what delta alone is worth, a price took the part that it is of the whole epsilon (allowance)
        part = Fraction(budget.epsilon) * spent.main / total
        return min(shown(max(proven, part)), budget.epsilon)


def _conversion_delta(budget: Budget) -> float:
    return at_most(Fraction(budget.delta) * (1 - SELECTION))


ACCOUNTANT: Accountant = Zcdp()

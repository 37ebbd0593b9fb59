"""Zero-concentrated differential privacy: rhos add up, so many queries cost less than their epsilons.

What a price buys, and which part of delta is for thresholds, is in ``concentrated``.

Claim   queries whose charges stay within the total are together (epsilon, delta)-private, even when
        each is chosen after seeing the answers of those before.
Proof   Gaussian noise is D^2/(2 sigma^2)-zCDP (Bun and Steinke 2016, proposition 1.6). Laplace noise with
        eps0 = D/b is (eps0 - 1 + exp(-eps0))-zCDP: see mechanisms/laplace.py. A choice with a loss that
        ranges over epsilon is a little less than epsilon^2/8-zCDP (Cesar and Rogers 2021): see choices.
        Anything epsilon-private is epsilon tanh(epsilon/2)-zCDP: see conversions.response_rho; answers of
        more than two values cost less: see responses. Keys shown by a threshold make it delta-approximate
        zCDP; sums of rho and of delta compose adaptively, as a filter (Feldman and Zrnic 2021; Whitehouse et
        al. 2023). rho gives (epsilon, .8 delta) by Canonne, Kamath and Steinke 2020, proposition 12, and the
        sum of thresholds is at most .2 delta.
Test    tests/privacy/test_accountants.py
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.accounting import AccountantOf
from dpsql.accounting.choices import choice_rho
from dpsql.accounting.concentrated import Concentrated, Noise
from dpsql.accounting.conversions import (
    laplace_eps0,
    laplace_rho,
    response_rho,
    rho_sigma,
    zcdp_eps,
    zcdp_rho,
)
from dpsql.accounting.responses import designed_rho
from dpsql.accounting.rounding import INVERTIBLE, at_most, delta_units, epsilon_of, ratio_of, up
from dpsql.accounting.units import UNIT, Units
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
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Zcdp(Concentrated):
    """Composition of zCDP: sums of (rho, delta of thresholds)."""

    name = "zcdp"

    def bound(self, order: float | None, reserve: bool) -> AccountantOf[Units]:
        if order is not None:
            return super().bound(order, reserve)
        return self if reserve == self.reserve else Zcdp(reserve)

    def bought(self, epsilon: float, delta: float) -> Fraction:
        return Fraction(zcdp_rho(epsilon, delta))

    def proven(self, amount: Fraction, delta: float) -> float:
        return zcdp_eps(float(amount), delta)

    def noise(self, amount: Fraction, epsilon: float) -> Noise:
        laplace = at_most(Fraction(laplace_eps0(amount)) * INVERTIBLE)
        units = amount.numerator * UNIT // amount.denominator
        choice = at_most(Fraction(math.isqrt(8 * units * UNIT), UNIT))  # epsilon^2 / 8 is within the units
        return Noise(laplace, choice, rho_sigma(amount))

    def _charge(self, event: Event) -> Units:
        match event:
            case LaplaceEvent():
                return self._units(up(laplace_rho(ratio_of(event))))
            case GeometricEvent():
                return self._units(up(response_rho(ratio_of(event))))
            case GaussianEvent():
                return self._units(up(ratio_of(event) ** 2 / 2))
            case ChoiceEvent():
                return self._units(up(choice_rho(epsilon_of(event))))
            case ThresholdEvent():
                return self._units(0, delta_units(event))
            case ResponseEvent():
                return self._response(event, designed_rho(epsilon_of(event), event.values))
            case AlertEvent():
                return self._units(up(response_rho(epsilon_of(event))))
            case _:
                assert_never(event)


ACCOUNTANT: AccountantOf[Units] = Zcdp()

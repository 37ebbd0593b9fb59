"""Renyi differential privacy at one order: divergences add up; large single events cost less than in zcdp.

The order a is chosen when the ledger is opened, and stored in its promise: the one at which zCDP turns rho
into the budget's epsilon, at least ``LEAST``. Divergences at a are added up. What a price buys, and which
part of delta is for thresholds, is in ``concentrated``.

    a budget of 5 (delta 1e-6), order 6.176      zcdp          rdp
    Laplace noise of .5                          23.4 %        13.6 %
    a coin-flip response, ln 3                   120.5 %       37.0 %

Claim   queries whose charges stay within a total of r are together (epsilon, delta)-private, even when each
        is chosen after seeing the answers of those before; so they are for another epsilon (an analyst's, a
        later grant's) with the total that ``bought`` returns for it. No event costs more than a times its
        zcdp charge, and one unit.
Proof   Each charge is at least the Renyi divergence of order a between neighbours, in both directions: see
        ``divergences``. Keys shown by a threshold make it delta-approximate. Such divergences at one order,
        fixed in advance, are a filter: while their sum stays within r, so does the divergence of everything
        that was seen (Feldman and Zrnic 2021, theorem 3.1; Whitehouse et al. 2023 with deltas). Divergence r
        at order a is (epsilon, .8 delta)-private with r = epsilon - ln(1 - 1/a) + ln(.8 delta a) / (a-1), by
        Canonne, Kamath and Steinke 2020, proposition 12; thresholds have at most .2 delta.
        Let rho = r/a. The divergence of each event, over its order, falls with the order (``divergences``),
        so that events whose charges at a are within a rho are within b rho at every order b >= a, and are a
        filter there too. ``bought`` is a times the greatest rho over orders b >= a, and b is a function of
        epsilon, delta and a alone, all fixed before the first event. Nothing is minimized over orders after
        the fact, but for what is shown as spent.
Test    tests/privacy/test_accountants.py, tests/privacy/test_divergences.py
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpsql.accounting import AccountantOf, Budget
from dpsql.accounting.concentrated import Concentrated, Noise, conversion_delta
from dpsql.accounting.conversions import best_order, rho_sigma, zcdp_eps, zcdp_rho
from dpsql.accounting.divergences import (
    choice_divergence,
    gaussian_divergence,
    laplace_divergence,
    largest_within,
    response_divergence,
)
from dpsql.accounting.responses import designed_divergence
from dpsql.accounting.rounding import INVERTIBLE, at_most, delta_units, epsilon_of, ratio_of, up
from dpsql.accounting.units import Units
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
from dpsql.mechanisms import at_least

LEAST = 2.0
"""The least order: from there on, the divergence of a choice over its order falls."""


@dataclass(frozen=True)
class Rdp(Concentrated):
    """Composition at one Renyi order: sums of (divergence, delta of thresholds)."""

    order: float | None = None
    name = "rdp"

    def best_order(self, budget: Budget) -> float:
        most = max(budget.epsilon, budget.up_to or 0.0)
        rest = self.rest(Budget(most, budget.delta, budget.responses))
        return max(LEAST, best_order(rest.epsilon, conversion_delta(budget)))

    def bound(self, order: float | None, reserve: bool) -> AccountantOf[Units]:
        if type(order) is not float or not LEAST <= order < 2.0**50:
            raise ValueError(f"no ledger can have the order {order}")
        return _bound(reserve, order)

    @property
    def _order(self) -> Fraction:
        if self.order is None:
            raise TypeError("rdp has no order before a ledger is opened")
        return Fraction(self.order)

    def bought(self, epsilon: float, delta: float) -> Fraction:
        return self._order * Fraction(zcdp_rho(epsilon, delta, float(self._order)))

    def proven(self, amount: Fraction, delta: float) -> float:
        return zcdp_eps(at_least(amount / self._order), delta, float(self._order))

    def noise(self, amount: Fraction, epsilon: float) -> Noise:
        """Return the noise; the epsilon of each noise that has one is also at most the price."""
        order = self._order
        laplace = min(epsilon, largest_within(laplace_divergence, order, amount))
        geometric = min(epsilon, largest_within(response_divergence, order, amount))
        return Noise(
            at_most(Fraction(laplace) * INVERTIBLE),
            min(epsilon, largest_within(choice_divergence, order, amount)),
            rho_sigma(amount / order),
            at_most(Fraction(geometric) * INVERTIBLE),
        )

    def _charge(self, event: Event) -> Units:
        order = self._order
        match event:
            case LaplaceEvent():
                return self._units(up(laplace_divergence(ratio_of(event), order)))
            case GeometricEvent():
                return self._units(up(response_divergence(ratio_of(event), order)))
            case GaussianEvent():
                return self._units(up(gaussian_divergence(ratio_of(event), order)))
            case ChoiceEvent():
                return self._units(up(choice_divergence(epsilon_of(event), order)))
            case ThresholdEvent():
                return self._units(0, delta_units(event))
            case ResponseEvent():
                return self._response(event, designed_divergence(epsilon_of(event), event.values, order))
            case AlertEvent():
                return self._units(up(response_divergence(epsilon_of(event), order)))
            case _:
                assert_never(event)


_bound = lru_cache(maxsize=256)(Rdp)

ACCOUNTANT: AccountantOf[Units] = Rdp()

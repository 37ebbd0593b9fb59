"""Base of accountants that add up divergences: zcdp and rdp.

Four fifths of the owner's delta turn divergences into epsilon; one fifth is for thresholds. A price e buys
the amount that alone is (e, .8 delta)-private, but never a larger fraction of the whole amount than e is of
the whole epsilon: delta alone is worth some amount, and a price near zero would otherwise buy it. A query
with a threshold takes the same fraction of the last fifth as of the whole amount, so that both run out
together.

    epsilon 5, of which responses have 1.2     a price of 1 buys the amount of (1, .8 delta), or 1/3.8 of all
    a response of ln 3                         takes 1.0987 of the 1.2, and nothing else

Claim   with a reserve of x for responses, all that is answered is (x + epsilon of the rest, delta)-private.
Proof   The reserve and the rest are fixed when the ledger is opened, and each has a sum of its own that stays
        within it, whatever was seen. A response that is e-private has a Renyi divergence of at most e at
        every order, given everything before it. So at the order a at which the rest is within its cap r, the
        filter's sum of divergences stays within x + r (Feldman and Zrnic 2021), and the conversion of a
        divergence to epsilon at a given delta adds one number to both: epsilon is x plus that of r. What is
        kept for responses is never moved to the rest, nor back.
Test    tests/privacy/test_accountants.py, tests/privacy/test_reserve.py
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from dpsql.accounting import DELTA_UNIT, Budget
from dpsql.accounting.rounding import (
    at_most,
    down,
    epsilon_of,
    price,
    shown,
    too_small,
    too_small_to_show,
    up,
)
from dpsql.accounting.units import UNIT, UnitAccountant, Units
from dpsql.ir.allowance import Allowance
from dpsql.ir.event import ResponseEvent
from dpsql.lazy_dataclass import dataclass

SELECTION = Fraction(1, 5)
"""Share of the owner's delta for thresholds."""


class Noise(NamedTuple):
    """What an amount buys: see ``Allowance``."""

    laplace: float
    choice: float
    gaussian: float
    geometric: float | None = None


@dataclass(frozen=True)
class Concentrated(UnitAccountant):
    """Adds up divergences, and the deltas of thresholds. ``reserve``: responses have a sum of their own."""

    reserve: bool = False
    noise_power = 0.5  # divergences go with the square of sensitivity over scale
    has_reserve = True

    @abstractmethod
    def bought(self, epsilon: float, delta: float) -> Fraction:
        """Return the amount that alone is (epsilon, delta)-private, rounded down."""

    @abstractmethod
    def proven(self, amount: Fraction, delta: float) -> float:
        """Return the epsilon of an amount, rounded up: the inverse."""

    @abstractmethod
    def noise(self, amount: Fraction, epsilon: float) -> Noise:
        """Return the noise that costs at most this amount, at this price."""

    def total(self, budget: Budget) -> Units:
        return _total(self, budget)

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        return _allowance(self, epsilon, self.rest(budget), share, thresholds)

    def rest(self, budget: Budget) -> Budget:
        if not budget.responses:
            return budget
        return Budget(at_most(Fraction(budget.epsilon) - Fraction(budget.responses)), budget.delta)

    def read(self, entry: Mapping[str, Any]) -> Units:
        if not self.reserve:
            return super().read(entry)
        return Units(entry["rest"], entry["delta"], entry["responses"])

    def _units(self, main: int, delta: int = 0) -> Units:
        return Units(main, delta, 0 if self.reserve else None)

    def _response(self, event: ResponseEvent, divergence: Fraction) -> Units:
        """Charge a response: its epsilon to the reserve, or else its divergence to the rest."""
        if self.reserve:
            return Units(0, 0, up(epsilon_of(event)))
        return Units(up(divergence))

    def epsilon(self, spent: Units, budget: Budget) -> float:
        part = self._epsilon(spent.main, self.rest(budget))
        if not spent.responses:
            return part
        return shown(Fraction(part) + Fraction(spent.responses, UNIT))

    def _epsilon(self, spent: int, budget: Budget) -> float:
        if not spent:
            return 0.0
        total = self.total(budget).main
        proven = Fraction(self.proven(Fraction(spent, UNIT), conversion_delta(budget)))
        if spent > total:
            return shown(proven)
        # a price takes at most its share of the epsilon from the amount that delta alone is worth: see above
        part = Fraction(budget.epsilon) * spent / total
        return min(shown(max(proven, part)), budget.epsilon)


@lru_cache(maxsize=256)
def _total(rules: Concentrated, budget: Budget) -> Units:
    amount = rules.bought(rules.rest(budget).epsilon, conversion_delta(budget))
    delta = down(Fraction(budget.delta) * SELECTION, DELTA_UNIT)
    return Units(down(amount), delta, down(Fraction(budget.responses)) if rules.reserve else None)


@lru_cache(maxsize=256)
def _allowance(
    rules: Concentrated, epsilon: float, budget: Budget, share: Fraction, thresholds: bool
) -> Allowance:
    total = _total(rules, budget)
    part = total.main * price(epsilon) / Fraction(budget.epsilon)
    alone = rules.bought(epsilon, conversion_delta(budget))
    units = math.floor(min(alone * UNIT, part) * share)
    deltas = min(total.delta, total.delta * units // max(1, total.main))
    if not units:
        raise too_small(epsilon)
    if thresholds and not deltas:
        raise too_small_to_show(epsilon)
    noise = rules.noise(Fraction(units, UNIT), epsilon)
    delta = at_most(Fraction(deltas, DELTA_UNIT)) if thresholds else None
    return Allowance(noise.laplace, noise.choice, noise.gaussian, delta, delta, geometric=noise.geometric)


@lru_cache(maxsize=256)
def conversion_delta(budget: Budget) -> float:
    """Return the part of delta that turns divergences into epsilon."""
    return at_most(Fraction(budget.delta) * (1 - SELECTION))

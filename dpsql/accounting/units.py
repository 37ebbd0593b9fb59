"""Whole units of epsilon or rho, and of delta: the currency of accountants that add up two numbers.

zcdp, a budget of 5 at 1e-6     a price of 1 buys a rho of .018, all of it .34; .34 is a price of 5
in its ledger                   {"main": 18000000000000, "delta": 0, ...}
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpsql.accounting import AccountantOf, Budget, Shortage
from dpsql.errors import refuse
from dpsql.ir.allowance import Allowance
from dpsql.ir.event import Event
from dpsql.lazy_dataclass import dataclass

UNIT = 10**15
"""Units in an epsilon, or a rho, of 1; a delta of 1 has ``DELTA_UNIT``."""

MOST = 10**60  # far above every budget, far below what an int can be printed with


@dataclass(frozen=True, slots=True)
class Units:
    """An amount: whole units of epsilon, rho or a divergence (``main``), and of delta.

    ``responses`` are units of epsilon, where a ledger keeps a reserve for responses; elsewhere None. Entries
    of such a ledger have other keys, so that a version that knows no reserve does not read them.
    """

    main: int = 0
    delta: int = 0
    responses: int | None = None

    def __bool__(self) -> bool:
        return bool(self.main or self.delta or self.responses)

    def __add__(self, other: Units) -> Units:
        if self.responses is None and other.responses is None:  # with many blocks, many are added
            return Units(self.main + other.main, self.delta + other.delta)
        responses = _both(self, other)
        return Units(self.main + other.main, self.delta + other.delta, responses and sum(responses))

    def __sub__(self, other: Units) -> Units:
        responses = _both(self, other)
        left = responses and responses[0] - responses[1]
        return Units(self.main - other.main, self.delta - other.delta, left)

    def within(self, total: Units) -> bool:
        if self.responses is None and total.responses is None:
            return self.main <= total.main and self.delta <= total.delta
        responses = _both(self, total)
        reserved = responses is None or responses[0] <= responses[1]
        return self.main <= total.main and self.delta <= total.delta and reserved

    def shortage(self, left: Units, total: Units) -> Shortage:
        """Report responses or delta if only they run short, else epsilon or rho."""
        main, delta, responses = max(0, left.main), max(0, left.delta), max(0, left.responses or 0)
        if self.main <= main and (self.responses or 0) > responses:
            return Shortage("responses", self.responses or 0, responses, total.responses or 0)
        if self.main <= main and self.delta > delta:
            return Shortage("delta", self.delta, delta, total.delta)
        return Shortage("budget", self.main, main, total.main)

    def check(self) -> None:
        for number in (self.main, self.delta, *(() if self.responses is None else (self.responses,))):
            if type(number) is not int or not 0 <= number <= MOST:
                title = "a price must be two whole numbers, neither negative"
                raise refuse("D503", title, help="pay at least one unit")

    def written(self) -> dict[str, int | str]:
        if self.responses is None:
            return {"main": self.main, "delta": self.delta}
        return {"rest": self.main, "delta": self.delta, "responses": self.responses}


def _both(one: Units, other: Units) -> tuple[int, int] | None:
    """Return both reserves; None if neither has one. Amounts with and without one do not mix."""
    if one.responses is None and other.responses is None:
        return None
    if one.responses is None or other.responses is None:
        raise TypeError(f"{one} and {other} are amounts of two ledgers")
    return one.responses, other.responses


class UnitAccountant(ABC):
    """Base class of accountants that count in ``Units``."""

    name: str
    has_delta = True
    has_reserve = False
    noise_power = 1.0

    def best_order(self, budget: Budget) -> float | None:
        return None

    def bound(self, order: float | None, reserve: bool) -> AccountantOf[Units]:
        if order is not None or reserve:
            raise ValueError(f"{self.name} has no order and no reserve")
        return self

    @property
    def zero(self) -> Units:
        return self._units(0)

    def _units(self, main: int, delta: int = 0) -> Units:
        """Return an amount without responses."""
        return Units(main, delta)

    def rest(self, budget: Budget) -> Budget:
        """Return the budget without what is kept for responses."""
        return budget

    @abstractmethod
    def total(self, budget: Budget) -> Units: ...

    @abstractmethod
    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance: ...

    @abstractmethod
    def epsilon(self, spent: Units, budget: Budget) -> float: ...

    @abstractmethod
    def _charge(self, event: Event) -> Units:
        """Return what one event costs, rounded up."""

    def read(self, entry: Mapping[str, Any]) -> Units:
        return Units(entry["main"], entry["delta"])

    def charge(self, events: tuple[Event, ...]) -> Units:
        return sum((self._charge(event) for event in events), self.zero)

    def most(self, price: float, budget: Budget) -> Units:
        """Return the price's main units, and at most the same fraction of the budget's delta, rounded up."""
        most, total = self.total(Budget(price, budget.delta)), self.total(budget)
        return self._units(most.main, min(most.delta, -(-total.delta * most.main // total.main)))

    def responses(self, spent: Units) -> float:
        return float(Fraction(spent.responses or 0, UNIT))

    def delta(self, spent: Units) -> int:
        return spent.delta

    def price_of(self, spent: Units, budget: Budget) -> float:
        return self.price_of_weight(spent.main, budget)

    def largest(
        self,
        accounts: Sequence[tuple[Units, Units]],
        budget: Budget,
        refused: tuple[Units, Units] | None = None,
    ) -> float:
        """Return the largest price; a query refused for delta takes equal fractions of delta and epsilon."""
        left = [total - spent for spent, total in accounts]
        main, delta = min(rest.main for rest in left), min(rest.delta for rest in left)
        if main <= 0:
            return 0.0
        fits = self.epsilon(self._units(main), budget)
        if refused is not None:
            needed, had = refused
            if needed.delta > max(0, had.delta):
                fits = min(fits, self.rest(budget).epsilon * delta / self.total(budget).delta)
        return max(0.0, fits)

    def parts(self, price: float, shares: Sequence[Fraction], budget: Budget) -> tuple[float, ...]:
        """Split a price; each share of its units is rounded down."""
        units = min(self.total(Budget(price, budget.delta)).main, self.total(budget).main)
        return tuple(self.epsilon(self._units(math.floor(units * share)), budget) for share in shares)

    def weight(self, price: float, budget: Budget) -> float:
        """Return the units that a price buys: never a larger fraction of the total than of the epsilon."""
        alone = self.total(Budget(price, budget.delta)).main
        return min(alone, self.total(budget).main * price / self.rest(budget).epsilon)

    def price_of_weight(self, weight: float, budget: Budget) -> float:
        alone = self.epsilon(self._units(math.floor(weight)), budget)
        return max(alone, weight * self.rest(budget).epsilon / self.total(budget).main)

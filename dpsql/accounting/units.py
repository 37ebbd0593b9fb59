"""Whole units of epsilon or rho, and of delta: the currency of accountants that add up two numbers.

zcdp, a budget of 5 at 1e-6     a price of 1 buys a rho of .018, all of it .34; .34 is a price of 5
in its ledger                   {"main": 18000000000000, "delta": 0, ...}
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.accounting import Budget, Shortage
from dpsql.errors import refuse
from dpsql.ir.event import Event

UNIT = 10**15
"""Units in an epsilon, or a rho, of 1; a delta of 1 has ``DELTA_UNIT``."""

MOST = 10**60  # far above every budget, far below what an int can be printed with


@dataclass(frozen=True, slots=True)
class Units:
    """An amount: whole units of epsilon or rho (``main``), and of delta."""

    main: int = 0
    delta: int = 0

    def __bool__(self) -> bool:
        return bool(self.main or self.delta)

    def __add__(self, other: Units) -> Units:
        return Units(self.main + other.main, self.delta + other.delta)

    def __sub__(self, other: Units) -> Units:
        return Units(self.main - other.main, self.delta - other.delta)

    def within(self, total: Units) -> bool:
        return self.main <= total.main and self.delta <= total.delta

    def shortage(self, left: Units, total: Units) -> Shortage:
        """Report delta if only delta runs short, else epsilon or rho."""
        main, delta = max(0, left.main), max(0, left.delta)
        if self.main <= main and self.delta > delta:
            return Shortage("delta", self.delta, delta, total.delta)
        return Shortage("budget", self.main, main, total.main)

    def check(self) -> None:
        for number in (self.main, self.delta):
            if type(number) is not int or not 0 <= number <= MOST:
                title = "a price must be two whole numbers, neither negative"
                raise refuse("D503", title, help="pay at least one unit")

    def written(self) -> dict[str, int | str]:
        return {"main": self.main, "delta": self.delta}


class UnitAccountant(ABC):
    """Base class of accountants that count in ``Units``."""

    has_delta = True
    noise_power = 1.0
    zero = Units()

    @abstractmethod
    def total(self, budget: Budget) -> Units: ...

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
        return Units(most.main, min(most.delta, -(-total.delta * most.main // total.main)))

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
        fits = self.epsilon(Units(main), budget)
        if refused is not None:
            needed, had = refused
            if needed.delta > max(0, had.delta):
                fits = min(fits, budget.epsilon * delta / self.total(budget).delta)
        return max(0.0, fits)

    def parts(self, price: float, shares: Sequence[Fraction], budget: Budget) -> tuple[float, ...]:
        """Split a price; each share of its units is rounded down."""
        units = self.total(Budget(price, budget.delta)).main
        return tuple(self.epsilon(Units(math.floor(units * share)), budget) for share in shares)

    def weight(self, price: float, budget: Budget) -> float:
        """Return the units that a price buys: never a larger fraction of the total than of the epsilon."""
        alone = self.total(Budget(price, budget.delta)).main
        return min(alone, self.total(budget).main * price / budget.epsilon)

    def price_of_weight(self, weight: float, budget: Budget) -> float:
        alone = self.epsilon(Units(math.floor(weight)), budget)
        return max(alone, weight * budget.epsilon / self.total(budget).main)

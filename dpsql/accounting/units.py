"""Whole units of epsilon or of rho, and of delta: the currency of accountants that add up two numbers.

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
"""One epsilon, or one rho, in the whole units that are added up; a delta of one has ``DELTA_UNIT``."""

MOST = 10**60  # far above every budget, far below what an int can be printed with


@dataclass(frozen=True, slots=True)
class Units:
    """Whole units of epsilon or rho, and of delta."""

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
        """Of delta where only that runs short."""
        main, delta = max(0, left.main), max(0, left.delta)
        if self.main <= main and self.delta > delta:
            return Shortage("delta", self.delta, delta, total.delta)
        return Shortage("budget", self.main, main, total.main)

    def check(self) -> None:
        for number in (self.main, self.delta):
            if type(number) is not int or not 0 <= number <= MOST:
                title = "a price is two whole numbers, neither negative"
                raise refuse("D503", title, help="pay at least one unit")

    def written(self) -> dict[str, int | str]:
        return {"main": self.main, "delta": self.delta}


class UnitAccountant(ABC):
    """What accountants that count in ``Units`` have in common."""

    has_delta = True
    noise_power = 1.0
    zero = Units()

    @abstractmethod
    def total(self, budget: Budget) -> Units: ...

    @abstractmethod
    def epsilon(self, spent: Units, budget: Budget) -> float: ...

    @abstractmethod
    def _charge(self, event: Event) -> Units:
        """What one event costs, rounded up."""

    def read(self, entry: Mapping[str, Any]) -> Units:
        return Units(entry["main"], entry["delta"])

    def charge(self, events: tuple[Event, ...]) -> Units:
        return sum((self._charge(event) for event in events), self.zero)

    def most(self, price: float, budget: Budget) -> Units:
        """Of delta no larger part is charged than of the rest, and that part is rounded up."""
        most, whole = self.total(Budget(price, budget.delta)), self.total(budget)
        return Units(most.main, min(most.delta, -(-whole.delta * most.main // whole.main)))

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
        """A query that needs more delta than is left takes the part of it that it takes of epsilon."""
        left = [total - spent for spent, total in accounts]
        main, delta = min(each.main for each in left), min(each.delta for each in left)
        if main <= 0:
            return 0.0
        fits = self.epsilon(Units(main), budget)
        if refused is not None:
            needed, held = refused
            if needed.delta > max(0, held.delta):
                fits = min(fits, budget.epsilon * delta / self.total(budget).delta)
        return max(0.0, fits)

    def parts(self, price: float, shares: Sequence[Fraction], budget: Budget) -> tuple[float, ...]:
        """Each share of the units is rounded down."""
        whole = self.total(Budget(price, budget.delta)).main
        return tuple(self.epsilon(Units(math.floor(whole * share)), budget) for share in shares)

    def weight(self, price: float, budget: Budget) -> float:
        """The units that it buys: never a larger part of the whole than it is of the whole epsilon."""
        alone = self.total(Budget(price, budget.delta)).main
        return min(alone, self.total(budget).main * price / budget.epsilon)

    def price_of_weight(self, weight: float, budget: Budget) -> float:
        alone = self.epsilon(Units(math.floor(weight)), budget)
        return max(alone, weight * budget.epsilon / self.total(budget).main)

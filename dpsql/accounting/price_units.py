"""Prices and the units that an accountant adds up, each as the other.

zcdp, a budget of 5 at 1e-6     a price of 1 buys a rho of .018, all of it .34; .34 is a price of 5
"""

from __future__ import annotations

import math

from dpsql.accounting import Accountant, Budget, Spent


def bought(price: float, accountant: Accountant, budget: Budget) -> float:
    """The units that a price buys: never a larger part of the whole than it is of the whole epsilon."""
    alone = accountant.total(Budget(price, budget.delta)).main
    return min(alone, accountant.total(budget).main * price / budget.epsilon)


def price_of(units: float, accountant: Accountant, budget: Budget) -> float:
    """The price that buys so many."""
    alone = accountant.epsilon(Spent(math.floor(units)), budget)
    return max(alone, units * budget.epsilon / accountant.total(budget).main)

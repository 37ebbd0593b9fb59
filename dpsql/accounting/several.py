"""What several databases about the same people add up to.

    clinic    zcdp, delta 1e-6      rho .018         )
    labs      zcdp, delta 1e-6      rho .006         )   rho .024, as one epsilon at delta 2e-6
    survey    pure                  epsilon .5           epsilons and deltas add up

Claim   a person who is a unit in each has lost at most this epsilon, at this delta, to whoever sees the
        answers of all, asked in any order.
Proof   Under one accountant, the charges of all queries are those of one ledger that holds them all: sums
        compose adaptively, whichever ledger they stand in. Its delta: zCDP turns rho into epsilon at four
        fifths of the largest delta, and each ledger has a fifth of its own for thresholds; elsewhere deltas
        add up. Neither is more than the sum of all deltas. Under several accountants each ledger is an
        interactive mechanism that is (epsilon, delta)-private, and such compose concurrently, by addition
        (Vadhan and Zhang 2023, "Concurrent composition theorems for differential privacy").
Test    tests/privacy/test_several_databases.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add

from dpsql.accounting import Accountant, Amount, Budget
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """The account of one database, or of one analyst there: what is granted, and what is spent of it."""

    database: str
    unit: str
    rules: Accountant
    budget: Budget
    spent: Amount
    total: Amount

    @property
    def epsilon(self) -> float:
        """Return what is spent, as an epsilon at the budget's delta."""
        return self.rules.epsilon(self.spent, self.budget)


@dataclass(frozen=True, slots=True)
class Together:
    """The sum over several databases, and in words how it was made."""

    granted: float
    spent: float
    delta: float
    how: str


def together(accounts: Sequence[Held]) -> Together:
    """Return what several accounts about the same units add up to."""
    delta = math.fsum(account.budget.delta for account in accounts)
    epsilon = math.fsum(account.budget.epsilon for account in accounts)
    names = sorted({account.rules.name for account in accounts})
    if len({account.rules for account in accounts}) > 1:
        spent = math.fsum(account.epsilon for account in accounts)
        several = " and ".join(names) if len(names) > 1 else f"{names[0]} of several orders or reserves"
        return Together(epsilon, spent, delta, f"epsilons and deltas add up: {several} have no closer sum")
    rules = accounts[0].rules
    responses = math.fsum(account.budget.responses for account in accounts)
    largest = Budget(epsilon, max(account.budget.delta for account in accounts), responses)
    granted, spent = (
        rules.epsilon(reduce(add, amounts, rules.zero), largest)
        for amounts in ([account.total for account in accounts], [account.spent for account in accounts])
    )
    return Together(granted, spent, delta, f"under {rules.name} they compose as in one ledger")

"""What planning needs to know of the owner's rules: the accountant, the budget, the price."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.accounting import Accountant, Budget


@dataclass(frozen=True, slots=True)
class Terms:
    """What planning needs to know of the owner's rules: the accountant, the budget, the price."""

    accountant: Accountant
    budget: Budget
    epsilon: float
    given: bool = False  # by the call
    share: Fraction = Fraction(1)  # of the price, for this plan

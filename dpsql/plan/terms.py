"""Terms of a plan under the owner's rules: accountant, budget and price."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dpsql.accounting import Accountant, Budget
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of a plan under the owner's rules: accountant, budget and price."""

    accountant: Accountant
    budget: Budget
    epsilon: float
    given: bool = False  # the call gave the price
    share: Fraction = Fraction(1)  # of the price, for this plan
    strategies: Path | None = None  # where the session keeps the strategies that it found
    searched: bool = True  # False: cells stand for strategies, to see what a price pays for

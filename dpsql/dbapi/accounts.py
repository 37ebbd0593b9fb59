"""Budgets and purchases, as the owner or an analyst sees them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The epsilon granted to and spent by one analyst, or by all (``analyst`` is '')."""

    analyst: str
    granted: float
    spent: float

    @property
    def remaining(self) -> float:
        return max(0.0, self.granted - self.spent)


@dataclass(frozen=True, slots=True)
class Balance:
    """The account of the database, and one account per analyst of the policy.

    ``fits`` is the largest price of one query that both the database's and the analyst's account can pay.
    """

    granted: float
    spent: float
    remaining: float
    accountant: str
    delta: float
    accounts: tuple[Account, ...]
    fits: float


@dataclass(frozen=True, slots=True)
class Purchase:
    """One paid price: when, by whom ('' is the owner), for what.

    A ``shared`` purchase joined an earlier debit: only its analyst's account paid. A purchase that is not
    ``answered`` was interrupted; asking the same query again completes it. ``parameters`` are the values of
    the question marks.
    """

    time: str
    analyst: str
    sql: str
    epsilon: float
    shared: bool
    answered: bool
    parameters: str = ""

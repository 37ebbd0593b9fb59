"""What was granted, what was spent and on what, as an owner or an analyst may see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """What was granted, and spent, by the whole database (``analyst`` is '') or by one analyst."""

    analyst: str
    granted: float
    spent: float

    @property
    def remaining(self) -> float:
        return max(0.0, self.granted - self.spent)


@dataclass(frozen=True, slots=True)
class Balance:
    """The database's account, and one per analyst of the policy.

    ``fits`` is the largest price of one query that both the database's account and the analyst's hold.
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
    """One price that was paid: when, by whom ('' is the owner), for what.

    A purchase that is ``shared`` joined a debit made before: only its analyst paid again. One that is
    not ``answered`` was interrupted, and is completed when somebody asks the same once more. ``parameters``
    stood for the question marks of the SQL.
    """

    time: str
    analyst: str
    sql: str
    epsilon: float
    shared: bool
    answered: bool
    parameters: str = ""

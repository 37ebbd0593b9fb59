"""Budgets and purchases, as the owner or an analyst sees them."""

from __future__ import annotations

from dpsql.lazy_dataclass import dataclass


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
class TimeCap:
    """What an analyst may spend in the day (``name`` is per_day), week or month of now, and has spent."""

    analyst: str
    name: str
    until: str
    granted: float
    spent: float

    @property
    def remaining(self) -> float:
        return max(0.0, self.granted - self.spent)


@dataclass(frozen=True, slots=True)
class Balance:
    """The account of the database, and one account per analyst of the policy.

    ``fits`` is the largest price of one query that both the database's and the analyst's account can pay.
    What is kept for randomized responses is not among what is granted: see ``responses``, None if nothing is.
    ``shared`` are the accounts of groups and studies, named in ``analyst``: "group students", "study flu".
    ``blocks`` are what this account, the database's or the analyst's, has in each block of units, named there
    too. What is spent in all other accounts is that in the block with most.
    """

    granted: float
    spent: float
    remaining: float
    accountant: str
    delta: float
    accounts: tuple[Account, ...]
    fits: float
    responses: Account | None = None
    time_caps: tuple[TimeCap, ...] = ()
    shared: tuple[Account, ...] = ()
    blocks: tuple[Account, ...] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """How many ``more`` queries like the latest ten fit (None before the first), and ``group_privacy``.

    That is (units, (epsilon, delta)) of the whole budget over several units; None promises nothing.
    """

    more: int | None
    group_privacy: tuple[tuple[int, tuple[float, float] | None], ...]


@dataclass(frozen=True, slots=True)
class Spending:
    """What an account ('' is the database's) had spent after each payment: (time, epsilon), oldest first."""

    analyst: str
    steps: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Purchase:
    """One paid price: when, by whom ('' is the owner), for what.

    A ``shared`` purchase joined an earlier debit: only its analyst's account paid. A purchase that is not
    ``answered`` was interrupted; asking the same query again completes it. ``parameters`` are the values of
    the question marks. ``blocks`` are those of units that it was paid in; none where it was in all.
    """

    time: str
    analyst: str
    sql: str
    epsilon: float
    shared: bool
    answered: bool
    parameters: str = ""
    blocks: tuple[str, ...] = ()

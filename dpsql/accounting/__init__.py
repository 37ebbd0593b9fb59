"""The ledger of what was granted, paid and answered (a repeat is free), and the accountants of its prices.

An accountant is a file of this folder that defines ``ACCOUNTANT``.

    price epsilon --allowance--> noise and thresholds --plan--> events --charge--> Amount <= price

An accountant is a pure function of events. It counts in a currency of its own: only the accountant itself
creates, adds, compares and parses an ``Amount``; to all other code an amount is opaque. Budgets are rounded
down and charges are rounded up. Arithmetic is exact, so sums do not depend on their order. The
accountants here count in whole units: see ``units``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from dpsql.ir.allowance import Allowance
from dpsql.ir.event import Event
from dpsql.lazy_dataclass import dataclass
from dpsql.shelf import modules

if TYPE_CHECKING:
    from dpsql.policy.model import BudgetRule

DELTA_UNIT = 10**24
"""Delta units in a delta of 1."""

DEFAULT = "zcdp"
"""The accountant of a policy that names no other."""


class Shortage(NamedTuple):
    """The component of an amount that does not fit: how much is needed, left and granted."""

    kind: str  # "budget", "delta", or "responses"
    needed: int
    left: int
    granted: int


class Amount(Protocol):
    """A spent or granted amount in one accountant's currency. Sums are exact; equal amounts are ``==``."""

    def __bool__(self) -> bool:
        """Whether the amount is not zero."""
        ...

    def __add__(self, other: Self, /) -> Self: ...

    def __sub__(self, other: Self, /) -> Self:
        """Return the difference. Total minus spent is what is left, negative if the total is overdrawn.

        An amount is within what is left if, and only if, it is within the total together with what is spent.
        """
        ...

    def within(self, total: Self, /) -> bool:
        """Whether the amount fits a total: the promise is kept as long as all that is spent is within it."""
        ...

    def shortage(self, left: Self, total: Self, /) -> Shortage:
        """Return which component does not fit what is left of the total."""
        ...

    def check(self) -> None:
        """Raise D503 unless a ledger can store the amount: every component has its type, none is negative."""
        ...

    def written(self) -> dict[str, int | str]:
        """Return what a ledger entry says of it: fixed keys in a fixed order, none that entries have."""
        ...


A = TypeVar("A", bound=Amount)


@dataclass(frozen=True, slots=True)
class Budget:
    """The epsilon and delta that the owner's policy grants.

    ``responses`` is the part of epsilon that is kept for randomized responses. ``up_to`` is the largest
    epsilon that the owner means to grant, if that is more than this one.
    """

    epsilon: float
    delta: float
    responses: float = 0.0
    up_to: float | None = None


def budget_of(rule: BudgetRule) -> Budget:
    """Return what the policy grants to all together."""
    return Budget(rule.epsilon, rule.delta, rule.responses or 0.0, rule.up_to)


class AccountantOf(Protocol[A]):
    """Converts prices into noise, and events into charges in its own currency."""

    @property
    def name(self) -> str: ...

    @property
    def has_delta(self) -> bool:
        """Whether its promise has a delta, which the policy then must set."""
        ...

    @property
    def noise_power(self) -> float:
        """Return p such that noise bought with a share u of an amount is u ** -p times as wide.

        If p is at most 1/2, releases with shares of an amount, averaged by their precisions, are as exact
        as one release with the whole amount.
        """
        ...

    @property
    def has_reserve(self) -> bool:
        """Whether a part of its budget may be kept for responses."""
        ...

    # ---- what a ledger fixes when it is opened -----------------------------------------------------

    def best_order(self, budget: Budget) -> float | None:
        """Return the Renyi order for a ledger that is opened with this budget; None if it needs none."""
        ...

    def bound(self, order: float | None, reserve: bool) -> AccountantOf[A]:
        """Return the accountant of a ledger with this order, and with or without a reserve for responses."""
        ...

    # ---- its currency ------------------------------------------------------------------------------

    @property
    def zero(self) -> A: ...

    def read(self, entry: Mapping[str, Any]) -> A:
        """Return the amount that ``written`` put among the keys of an entry."""
        ...

    # ---- prices, noise, and what it costs ----------------------------------------------------------

    def total(self, budget: Budget) -> A:
        """Return all that may ever be spent, rounded down."""
        ...

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        """Return the noise that a share of a price buys for a measure; D503 if it buys none."""
        ...

    def charge(self, events: tuple[Event, ...]) -> A:
        """Return what events cost, rounded up; an event of unknown cost is refused by name."""
        ...

    def most(self, price: float, budget: Budget) -> A:
        """Return the most that any number of queries cost that share this price; rounded up."""
        ...

    # ---- amounts as epsilons, and as prices --------------------------------------------------------

    def epsilon(self, spent: A, budget: Budget) -> float:
        """Return the spent amount as an epsilon to show, with what responses spent of their reserve."""
        ...

    def responses(self, spent: A) -> float:
        """Return how much of an amount is from the reserve for responses, as an epsilon; 0 without one."""
        ...

    def delta(self, spent: A) -> int:
        """Return how much of the owner's delta an amount takes, in delta units (``DELTA_UNIT``)."""
        ...

    def price_of(self, spent: A, budget: Budget) -> float:
        """Return the price of a query that costs this amount."""
        ...

    def largest(
        self, accounts: Sequence[tuple[A, A]], budget: Budget, refused: tuple[A, A] | None = None
    ) -> float:
        """Return the largest price of a query that fits all of these accounts, given as (spent, total).

        If a query was ``refused``, given as (needed, left), the price is that of a query like it.
        """
        ...

    def parts(self, price: float, shares: Sequence[Fraction], budget: Budget) -> tuple[float, ...]:
        """Split a price into prices that together cost as much, one for each share."""
        ...

    def weight(self, price: float, budget: Budget) -> float:
        """Return a number proportional to what the price costs: weights add up, prices need not."""
        ...

    def price_of_weight(self, weight: float, budget: Budget) -> float:
        """Return the price that has this weight."""
        ...


Accountant = AccountantOf[Amount]
"""An accountant of any currency."""


@cache
def _shelf() -> dict[str, Accountant]:
    files = modules(__name__, __path__)
    shelf: list[Accountant] = [module.ACCOUNTANT for module in files if hasattr(module, "ACCOUNTANT")]
    return {rules.name: rules for rules in shelf}


def accountant(name: str) -> Accountant:
    """Return the accountant of that name, or raise KeyError; to charge, it may need what a ledger fixes."""
    return _shelf()[name]


def bound(promise: Mapping[str, Any]) -> Accountant:
    """Return the accountant of a ledger, with what its promise fixes."""
    return accountant(promise["accountant"]).bound(promise.get("order"), bool(promise.get("responses")))


def opened(name: str, budget: Budget) -> Accountant:
    """Return the accountant that a ledger would have if it were opened now, with this budget."""
    rules = accountant(name)
    return rules.bound(rules.best_order(budget), bool(budget.responses))


def names() -> tuple[str, ...]:
    """Return the names of all accountants, sorted."""
    return tuple(sorted(_shelf()))


def accountants() -> tuple[Accountant, ...]:
    """Return all accountants that a policy may choose: the default first, then those without a delta."""
    shelf = _shelf().values()
    return tuple(sorted(shelf, key=lambda rules: (rules.name != DEFAULT, rules.has_delta, rules.name)))

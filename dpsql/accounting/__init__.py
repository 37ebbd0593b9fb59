"""The shelf of accountants: an accountant is a file of this folder that defines ``ACCOUNTANT``.

    price epsilon --allowance--> noise and thresholds --plan--> events --charge--> Amount <= price

An accountant is a pure function of events, and counts in a currency of its own: an ``Amount`` is made,
added, compared and read by its accountant, and nobody else looks into it. What may be spent is rounded
down and what is spent is rounded up, so that nothing is lost to floats and sums do not depend on their
order. The three accountants here count in whole units: see ``units``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from dpsql.ir.allowance import Allowance
from dpsql.ir.event import Event
from dpsql.shelf import modules

DELTA_UNIT = 10**24
"""A delta of one, in the whole units that it is told in."""

DEFAULT = "zcdp"
"""The accountant of a policy that names none."""


class Shortage(NamedTuple):
    """What of an amount does not fit: how much of it is needed, how much is left, how much was granted."""

    kind: str  # "budget", or "delta"
    needed: int
    left: int
    granted: int


class Amount(Protocol):
    """What was spent, or may be, in the currency of one accountant. Sums are exact; equal ones are ``==``."""

    def __bool__(self) -> bool:
        """Whether it is anything at all."""
        ...

    def __add__(self, other: Self, /) -> Self: ...

    def __sub__(self, other: Self, /) -> Self:
        """A sum without what was added to it. Of a total, what is left; less than nothing where overdrawn."""
        ...

    def within(self, total: Self, /) -> bool:
        """Whether a total holds it: the promise is kept as long as all that is spent is within it."""
        ...

    def shortage(self, left: Self, total: Self, /) -> Shortage:
        """Why what is left of a total does not hold it."""
        ...

    def check(self) -> None:
        """D503 unless a ledger can keep it: nothing in it is negative, or of another type than it should."""
        ...

    def written(self) -> dict[str, int | str]:
        """What a ledger's entries say: always the same keys in the same order, none that entries have."""
        ...


A = TypeVar("A", bound=Amount)


@dataclass(frozen=True, slots=True)
class Budget:
    """What the owner's policy grants."""

    epsilon: float
    delta: float


class AccountantOf(Protocol[A]):
    """Turns prices into noise and noise into what it costs, in a currency of its own."""

    @property
    def name(self) -> str: ...

    @property
    def has_delta(self) -> bool:
        """Whether its promise has a delta, which the policy then says."""
        ...

    @property
    def noise_power(self) -> float:
        """With a share u of an amount, noise reaches u ** -noise_power times as far.

        At most 1/2 says that releases with shares of an amount, averaged by their precisions, are as good
        as one release with all of it.
        """
        ...

    # ---- its currency ------------------------------------------------------------------------------

    @property
    def zero(self) -> A: ...

    def read(self, entry: Mapping[str, Any]) -> A:
        """What ``written`` has put among the keys of an entry."""
        ...

    # ---- prices, noise, and what it costs ----------------------------------------------------------

    def total(self, budget: Budget) -> A:
        """All that may ever be spent, rounded down."""
        ...

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        """What a measure gets that has this share of a price; D503 where that is nothing."""
        ...

    def charge(self, events: tuple[Event, ...]) -> A:
        """What happened, rounded up; an event without a known price is refused by name."""
        ...

    def most(self, price: float, budget: Budget) -> A:
        """What queries with this price together take at most, however many they are; rounded up."""
        ...

    # ---- amounts for people, and as prices ---------------------------------------------------------

    def epsilon(self, spent: A, budget: Budget) -> float:
        """The spent amount as an epsilon to show."""
        ...

    def delta(self, spent: A) -> int:
        """What of the owner's delta an amount takes for thresholds and noise, in ``DELTA_UNIT``."""
        ...

    def price_of(self, spent: A, budget: Budget) -> float:
        """The price of a query that takes as much."""
        ...

    def largest(
        self, accounts: Sequence[tuple[A, A]], budget: Budget, refused: tuple[A, A] | None = None
    ) -> float:
        """The largest price of a query that fits all of these accounts: what was spent, and the total.

        Where a query was ``refused``, for what it needs and what was left, the price is that of one like it.
        """
        ...

    def parts(self, price: float, shares: Sequence[Fraction], budget: Budget) -> tuple[float, ...]:
        """Prices of queries that take together what one with this price does, and each its share of it."""
        ...

    def weight(self, price: float, budget: Budget) -> float:
        """A price as a number in proportion to what it takes: these add up, where prices do not."""
        ...

    def price_of_weight(self, weight: float, budget: Budget) -> float:
        """The price that has this weight."""
        ...


Accountant = AccountantOf[Amount]
"""An accountant whose currency is its own affair."""


@cache
def _shelf() -> dict[str, Accountant]:
    shelves = modules(__name__, __path__)
    found: list[Accountant] = [module.ACCOUNTANT for module in shelves if hasattr(module, "ACCOUNTANT")]
    return {each.name: each for each in found}


def accountant(name: str) -> Accountant:
    """The accountant of that name, or KeyError."""
    return _shelf()[name]


def names() -> tuple[str, ...]:
    """The names of all accountants there are, sorted."""
    return tuple(sorted(_shelf()))


def accountants() -> tuple[Accountant, ...]:
    """All there are as a policy may choose them: the default first, then those without a delta."""
    found = _shelf().values()
    return tuple(sorted(found, key=lambda each: (each.name != DEFAULT, each.has_delta, each.name)))

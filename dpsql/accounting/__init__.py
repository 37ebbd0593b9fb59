"""The shelf of accountants: an accountant is a file of this folder that defines ``ACCOUNTANT``.

    price epsilon --allowance--> noise and thresholds --plan--> events --charge--> Spent <= price

An accountant is a pure function of events. What may be spent is rounded down to whole units and what
is spent is rounded up, so that nothing is lost to floats and sums do not depend on their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

from dpsql.ir.allowance import Allowance
from dpsql.ir.event import Event
from dpsql.shelf import modules

UNIT = 10**15
"""One epsilon, or one rho, in the whole units that are added up."""

DELTA_UNIT = 10**24
"""A delta of one, in the whole units that are added up."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Whole units of epsilon or rho, and of delta."""

    main: int = 0
    delta: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.main + other.main, self.delta + other.delta)

    def within(self, total: Spent) -> bool:
        return self.main <= total.main and self.delta <= total.delta


@dataclass(frozen=True, slots=True)
class Budget:
    """What the owner's policy grants."""

    epsilon: float
    delta: float


class Accountant(Protocol):
    """Turns prices into noise and noise into what it costs."""

    @property
    def name(self) -> str: ...

    def total(self, budget: Budget) -> Spent:
        """All that may ever be spent, rounded down."""
        ...

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        """What a measure gets that has this share of a price; D503 where that is nothing."""
        ...

    def charge(self, events: tuple[Event, ...]) -> Spent:
        """What happened, rounded up; an event without a known price is refused by name."""
        ...

    def epsilon(self, spent: Spent, budget: Budget) -> float:
        """The spent amount as an epsilon to show."""
        ...


@cache
def _shelf() -> dict[str, Accountant]:
    shelves = modules(__name__, __path__)
    found: list[Accountant] = [module.ACCOUNTANT for module in shelves if hasattr(module, "ACCOUNTANT")]
    return {each.name: each for each in found}


def accountant(name: str) -> Accountant:
    """The accountant of that name, or KeyError."""
    return _shelf()[name]


def names() -> tuple[str, ...]:
    """All accountants there are, sorted."""
    return tuple(sorted(_shelf()))

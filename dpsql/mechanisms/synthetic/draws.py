"""Spend the events of a plan, and no others: noise on exact counts, and choices among scores.

Claim   what leaves this module has cost exactly the events that it was made with, each at most once.
Proof   every draw names its event, which is removed from those that are left; one that is not left is
        refused before anything is drawn. The noise has the event's own scale, the choice the event's own
        rate; the laws are the claims of ``gaussian`` and of ``exponential``.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from dpsql.ir.event import ChoiceEvent, Event, GaussianEvent
from dpsql.late_numpy import np
from dpsql.mechanisms import exponential, gaussian
from dpsql.mechanisms.exponential import Choose
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.strategy import Integers
from dpsql.mechanisms.synthetic.plan import rate


class Spending(Protocol):
    """Turns exact numbers into released ones, at the cost of an event."""

    def noisy(self, exact: Integers, event: GaussianEvent) -> Integers:
        """Return the numbers with the event's noise."""
        ...

    def choose(self, scores: Sequence[int], clip: int, event: ChoiceEvent) -> int:
        """Return the place of one of the scores, higher ones more likely; a unit moves each by ``clip``."""
        ...


class Draws:
    """Draws noise of events, and choices at rates, by two functions."""

    def __init__(
        self, events: Iterable[Event], noise: Callable[[GaussianEvent, int], Integers], choices: Choose
    ) -> None:
        self._left = Counter(events)
        self._noise = noise
        self._choices = choices

    @classmethod
    def from_bytes(cls, events: Iterable[Event], words: Words) -> Draws:
        """Draw from fresh random bytes."""
        return cls(
            events,
            lambda event, size: gaussian.draw(event.scale, size, words),
            lambda choices, at: exponential.choose(choices, at, words),
        )

    def noisy(self, exact: Integers, event: GaussianEvent) -> Integers:
        self._spend(event)
        return np.asarray(exact + self._noise(event, len(exact)), dtype=np.int64)

    def choose(self, scores: Sequence[int], clip: int, event: ChoiceEvent) -> int:
        self._spend(event)
        at = rate(event, clip)
        choices = exponential.one_choice(scores, [0] * len(scores), at)
        return int(self._choices(choices, at)[0][0])

    def _spend(self, event: Event) -> None:
        if not self._left[event]:
            raise RuntimeError(f"{event} is spent, or was never paid")
        self._left[event] -= 1

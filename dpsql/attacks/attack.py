"""An attack: what it does, how it is run, what the promise lets it win, and what came of it.

    Attack("differencing", "COUNT(*) with and without one person", run, presence)
      .run(world, ask) -> Outcome(tried=300, won=214, bound=0.731, words="")

An attack sees the world as its attacker does, who is told everything but the target's secret, and asks
through connections of analysts only. ``won`` counts right guesses; where ``bound`` is 0, whatever may not
happen at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dpsql.attacks.chances import right
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from dpsql.attacks.ask import Ask
    from dpsql.attacks.world import World


@dataclass(frozen=True, slots=True)
class Outcome:
    """``won`` of ``tried``, beside the ``bound`` of each; ``words`` say what else was seen, never data."""

    tried: int
    won: int
    bound: float
    words: str = ""

    @property
    def success(self) -> float:
        return self.won / self.tried if self.tried else 0.0


@dataclass(frozen=True, slots=True)
class Attack:
    """``allowed`` is the bound at an epsilon and a delta; ``needs`` what a world may lack, in words.

    ``exact`` says whether exact answers can be attacked in the same way.
    """

    name: str
    does: str
    run: Callable[[World, Ask], Outcome]
    allowed: Callable[[float, float], float]
    exact: bool = True
    needs: Callable[[World], str] = lambda world: ""


def presence(epsilon: float, delta: float) -> float:
    """Whether a person is there."""
    return right(epsilon, delta)


def value(epsilon: float, delta: float) -> float:
    """Which of two values a person has."""
    return right(epsilon, delta, steps=2)


def decile(epsilon: float, delta: float) -> float:
    """Which of ten values a person has."""
    return right(epsilon, delta, steps=2, of=10)


def unusual(epsilon: float, delta: float) -> float:
    """That a group of one person is shown."""
    return delta


def never(epsilon: float, delta: float) -> float:
    """What may not happen at all."""
    return 0.0

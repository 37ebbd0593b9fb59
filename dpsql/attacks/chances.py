"""What a guess may win, and when it won more.

    right(1.0)                        0.731   whether a person is in the data, at epsilon 1
    right(1.0, steps=2)               0.881   which of two values a person has
    right(1.0, steps=2, of=10)        0.451   which of ten

Claim   a guesser who sees only an (epsilon, delta)-private answer about a secret drawn evenly from ``of``
        possibilities, each ``steps`` removals or additions of a person away from each other, is right with
        at most the probability ``right``. ``beats`` is true with probability at most ``level`` where each of
        ``tried`` guesses keeps its bound given the others.
Proof   between two possibilities v and w probabilities obey P_v <= e^E P_w + D, with E = steps epsilon and
        D = delta (1 + e^epsilon + ... + e^((steps - 1) epsilon)), step by step. With S the sum over v of
        P_v(guess v): summing over w, then over v, (of - 1) S <= e^E (of - S) + of (of - 1) D, so that S / of
        is at most (e^E + (of - 1) D) / (e^E + of - 1). The number of right guesses in independent trials is
        dominated by a binomial; so is that of many independent bits guessed from one answer, for delta = 0
        (Steinke, Nasr and Jagielski 2023), and else but for a probability of about ``tried`` times D.
Test    tests/privacy/test_attack_chances.py
"""

from __future__ import annotations

import math

import numpy as np

ERRS = 1e-6
"""The probability that any of the attacks of a show is said to beat its bound where none does."""

SURE = 0.95


def right(epsilon: float, delta: float = 0.0, steps: int = 1, of: int = 2) -> float:
    """Return the largest probability of a right guess of one among ``of`` even possibilities."""
    if steps * epsilon > 700:
        return 1.0
    odds = math.exp(steps * epsilon)
    failing = delta * sum(math.exp(step * epsilon) for step in range(steps))
    return min(1.0, (odds + (of - 1) * failing) / (odds + of - 1))


def at_least(won: int, tried: int, chance: float) -> float:
    """Return the probability that a binomial number of ``tried`` at ``chance`` is ``won`` or more."""
    if won <= 0:
        return 1.0
    if chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    counts = np.arange(won, tried + 1)
    logs = np.array(
        [-math.lgamma(k + 1) - math.lgamma(tries_left + 1) for k, tries_left in _pairs(won, tried)]
    )
    logs += math.lgamma(tried + 1) + counts * math.log(chance) + (tried - counts) * math.log1p(-chance)
    return min(1.0, float(np.exp(logs).sum()))


def _pairs(won: int, tried: int) -> list[tuple[int, int]]:
    return [(k, tried - k) for k in range(won, tried + 1)]


def beats(won: int, tried: int, bound: float, level: float) -> bool:
    """Whether so many right guesses are too many for the bound."""
    return at_least(won, tried, bound) < level


def interval(won: int, tried: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson that holds the probability in 95 of 100 cases."""
    return _lowest(won, tried), 1.0 - _lowest(tried - won, tried)


def _lowest(won: int, tried: int) -> float:
    """Return the chance at which ``won`` or more have half of the probability that is left."""
    low, high = 0.0, 1.0
    for _ in range(40 if won else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if at_least(won, tried, middle) > (1 - SURE) / 2 else (middle, high)
    return low

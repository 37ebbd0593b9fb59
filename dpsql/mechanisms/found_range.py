"""Which of the candidate ranges suits what the units hold: the scores for an exponential mechanism.

    C           1, 1.5, 2, 3, 4, 6, 8, ...    two to an octave, and both fall on the grid of any sum
    candidates  [0, C], [-C, 0], [-C, C]      for every C; of what cannot be negative [0, C] alone

A range's score is -|outside - k|: ``outside`` is how many units hold anything that is not in it, and k how
many may, 2 / epsilon, since the choice can tell no fewer apart. All ranges that are too wide have one score,
and each costs noise in proportion to its width: a base measure of one over the width leaves to every octave
the same part of the expected error; one over its power of 1.5 leaves it to the narrowest. Its square does so
more sharply, but needs more units to climb from a low first limit: it is taken where the ladder begins at 1.

Claim   one unit moves every score by at most 1 (``SENSITIVITY``), whatever it holds.
Proof   it is outside of a range or it is not, and |.| is 1-Lipschitz. The base measure is public.
Test    tests/test_found_range.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from dpsql.ir.detail import Reaches

SENSITIVITY = 1

Reach: TypeAlias = tuple[int, int]
"""How far a unit's values go above and below zero.

0: not at all; n: beyond the first n - 1 limits, but not beyond the next, if there is one.
"""


def limits(ladder: Reaches) -> list[Fraction]:
    """2^first, 1.5 * 2^first, 2^(first + 1), ... 2^last."""
    rungs = range(2 * (ladder.last - ladder.first) + 1)
    return [Fraction(2 + rung % 2, 2) * Fraction(2) ** (ladder.first + rung // 2) for rung in rungs]


def ranges(ladder: Reaches) -> list[tuple[Fraction, Fraction]]:
    """All candidates."""
    zero = Fraction(0)
    if not ladder.signed:
        return [(zero, c) for c in limits(ladder)]
    return [pair for c in limits(ladder) for pair in ((zero, c), (-c, zero), (-c, c))]


def weights(ladder: Reaches) -> list[int]:
    """The base measure of each candidate, in whole numbers of 60 bits: level where it would be below 1.

    A range around zero costs a sum no more than half of it does, but an average twice: it counts as four
    times as wide, for where few units are on the other side of zero it is chosen for nothing.
    """
    widths = [(high - low) * (2 if low < 0 < high else 1) for low, high in ranges(ladder)]
    power = 1.5 if ladder.signed else 2
    return [max(1, int(2**60 * float(widths[0] / width) ** power)) for width in widths]


def scores(ladder: Reaches, reaches: Mapping[Reach, int], allowed: int) -> list[int]:
    """The score of each candidate, where so many units have such a reach and k are allowed outside."""
    units = sum(reaches.values())
    return [-abs(units - each - allowed) for each in _inside(ladder, reaches)]


def covering(ladder: Reaches, reaches: Mapping[Reach, int]) -> int:
    """The place of the narrowest candidate that holds the most units: for the owner's audit alone."""
    order = zip(_inside(ladder, reaches), weights(ladder), strict=True)
    return max(enumerate(order), key=lambda each: each[1])[0]


def _inside(ladder: Reaches, reaches: Mapping[Reach, int]) -> list[int]:
    """How many units each candidate holds whole."""
    size = len(limits(ladder))
    above, below, both = ([0] * (size + 2) for _ in range(3))
    for (up, down), units in reaches.items():
        both[max(up, down)] += units
        above[up] += 0 if down else units
        below[down] += 0 if up else units
    found: list[int] = []
    held = [above[0], below[0], both[0]]
    for rung in range(1, size + 1):
        held = [held[0] + above[rung], held[1] + below[rung], held[2] + both[rung]]
        found += held if ladder.signed else held[:1]
    return found


def allowed_outside(epsilon: float) -> int:
    """How many units may hold more than the range, for a choice at this epsilon."""
    return math.ceil(2 / epsilon)


def few_units(epsilon: float) -> int:
    """With fewer, the choice is mostly chance: those that may be outside are a twentieth of these."""
    return 20 * allowed_outside(epsilon)


# ---- one number for each reach -----------------------------------------------------------------------


def base(ladder: Reaches) -> int:
    """A reach (up, down) stands at the place up * base + down."""
    return len(limits(ladder)) + 2


def reach_at(ladder: Reaches, place: int) -> Reach:
    return divmod(place, base(ladder))

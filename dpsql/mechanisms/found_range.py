"""Which of the candidate ranges suits what the units hold: the scores for an exponential mechanism.

    C           1, 1.5, 2, 3, 4, 6, 8, ...    two to an octave, and both fall on the grid of any sum
    candidates  [0, C], [-C, 0], [-C, C]      for every C; of what cannot be negative [0, C] alone
                nothing                       too few units to tell: the widest range stands in

A range's score is how many units lie in it, of those that reach anywhere; that of ``nothing`` is 0. All
ranges that are too wide have one score, and each costs noise in proportion to its width: a base measure of
one over the width would leave to every octave the same part of the expected error. One over its power of 2.5
leaves it to the narrowest, and takes more units to climb from a low first limit; below 1, where few columns
end, the power is 1.5.

The narrowest range is likeliest by that measure, and would come out whatever the data is where there are few
units: a sum near 0 with a margin near 0. So ``nothing`` weighs a thousand times as much as all ranges
together, and units have to outweigh it first.

Claim   one unit moves every score by 0 or by 1 (``SENSITIVITY``), whatever it holds, all in one direction:
        exp(epsilon * score) is epsilon-bounded-range.
        A range in which h units lie is chosen with a chance below exp(epsilon * h) / 1000.
Proof   1. it is in a range or it is not, and in ``nothing`` never. The base measure is public. Then the claim
           of mechanisms/exponential.py for losses that no unit moves upwards.
        2. its weight is at most that of all ranges together times exp(epsilon * h), and ``nothing`` weighs a
           thousand times as much as they do.
Test    tests/privacy/test_found_range.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from dpsql.ir.detail import BoundSearch

SENSITIVITY = 1
NOTHING = 1000
"""How many times the weight of all ranges together is that of finding nothing."""

Reach: TypeAlias = tuple[int, int]
"""How far a unit's values go above and below zero.

0: not at all; n: beyond the first n - 1 limits, but not beyond the next, if there is one.
"""


def limits(ladder: BoundSearch) -> tuple[Fraction, ...]:
    """2^first, 1.5 * 2^first, 2^(first + 1), ... 2^last."""
    return _limits(ladder.first, ladder.last)


@cache
def _limits(first: int, last: int) -> tuple[Fraction, ...]:
    rungs = range(2 * (last - first) + 1)
    return tuple(Fraction(2 + rung % 2, 2) * Fraction(2) ** (first + rung // 2) for rung in rungs)


def ranges(ladder: BoundSearch) -> tuple[tuple[Fraction, Fraction], ...]:
    """All candidates but ``nothing``, whose place is behind them."""
    return _ranges(ladder.first, ladder.last, ladder.signed)


@cache
def _ranges(first: int, last: int, signed: bool) -> tuple[tuple[Fraction, Fraction], ...]:
    zero, highs = Fraction(0), _limits(first, last)
    if not signed:
        return tuple((zero, high) for high in highs)
    return tuple(pair for high in highs for pair in ((zero, high), (-high, zero), (-high, high)))


def handicaps(ladder: BoundSearch) -> tuple[float, ...]:
    """The negative logarithm of each range's base measure, that of ``nothing`` being 1.

    A range around zero costs a sum no more than half of it does, but an average twice: it counts as four
    times as wide, for where few units are on the other side of zero it is chosen for nothing.
    """
    return _handicaps(ladder.first, ladder.last, ladder.signed)


@cache
def _handicaps(first: int, last: int, signed: bool) -> tuple[float, ...]:
    widths = [float(high - low) * (2 if low < 0 < high else 1) for low, high in _ranges(first, last, signed)]
    logs = [1.5 * math.log(min(1.0, width)) + 2.5 * math.log(max(1.0, width)) for width in widths]
    behind = [each - logs[0] for each in logs]
    lead = math.log(NOTHING * math.fsum(math.exp(-each) for each in behind))
    return tuple(each + lead for each in behind)


def scores(ladder: BoundSearch, reaches: Mapping[Reach, int]) -> list[int]:
    """How many units lie in each range, of those that reach anywhere, where so many have such a reach."""
    size = len(limits(ladder))
    above, below, both = ([0] * (size + 2) for _ in range(3))
    for (up, down), units in reaches.items():
        both[max(up, down)] += units
        above[up] += 0 if down else units
        below[down] += 0 if up else units
    found: list[int] = []
    held = [0, 0, 0]
    for rung in range(1, size + 1):
        held = [held[0] + above[rung], held[1] + below[rung], held[2] + both[rung]]
        found += held if ladder.signed else held[:1]
    return found


def covering(ladder: BoundSearch, reaches: Mapping[Reach, int]) -> int:
    """The place of the narrowest candidate that holds the most units: for the owner's audit alone."""
    order = zip(scores(ladder, reaches), (-each for each in handicaps(ladder)), strict=True)
    return max(enumerate(order), key=lambda each: each[1])[0]


# ---- how many units it takes -------------------------------------------------------------------------


def few_units(epsilon: float) -> int:
    """With fewer, a choice may find nothing, or cut off many: ranges around 100,000 are e^50 behind."""
    return math.ceil(50 / epsilon)


def least_units(ladder: BoundSearch, epsilon: float) -> int:
    """With fewer, nothing is the likeliest to be found, even if all values are as small as 1."""
    known = zip(ranges(ladder), handicaps(ladder), strict=True)
    return math.ceil(next(behind for (_, high), behind in known if high >= 1) / epsilon)


# ---- one number for each reach -----------------------------------------------------------------------


def base(ladder: BoundSearch) -> int:
    """A reach (up, down) stands at the place up * base + down."""
    return len(limits(ladder)) + 2


def reach_at(ladder: BoundSearch, place: int) -> Reach:
    return divmod(place, base(ladder))

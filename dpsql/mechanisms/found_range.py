"""Scores of candidate ranges for a bound search, for the exponential mechanism.

    C           1, 1.5, 2, 3, 4, 6, 8, ...    two to an octave, and both are on the grid of any sum
    candidates  [0, C], [-C, 0], [-C, C]      for every C; [0, C] alone if no value can be negative
                nothing                       too few units: the widest range is used instead

A range's score is the number of units that lie in it, of those with a value other than zero; the score of
``nothing`` is 0. All ranges that are too wide have the same score, and each costs noise in proportion to its
width. A base measure of 1 / width would give every octave the same part of the expected error. Its power of
2 favours the narrowest, and takes more units to climb from a low first limit; below 1, where few columns end,
the power is 1.5. A higher power cuts more: about so many units more as it costs to go an octave further out.

The narrowest range is the most likely by that measure, and with few units it would be chosen whatever the
data is: a sum near 0 with a margin near 0. So ``nothing`` has a million times the weight of all ranges
together, and units have to outweigh it first: then there are so many that those cut are a small part of them.

Claim   one unit moves every score by 0 or by 1 (``SENSITIVITY``), whatever its values are, all in one
        direction: exp(epsilon * score) is epsilon-bounded-range.
        A range in which h units lie is chosen with a probability below exp(epsilon * h) / 1,000,000.
Proof   1. a unit is in a range or it is not, and never in ``nothing``. The base measure is public. The rest
           is the claim of mechanisms/exponential.py for losses that no unit moves upwards.
        2. the range's weight is at most that of all ranges together times exp(epsilon * h), and ``nothing``
           has a million times their weight.
Test    tests/privacy/test_found_range.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import TypeAlias

from dpsql.ir.detail import BoundSearch

SENSITIVITY = 1
NOTHING = 1_000_000
"""The weight of finding nothing, in multiples of the weight of all ranges together."""

Reach: TypeAlias = tuple[int, int]
"""How far a unit's values go above and below zero.

0: not at all; n: beyond the first n - 1 limits, but not beyond the next, if there is one.
"""


def limits(ladder: BoundSearch) -> tuple[Fraction, ...]:
    """Return 2^first, 1.5 * 2^first, 2^(first + 1), ... 2^last."""
    return _limits(ladder.first, ladder.last)


@cache
def _limits(first: int, last: int) -> tuple[Fraction, ...]:
    rungs = range(2 * (last - first) + 1)
    return tuple(Fraction(2 + rung % 2, 2) * Fraction(2) ** (first + rung // 2) for rung in rungs)


def ranges(ladder: BoundSearch) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return all candidates except ``nothing``, which has the position after them."""
    return _ranges(ladder.first, ladder.last, ladder.signed)


@cache
def _ranges(first: int, last: int, signed: bool) -> tuple[tuple[Fraction, Fraction], ...]:
    zero, highs = Fraction(0), _limits(first, last)
    if not signed:
        return tuple((zero, high) for high in highs)
    return tuple(pair for high in highs for pair in ((zero, high), (-high, zero), (-high, high)))


def handicaps(ladder: BoundSearch) -> tuple[float, ...]:
    """Return the negative logarithm of each range's base measure, relative to that of ``nothing``.

    A range around zero costs a sum no more than half of it does, but an average twice as much. It counts as
    four times as wide, since with few units on the other side of zero it would be chosen without need.
    """
    return _handicaps(ladder.first, ladder.last, ladder.signed)


@cache
def _handicaps(first: int, last: int, signed: bool) -> tuple[float, ...]:
    widths = [float(high - low) * (2 if low < 0 < high else 1) for low, high in _ranges(first, last, signed)]
    logs = [1.5 * math.log(min(1.0, width)) + 2 * math.log(max(1.0, width)) for width in widths]
    behind = [log - logs[0] for log in logs]
    lead = math.log(NOTHING * math.fsum(math.exp(-distance) for distance in behind))
    return tuple(distance + lead for distance in behind)


def scores(ladder: BoundSearch, reaches: Mapping[Reach, int]) -> list[int]:
    """Count the units in each range, of those with any reach; ``reaches`` has the units per reach."""
    size = len(limits(ladder))
    above, below, both = ([0] * (size + 2) for _ in range(3))
    for (up, down), units in reaches.items():
        both[max(up, down)] += units
        above[up] += 0 if down else units
        below[down] += 0 if up else units
    in_range: list[int] = []
    totals = [0, 0, 0]
    for rung in range(1, size + 1):
        totals = [totals[0] + above[rung], totals[1] + below[rung], totals[2] + both[rung]]
        in_range += totals if ladder.signed else totals[:1]
    return in_range


def covering(ladder: BoundSearch, reaches: Mapping[Reach, int]) -> int:
    """Return the position of the narrowest candidate with the most units: for the owner's audit only."""
    order = zip(scores(ladder, reaches), (-handicap for handicap in handicaps(ladder)), strict=True)
    return max(enumerate(order), key=lambda candidate: candidate[1])[0]


# ---- how many units it takes -------------------------------------------------------------------------


def few_units(epsilon: float) -> int:
    """With fewer units, a choice may find nothing, or cut off many: ranges around 100,000 are e^50 behind."""
    return math.ceil(50 / epsilon)


@lru_cache(maxsize=1000)
def least_units(ladder: BoundSearch, epsilon: float) -> int:
    """With fewer units, finding nothing is the most likely, even if all values are as small as 1."""
    known = zip(ranges(ladder), handicaps(ladder), strict=True)
    return math.ceil(next(behind for (_, high), behind in known if high >= 1) / epsilon)


# ---- one number for each reach -----------------------------------------------------------------------


def base(ladder: BoundSearch) -> int:
    """Return the base of the places: reach (up, down) has the place up * base + down."""
    return len(limits(ladder)) + 2


def reach_at(ladder: BoundSearch, place: int) -> Reach:
    """Return the reach of a place."""
    return divmod(place, base(ladder))

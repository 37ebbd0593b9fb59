"""Scores of candidate clips, for the exponential mechanism.

    clips       1, 1.19, 1.41, 1.68, 2, 2.38, ... times the most of one row: four to an octave
    score       - (units whose norm exceeds the clip - few), or 0 if there are fewer than few
    nothing     - (units - 4 few), or 0 for fewer: too few units to choose for

A larger clip makes the noise of every number larger, and cuts less of the units that exceed it. If the clip
grows by a step, the noise of all numbers grows by ``few`` steps together, and what is cut falls by a step for
each unit beyond: the best clip is where as many units are beyond. Expected error itself would be no score:
one unit of a million rows moves it by a million.

Clips that fewer than few units exceed have the same score. Among them the base measure, 1 / clip^power,
prefers the smallest. It pulls below that one too, so the power is no larger than it has to be: with 7, a clip
chosen among those beyond all units is 9 % too wide on average. Where few is large it is more: then a clip e
times as wide is as bad as three quarters of few more units beyond.

With fewer than four times the few, the best clip would cut a quarter of all units or more. ``nothing`` is
then the best, and it has a thousand times the weight of all clips together; what the plan says without a
choice is used instead.

Claim   one unit moves every score by 0 or by 1 (``SENSITIVITY``), all in one direction: a choice at
        rate epsilon is epsilon-bounded-range.
Proof   a unit is beyond a clip or is not, by its own rows alone: with one unit more, the number beyond and
        the number of units are the same or greater by 1, so no score rises, and none falls by more than 1.
        The base measure and the weight of ``nothing`` are public. The rest is the claim of
        mechanisms/exponential.py for losses that all move in one direction.
Test    tests/privacy/test_clip_ladder.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

SENSITIVITY = 1
NOTHING = 1000
"""The weight of choosing nothing, in multiples of the weight of all clips together."""

STEPS = 4
"""Steps of the ladder in an octave."""

_POWER = 7
_PART = 0.75
_AT_LEAST = 4


def ladder(one: int, first: int, last: int, most: int) -> tuple[int, ...]:
    """Return the clips from one * 2^first to one * 2^last, in whole grid steps, none above ``most``."""
    rungs = (math.ceil(one * 2.0 ** (rung / STEPS)) for rung in range(STEPS * first, STEPS * last + 1))
    return tuple(dict.fromkeys(min(rung, most) for rung in rungs))


def few(deviations: float, epsilon: float) -> int:
    """Return how many units may exceed the best clip.

    ``deviations`` is by how much the deviations of all numbers together grow with a step of the clip. Fewer
    than 2 / epsilon would not outweigh chance.
    """
    return math.ceil(max(deviations, 2 / epsilon))


def scores(places: Sequence[int], few: int) -> list[int]:
    """Return the scores of all clips, and of ``nothing``; ``places`` has the units at each place."""
    total = sum(places)
    beyond, listed = total, list[int]()
    for units in places[:-1]:
        beyond -= units
        listed.append(-max(0, beyond - few))
    return [*listed, -max(0, total - _AT_LEAST * few)]


def handicaps(limits: Sequence[int], few: int, epsilon: float) -> tuple[float, ...]:
    """Return the negative logarithm of each clip's base measure, and at last of that of ``nothing``: 0."""
    power = max(_POWER, _PART * few * epsilon)
    logs = [power * math.log(limit / limits[0]) for limit in limits]
    lead = math.log(NOTHING * math.fsum(math.exp(-log) for log in logs))
    return (*(log + lead for log in logs), 0.0)


def rate(epsilon: float) -> Fraction:
    """Return the rate of the exponential mechanism: one unit more moves no score up."""
    return Fraction(epsilon) / SENSITIVITY


def least_units(limits: Sequence[int], few: int, epsilon: float) -> int:
    """With fewer units, choosing nothing is the most likely, even if the smallest clip cuts nobody."""
    return (_AT_LEAST + 1) * few + math.ceil(handicaps(limits, few, epsilon)[0] / float(rate(epsilon)))


def covering(places: Sequence[int]) -> int:
    """Return the smallest clip that no unit exceeds, or the largest: for the owner's audit only."""
    filled = [place for place, units in enumerate(places) if units]
    return min(max(filled, default=0), len(places) - 2)

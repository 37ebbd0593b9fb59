"""Scores of candidate clips, for the exponential mechanism.

    clips       1, 1.19, 1.41, 1.68, 2, 2.38, ... times the most of one row: four to an octave
    score       - | units whose norm exceeds the clip - few |
    nothing     - (units - 4 few), or 0 for fewer: too few units to choose for

A larger clip makes the noise of every number larger, and cuts less of the units that exceed it. If the clip
grows by a step, the noise of all numbers grows by ``few`` steps together, and what is cut falls by a step for
each unit beyond: the best clip is where as many units are beyond. Expected error itself would be no score:
one unit of a million rows moves it by a million.

With fewer than four times that many units, the best clip would cut a quarter of them or more. ``nothing`` is
then the best, and it has a thousand times the weight of all clips together; what the plan says without a
choice is used instead. The base measure, 1 / clip^5, keeps the choice from clips that are wider than all
units, whose scores are all the same.

Claim   one unit moves every score by at most 1 (``SENSITIVITY``), up or down: a choice at
        rate epsilon / 2 is epsilon-bounded-range.
Proof   a unit is beyond a clip or is not, by its own rows alone, so the number beyond moves by at most 1,
        and so does its distance from a public number; the number of units moves by 1. The base measure and
        the weight of ``nothing`` are public. The rest is the claim of mechanisms/exponential.py.
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

_POWER = 5
_AT_LEAST = 4


def ladder(one: int, first: int, last: int, most: int) -> tuple[int, ...]:
    """Return the clips from one * 2^first to one * 2^last, in whole grid steps, none above ``most``."""
    rungs = (math.ceil(one * 2.0 ** (rung / STEPS)) for rung in range(STEPS * first, STEPS * last + 1))
    return tuple(dict.fromkeys(min(rung, most) for rung in rungs))


def few(deviations: float, epsilon: float) -> int:
    """Return how many units may exceed the best clip.

    ``deviations`` is by how much the deviations of all numbers together grow with a step of the clip. With
    fewer than 2 / epsilon, clips beyond all units would score as well as the best.
    """
    return math.ceil(max(deviations, 2 / epsilon))


def scores(places: Sequence[int], few: int) -> list[int]:
    """Return the scores of all clips, and of ``nothing``; ``places`` has the units at each place."""
    total = sum(places)
    beyond, listed = total, list[int]()
    for units in places[:-1]:
        beyond -= units
        listed.append(-abs(beyond - few))
    return [*listed, -max(0, total - _AT_LEAST * few)]


def handicaps(limits: Sequence[int]) -> tuple[float, ...]:
    """Return the negative logarithm of each clip's base measure, and at last of that of ``nothing``: 0."""
    logs = [_POWER * math.log(limit / limits[0]) for limit in limits]
    lead = math.log(NOTHING * math.fsum(math.exp(-log) for log in logs))
    return (*(log + lead for log in logs), 0.0)


def rate(epsilon: float) -> Fraction:
    """Return the rate of the exponential mechanism: a unit may move one score up and another one down."""
    return Fraction(epsilon) / (2 * SENSITIVITY)


def least_units(limits: Sequence[int], few: int, epsilon: float) -> int:
    """With fewer units, choosing nothing is the most likely, even if the smallest clip cuts nobody."""
    return (_AT_LEAST + 1) * few + math.ceil(handicaps(limits)[0] / float(rate(epsilon)))


def covering(places: Sequence[int]) -> int:
    """Return the smallest clip that no unit exceeds, or the largest: for the owner's audit only."""
    filled = [place for place, units in enumerate(places) if units]
    return min(max(filled, default=0), len(places) - 2)

"""Sample and aggregate: the median of an aggregate over blocks of units, on a public grid.

    how many blocks   max(64, 8 m / epsilon ln(bins))      of each group; a unit is in m groups at most

Claim   the bins chosen for all groups together are one choice of epsilon (bounded range), if removing one
        unit changes the value of one block at most in each of at most m groups.
Proof   A group has a public number of blocks, and those without a value stand in the middle of the grid: so
        its weights always add up, and one block's value that moves is one weight less in a bin and one
        more in another: 2 in L1, 2 m over all groups. The rest is that of ``quantiles`` for weights of
        which one unit moves at most 2 m: the median's loss moves by half of what the weights do.
Test    tests/privacy/test_samples.py

A block of few units has not the value that all of them have (its skewness is nearer to 0, its largest
value smaller): that bias is no noise, and no margin knows of it. More blocks mean smaller ones; with fewer,
the choice is wrong by more of them than there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.exponential import Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, answers

LEAST, MOST = 64, 100_000
_HALF = (Fraction(1, 2),)


def how_many(epsilon: float, groups: int, bins: int) -> int:
    """How many blocks a group has."""
    return min(MOST, max(LEAST, math.ceil(8 * groups / epsilon * math.log(bins))))


def medians(
    weights: Sequence[tuple[Integers, Integers]],
    blocks: int,
    bins: int,
    epsilon: Fraction,
    moved: int,
    choose: Choose,
) -> Integers:
    """A bin for each group, of whose blocks so many (second) have a value in these bins (first, in order)."""
    whole = [_completed(*each, blocks, bins) for each in weights]
    starts = np.cumsum([0, *(len(places) for places, _ in whole)])
    histograms = Histograms(
        starts.astype(np.int64),
        np.concatenate([places for places, _ in whole]),
        np.concatenate([counts for _, counts in whole]),
    )
    return answers(histograms, bins, _HALF, epsilon, moved, 0, choose)[:, 0]


def _completed(places: Integers, counts: Integers, blocks: int, bins: int) -> tuple[Integers, Integers]:
    """The blocks without a value stand in the middle."""
    missing = blocks - int(counts.sum())
    whole = np.bincount(places, counts, bins).astype(np.int64)
    whole[bins // 2] += missing
    filled = np.flatnonzero(whole)
    return filled, whole[filled]

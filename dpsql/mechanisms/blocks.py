"""Sample and aggregate: the median of an aggregate over blocks of units, on a public grid.

    number of blocks   max(64, 8 m / epsilon ln(bins))     of each group; a unit is in m groups at most

Claim   the bins chosen for all groups together are one choice of epsilon (bounded range), if removing one
        unit changes the value of one block at most in each of at most m groups.
Proof   A group has a public number of blocks, and blocks without a value count at the middle of the grid. So
        its weights have a fixed sum, and moving one block's value is one weight less in a bin and one
        more in another: 2 in L1, 2 m over all groups. The rest is the proof of ``quantiles`` for weights of
        which one unit moves at most 2 m: the median's loss moves by half of what the weights do.
Test    tests/privacy/test_samples.py

The value of a block of few units differs from that of all units (its skewness is nearer to 0, its largest
value smaller). That bias is not noise, and no margin includes it. More blocks are smaller blocks; with
fewer blocks, the choice's error in rank exceeds their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, answers

LEAST, MOST = 64, 100_000
_HALF = (Fraction(1, 2),)


def how_many(epsilon: float, groups: int, bins: int) -> int:
    """Return the number of blocks of a group."""
    return min(MOST, max(LEAST, math.ceil(8 * groups / epsilon * math.log(bins))))


def medians(
    weights: Sequence[tuple[Integers, Integers]],
    blocks: int,
    bins: int,
    epsilon: Fraction,
    moved: int,
    choose: Choose,
) -> Integers:
    """Choose a bin for each group; ``weights`` are the bins of its blocks' values, and their counts."""
    completed = [_with_missing_blocks(*block_values, blocks, bins) for block_values in weights]
    starts = np.cumsum([0, *(len(places) for places, _ in completed)])
    histograms = Histograms(
        starts.astype(np.int64),
        np.concatenate([places for places, _ in completed]),
        np.concatenate([counts for _, counts in completed]),
    )
    return answers(histograms, bins, _HALF, epsilon, moved, 0, choose)[:, 0]


def _with_missing_blocks(
    places: Integers, counts: Integers, blocks: int, bins: int
) -> tuple[Integers, Integers]:
    """Put blocks without a value in the middle bin."""
    missing = blocks - int(counts.sum())
    counts_by_bin = np.bincount(places, counts, bins).astype(np.int64)
    counts_by_bin[bins // 2] += missing
    filled = np.flatnonzero(counts_by_bin)
    return filled, counts_by_bin[filled]

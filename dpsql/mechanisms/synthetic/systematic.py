"""Draw whole rows in proportion to weights: every count is its share of the rows, rounded up or down.

    weights 5, 3, 2 and 4 rows    shares 2, 1.2, 0.8: the counts are 2, 1, 1 or 2, 2, 0

The weights are laid end to end in a secret order, and rows are taken at equal distances from a secret start.

Claim   the counts sum to ``rows`` exactly, each differs from rows * weight / total by less than 1, its mean
        is this share (to a float's precision), and where a weight is 0 there are none. It reads its
        arguments and fresh random bytes alone: of released weights it is post-processing.
Proof   there are ``rows`` points, and each counts for the one weight in which it lies, or for the last
        positive one if rounding puts it at the end. An interval holds as many points as its length in
        distances between points, rounded up or down. The first end beyond a point is strictly beyond the
        end before it, so the weight between them is positive.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

from dpsql.late_numpy import np
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.strategy import Floats, Integers


def counts(weights: Floats, rows: int, words: Words) -> Integers:
    """Return how many of the rows go to each weight; none is negative, and one at least is positive."""
    order = secret_order(len(weights), words)
    ends = np.cumsum(weights[order])
    if not (0 < ends[-1] < np.inf and weights.min() >= 0):
        raise ValueError("weights are not negative, and not all of them 0")
    start = (int.from_bytes(words(8), "little") >> 11) * 2.0**-53
    points = (np.arange(rows) + start) * (ends[-1] / max(1, rows))
    last = int(np.searchsorted(ends, ends[-1], "left"))
    taken = np.minimum(np.searchsorted(ends, points, "right"), last)
    return np.bincount(order[taken], minlength=len(weights)).astype(np.int64)


def secret_order(size: int, words: Words) -> Integers:
    """Return a permutation that follows 64 random bits for each place."""
    keys = np.frombuffer(words(8 * size), "<u8", count=size)
    return np.argsort(keys, kind="stable").astype(np.int64)

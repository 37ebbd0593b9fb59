"""Releases without noise: for the owner's audit alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpsql.ir.plan import Planned
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.mechanisms.exponential import Choices, Chosen
from dpsql.release.release import release

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def silently(exact: ExactTable, planned: Planned) -> ReleasedTable:
    """A released table with no noise, and thresholds at one unit."""
    return release(
        exact,
        planned,
        lambda noise, size: np.zeros(size, dtype=np.int64),
        threshold=1,
        choose=_best,
    )


def _best(choices: Choices, rate: Fraction) -> Chosen:
    """The best of every choice."""
    found = []
    for first, last in pairwise(choices.starts.tolist()):
        found.append(first + best(-choices.whole[first:last], choices.sizes[first:last]))
    runs = np.array(found, dtype=np.int64)
    return runs, choices.sizes[runs] // 2


def best(scores: NDArray[np.int64], sizes: NDArray[np.int64]) -> int:
    """The middle of the first run of candidates that have the best score."""
    first = int(np.argmax(scores))
    worse = np.flatnonzero(scores[first:] < scores[first])
    end = first + int(worse[0]) if len(worse) else len(scores)
    so_far = np.cumsum(sizes[first:end])
    return first + int(np.searchsorted(2 * so_far, so_far[-1]))

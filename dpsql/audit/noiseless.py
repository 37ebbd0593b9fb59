"""Releases without noise, for the owner's audit only."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.mechanisms.exponential import Choices, Chosen
from dpsql.release.release import release


def silently(exact: ExactTable, planned: MeasurePlan) -> ReleasedTable:
    """Release a table without noise, with thresholds at one unit."""
    return release(
        exact,
        planned,
        lambda noise, size: np.zeros(size, dtype=np.int64),
        threshold=1,
        choose=best,
    )


def best(choices: Choices, rate: Fraction) -> Chosen:
    """Choose, for each choice, the middle of the first contiguous candidates with the smallest loss."""
    runs, places = [], []
    for first, last in pairwise(choices.starts.tolist()):
        sizes, whole, part = (values[first:last] for values in (choices.sizes, choices.whole, choices.part))
        whole = np.where(sizes > 0, whole, np.iinfo(np.int64).max)
        least = whole == whole.min()
        least &= part == part[least].min()
        start = int(np.argmax(least))
        worse = np.flatnonzero(~least[start:] & (sizes[start:] > 0))
        end = start + int(worse[0]) if len(worse) else last - first
        so_far = np.cumsum(np.where(least[start:end], sizes[start:end], 0))
        middle = (int(so_far[-1]) - 1) // 2
        run = start + int(np.searchsorted(so_far, middle, "right"))
        runs.append(first + run)
        places.append(middle - (int(so_far[run - start - 1]) if run > start else 0))
    return np.array(runs, dtype=np.int64), np.array(places, dtype=np.int64)

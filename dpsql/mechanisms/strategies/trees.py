"""Trees over ordered cells: every cell, and every sum of b cells, of b^2... (Qardaji, Yang and Li 2013).

Without the root: the total of all cells is the sum of the uppermost ranges.
"""

from __future__ import annotations

from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.strategy import Integers

BRANCHINGS = (4, 8, 16)


def tree(branching: int, cells: int) -> Integers:
    """Return the matrix of a tree: a row of zeros and ones for each range."""
    rows, width = [np.eye(cells, dtype=np.int64)], branching
    while width < cells:
        first = np.arange(cells) // width
        rows.append((first == np.arange(first[-1] + 1)[:, np.newaxis]).astype(np.int64))
        width *= branching
    return np.concatenate(rows)

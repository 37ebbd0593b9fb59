"""Whole rows from the noisy cells of a table.

    cells 2.6, -0.4, 7.1 and a total of 9    nearest without negative cells: 2.25, 0, 6.75
                                             4 rows of it: 1, 0, 3

Claim   reads released numbers and fresh random bytes alone: post-processing. The counts sum to ``rows``.
Proof   its arguments are the cells and the total with their noise; the rest is the claim of ``systematic``.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

from dpsql.late_numpy import np
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.nonnegative import with_total
from dpsql.mechanisms.strategies.strategy import Floats, Integers
from dpsql.mechanisms.synthetic import systematic


def whole_rows(cells: Floats | Integers, total: float, rows: int, words: Words) -> Integers:
    """Return the number of rows in each cell, for so many rows of a table with this total.

    A total below 1 is read as 1: noise may have made it negative, and rows need a cell to be in.
    """
    nearest = with_total(np.asarray(cells, dtype=np.float64), max(1.0, total))
    return systematic.counts(nearest, rows, words)

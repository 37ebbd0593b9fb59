"""What a strategy is: a matrix of whole numbers, how far a unit moves what it measures, and the way back.

Claim   where the numbers that a unit adds to the cells have an L1 norm of at most M, the unit moves A x by at
        most M * ``l1`` in L1 and by at most M * ``l2`` in L2; A x is exact and whole. So noise on whole
        numbers with that sensitivity makes A x private, and cells and answers are computed from it alone.
Proof   x is a sum over units, so a unit moves A x by A x_u: the sum over cells i of x_u[i] times column i.
        By the triangle inequality its norm is at most the sum of |x_u[i]| times the norm of column i, hence
        M times the largest norm of a column. An L2 clip of x_u is not enough: a row of ones adds up the
        cells of a unit. The norms are computed from the matrix in use, in whole numbers, and rounded up
        (``integers``); A x is computed without wrapping (``integers``). A depends on public numbers alone:
        the questions, the sizes and the seed of its search.
Test    tests/privacy/test_strategies.py
"""

from __future__ import annotations

from dpsql.ir.plan import Norm
from dpsql.ir.strategy import Floats, Integers, Strategy

__all__ = ["MOST_CELLS", "Floats", "Integers", "Strategy", "column"]

MOST_CELLS = 4_096
"""Cells of one matrix; more of them are a product of several."""


def column(strategy: Strategy, norm: Norm) -> int:
    """Return the largest norm of a column: what a unit with one in one cell moves at most."""
    return strategy.l1 if norm is Norm.L1 else strategy.l2

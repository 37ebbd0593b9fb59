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

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from dpsql.ir.plan import Norm

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"

MOST_CELLS = 4_096
"""Cells of one matrix; more of them are a product of several."""


class Strategy(Protocol):
    """A matrix A of whole numbers with full column rank, or a Kronecker product of such matrices."""

    @property
    def name(self) -> str:
        """What a report calls it."""
        ...

    @property
    def cells(self) -> int: ...

    @property
    def numbers(self) -> int:
        """How many numbers are measured."""
        ...

    @property
    def shift(self) -> int:
        """A is 2^shift times a matrix of real numbers whose largest column has a norm of about 1."""
        ...

    @property
    def l1(self) -> int:
        """The largest L1 norm of a column, exactly."""
        ...

    @property
    def l2(self) -> int:
        """The largest L2 norm of a column, rounded up."""
        ...

    @property
    def is_identity(self) -> bool:
        """Whether the cells themselves are measured: whole units stay whole units."""
        ...

    @property
    def digest(self) -> str:
        """Name the matrix: two strategies with the same digest measure the same."""
        ...

    def measured(self, cells: Sequence[int] | Integers) -> list[int]:
        """Compute A x exactly, for cells up to 2^62; private."""
        ...

    def solve(self, numbers: Sequence[int] | Floats) -> Floats:
        """Return the cells with A x nearest to the measured numbers (the first axis, if there are more)."""
        ...

    def variances(self) -> Floats:
        """Return the variance of each cell, for unit variance of each measured number."""
        ...

    def variances_of(self, rows: Floats) -> Floats:
        """Return the variances of sums of cells, one for each row of weights, likewise."""
        ...

    def covariance_of(self, rows: Floats) -> Floats:
        """Return the covariances of these sums with each other, likewise."""
        ...

    def error(self, *grams: Floats) -> float:
        """Return the expected sum of squared errors of the questions with this gram matrix, likewise.

        Of a product there is a gram matrix for each factor.
        """
        ...


def column(strategy: Strategy, norm: Norm) -> int:
    """Return the largest norm of a column: what a unit with one in one cell moves at most."""
    return strategy.l1 if norm is Norm.L1 else strategy.l2

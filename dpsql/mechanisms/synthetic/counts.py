"""Exact marginals of rows with whole weights; they are private.

    columns (sex, ward), 2 and 3 values    marginal((0, 1))  ->  6 numbers, the last column's values next to
                                           each other; marginal(()) is the total

Weights are in grid steps, ``step`` of them to a row that counts in full.

Claim   where the weights that a unit adds have an L1 norm of at most M over all rows (the caller's clip), the
        unit moves each marginal by at most M in L1, and so in L2 (all its rows may be in one cell), and
        the distance of a marginal from fixed whole numbers by at most M in either direction.
Proof   a marginal is a sum over rows of weight times a vector with a single 1; so a unit moves it by a vector
        whose L1 norm is at most the sum of its weights, by the triangle inequality, and L2 is at most L1.
        The distance sum |x - f| moves by at most sum |x - x'|. Sums are exact: the largest weight
        times the number of rows is at most 2^60, so that no sum of int64 wraps.
Test    tests/privacy/test_synthetic.py: leaves out one unit
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpsql.mechanisms.strategies.strategy import Floats, Integers

Columns = tuple[int, ...]

MOST_TOTAL = 2**60
"""In grid steps."""


class Counts(Protocol):
    """Exact counts of the values of some columns together; their sum is at most ``MOST_TOTAL``."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has; public."""
        ...

    @property
    def step(self) -> int:
        """How many grid steps a row is that counts in full; public."""
        ...

    def marginal(self, columns: Columns) -> Integers:
        """Return the exact counts of these columns' values, in grid steps; private."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowCounts:
    """Rows as codes 0, 1, 2... of their values, a row of the array each, and their weights in grid steps."""

    codes: Integers
    weights: Integers
    sizes: tuple[int, ...]
    step: int

    def __post_init__(self) -> None:
        rows = len(self.weights)
        if self.codes.shape != (rows, len(self.sizes)) or self.codes.dtype.kind not in "iu":
            raise ValueError("one code for each row and column")
        if rows and (self.codes.min() < 0 or (self.codes.max(axis=0) >= np.array(self.sizes)).any()):
            raise ValueError("a code is none of its column's values")
        if self.weights.dtype != np.int64 or (rows and self.weights.min() < 0):
            raise ValueError("weights are whole numbers, none negative")
        if rows * int(self.weights.max(initial=0)) > MOST_TOTAL:
            raise OverflowError("weights are too large to be added up in 64 bits")

    def marginal(self, columns: Columns) -> Integers:
        found = np.zeros(math.prod(self.sizes[column] for column in columns), dtype=np.int64)
        np.add.at(found, index(self.codes.T, self.sizes, columns), self.weights)
        return found


def index(codes: Sequence[Integers] | Integers, sizes: Sequence[int], columns: Columns) -> Integers:
    """Return the place of each row in a marginal; ``codes`` has an array for each column."""
    place = np.zeros(len(codes[0]), dtype=np.int64)
    for column in columns:
        place = place * sizes[column] + codes[column]
    return place


def distance(exact: Integers, fitted: Floats) -> int:
    """Return the L1 distance of exact counts from released ones, which are made whole first."""
    whole = np.rint(np.clip(fitted, 0.0, MOST_TOTAL / len(fitted))).astype(np.int64)
    return int(np.abs(exact - whole).sum())

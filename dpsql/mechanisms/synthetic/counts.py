"""Exact marginals of rows with whole weights; they are private.

    columns (sex, ward), 2 and 3 values    marginal((0, 1))  ->  6 numbers, the last column's values next to
                                           each other; marginal(()) is the total

Weights are in grid steps, ``step`` of them to a row that counts in full.

Claim   where the weights that a unit adds have an L1 norm of at most M over all rows (the caller's clip), the
        unit moves each marginal by at most M in L1, and so in L2 (all its rows may be in one cell), and
        the distance of a marginal from fixed whole numbers by at most M in either direction. Nothing here
        fails because of rows whose codes are on their lists and whose weights are not negative.
Proof   a marginal is a sum over rows of weight times a vector with a single 1; so a unit moves it by a vector
        whose L1 norm is at most the sum of its weights, by the triangle inequality, and L2 is at most L1.
        The distance sum |x - f| moves by at most sum |x - x'|. Sums are exact, in two halves of which
        none wraps for fewer than 2^31 rows with weights up to 2^62; then counts and distances are cut at
        public numbers, which brings none further apart.
Test    tests/privacy/test_synthetic.py: leaves out one unit
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.strategy import Floats, Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Columns = tuple[int, ...]

MOST_TOTAL = 2**60
"""In grid steps."""

_HALF_BITS = 31
_HALF = 1 << _HALF_BITS


class Counts(Protocol):
    """Exact counts of the values of some columns together; none is above ``MOST_TOTAL``."""

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

    codes: Integers | NDArray[np.int32]
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

    def marginal(self, columns: Columns) -> Integers:
        cells = math.prod(self.sizes[column] for column in columns)
        places = index(self.codes.T, self.sizes, columns)
        low, high = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
        np.add.at(low, places, self.weights & (_HALF - 1))
        np.add.at(high, places, self.weights >> _HALF_BITS)
        whole: Integers = np.minimum(high, MOST_TOTAL // _HALF) * _HALF + low
        return np.minimum(whole, MOST_TOTAL)


def index(
    codes: Sequence[Integers] | Integers | NDArray[np.int32], sizes: Sequence[int], columns: Columns
) -> Integers:
    """Return the place of each row in a marginal; ``codes`` has an array for each column."""
    place = np.zeros(len(codes[0]), dtype=np.int64)
    for column in columns:
        place = place * sizes[column] + codes[column]
    return place


def distance(exact: Integers, fitted: Floats) -> int:
    """Return the L1 distance of exact counts from released ones, which are made whole first.

    It is cut at twice ``MOST_TOTAL``, so that scores fit 64 bits.
    """
    whole = np.rint(np.clip(fitted, 0.0, MOST_TOTAL / len(fitted))).astype(np.int64)
    away = np.abs(exact - whole)
    total = (int((away >> _HALF_BITS).sum()) << _HALF_BITS) + int((away & (_HALF - 1)).sum())
    return min(total, 2 * MOST_TOTAL)

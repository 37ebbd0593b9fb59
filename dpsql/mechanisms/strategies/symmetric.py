"""The best strategy for marginals and Gaussian noise, in closed form: a symmetric matrix that is never built.

    CUBE over 16 wards, 12 ages, 3 sexes, 3 of smoker    1,728 cells, 1,728 sums of them; an entry of the
                                                         matrix depends on which columns two cells share

The gram matrix V of marginals treats the values of a column alike; so does X = A'A at the optimum, and the
diagonals of both are even. With equal weights v the fixed point of gaussian.py is reached in one step:
X = V^1/2, V's own eigenvalues under a root. The error is (tr V^1/2)^2 over the cells, as that of
ResidualPlanner (Xiao, He, Zhang and Kifer 2023), and A = X^1/2 is symmetric. Its entries, not its
eigenvalues, are cut to whole numbers, which only makes columns shorter.

Claim   the norms of columns are exact, A x is exact and whole, and A has full rank.
Proof   A column has each of its entries in as many rows as cells share those columns (``others``): sums of
        absolute values and of squares in Python's integers. A x is a sum over sets of columns of a whole
        number times the totals over all other columns, whose sizes bound what is computed on the way
        (``integers.exactly``). The eigenvalues are whole numbers, computed exactly; none is 0.
Test    tests/privacy/test_crossed.py
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cached_property

from dpsql.ir.strategy import Gram, Rows
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.sampler import SCALE_LIMIT
from dpsql.mechanisms.strategies import exchangeable, integers
from dpsql.mechanisms.strategies.dense import RankError, fits
from dpsql.mechanisms.strategies.exchangeable import Exchangeable, Places
from dpsql.mechanisms.strategies.strategy import Floats, Integers


@dataclass(frozen=True, eq=False)
class Symmetric:
    """A matrix by its entries, whole numbers, with two places for each column: not shared, and shared."""

    sizes: tuple[int, ...]
    entries: Places
    shift: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", exchangeable.checked(self.entries, self.sizes))
        if not all(self._eigenvalues.ravel()):
            raise RankError("the cells cannot be told apart")

    @property
    def name(self) -> str:
        return "symmetric"

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    @property
    def numbers(self) -> int:
        return self.cells

    @property
    def l1(self) -> int:
        return int((np.abs(self.entries) * exchangeable.others(self.sizes)).sum())

    @property
    def l2(self) -> int:
        return integers.rounded_up_root(_square(self.entries, self.sizes))

    @property
    def is_identity(self) -> bool:
        return list(self.entries.ravel()) == [0] * (self.entries.size - 1) + [1]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.sizes, self.entries.tolist(), self.shift)).encode()).hexdigest()

    def measured(self, cells: Sequence[int] | Integers) -> list[int]:
        sizes, times = self.sizes, self._times
        grown = int((np.maximum(np.abs(times), 1) * exchangeable.rest(sizes)).sum())

        def linear(limb: Integers) -> Integers:
            def along(axis: int, table: Integers, left: Places) -> Integers:
                if axis == len(sizes):
                    found: Integers = table * int(left)
                    return found
                total = table.sum(axis=axis, keepdims=True)
                return along(axis + 1, table, left[1]) + along(axis + 1, total, left[0])

            return along(0, limb.reshape(sizes), times).ravel()

        return [int(number) for number in integers.exactly(linear, grown, cells, self.cells)]

    def solve(self, numbers: Sequence[int] | Floats) -> Floats:
        inverse = Exchangeable(self.sizes, 1 / self._eigenvalues.astype(np.float64))
        return inverse.times(np.asarray(numbers, dtype=np.float64))

    def variances(self) -> Floats:
        return self.covariance.diagonal()

    def variances_of(self, rows: Rows) -> Floats:
        return self.covariance.quadratic(rows)

    def precision(self) -> tuple[Gram, float]:
        square = np.square(self._eigenvalues.astype(np.float64) / float(np.abs(self._eigenvalues).max()))
        return Exchangeable(self.sizes, square), 1.0

    @cached_property
    def covariance(self) -> Exchangeable:
        """Return the covariance of the cells for unit variance of each measured number."""
        return Exchangeable(self.sizes, self._eigenvalues.astype(np.float64) ** -2)

    @cached_property
    def _eigenvalues(self) -> Places:
        return exchangeable.eigenvalues(self.entries, self.sizes)

    @cached_property
    def _times(self) -> Places:
        """Return by how much the totals over all other columns are multiplied, for each set of columns."""
        columns = len(self.sizes)
        return exchangeable.along_columns(self.entries, [(1, 0)] * columns, [(-1, 1)] * columns)


def identity(sizes: tuple[int, ...]) -> Symmetric:
    """Return the strategy that measures the cells themselves."""
    entries = exchangeable.whole_numbers(np.zeros((2,) * len(sizes)))
    entries[(1,) * len(sizes)] = 1
    return Symmetric(sizes, entries)


def optimal(gram: Exchangeable) -> Floats:
    """Return the entries of the best real matrix, with columns of norm 1."""
    found = exchangeable.entries_of(gram.values**0.25, gram.sizes)
    others = exchangeable.others(gram.sizes).astype(np.float64)
    scaled: Floats = found / math.sqrt(float((others * found**2).sum()))
    return scaled


def whole_numbered(
    gram: Exchangeable, clip: int, deviation: float, limit: float = SCALE_LIMIT
) -> Symmetric | None:
    """Return the matrix for these questions, as ``dense.whole_numbered`` does."""
    best = optimal(gram)
    for shift in exchangeable.SHIFTS:
        entries = exchangeable.whole_numbers(np.ldexp(best, shift))
        column = integers.rounded_up_root(_square(entries, gram.sizes))
        if fits(column, clip, deviation, limit):
            return Symmetric(gram.sizes, entries, shift)
    return None


def _square(entries: Places, sizes: Sequence[int]) -> int:
    return int((entries * entries * exchangeable.others(sizes)).sum())

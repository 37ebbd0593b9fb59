"""A strategy as a Kronecker product: one matrix for each column of a table, never multiplied out.

    age x sex x ward    ranges of ages: 121 cells    sexes and their total: 3    wards and their total: 7
                        A_age (x) A_sex (x) A_ward   2,541 cells, their order that of the last column first

Claim   norms of its columns are the products of those of the factors' columns, exactly (in L2 the squares).
Proof   its column (i, j) holds the products of all entries of column i with all entries of column j: absolute
        values and squares of these sum up to the products of the two sums. The largest is that of the
        largest, as none is negative.
Test    tests/privacy/test_strategies.py, against the matrix multiplied out
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from dpsql.ir.plan import Norm
from dpsql.ir.strategy import Rows
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.sampler import SCALE_LIMIT
from dpsql.mechanisms.strategies import integers
from dpsql.mechanisms.strategies.dense import Dense, fits
from dpsql.mechanisms.strategies.design import MOST_SHIFT, Design
from dpsql.mechanisms.strategies.gram import Factors
from dpsql.mechanisms.strategies.rows import Crossed, Listed
from dpsql.mechanisms.strategies.strategy import Floats, Integers

LEAST_SHIFT = 6
"""Of a factor; lower than that of a single matrix, as factors share the room that the noise leaves."""


@dataclass(frozen=True, eq=False)
class Product:
    """Factors in the order of the columns; the cells of the last one are next to each other."""

    factors: tuple[Dense, ...]

    @property
    def name(self) -> str:
        return " x ".join(factor.name for factor in self.factors)

    @property
    def cells(self) -> int:
        return math.prod(self._axes)

    @property
    def numbers(self) -> int:
        return math.prod(factor.numbers for factor in self.factors)

    @property
    def shift(self) -> int:
        return sum(factor.shift for factor in self.factors)

    @property
    def l1(self) -> int:
        return math.prod(factor.l1 for factor in self.factors)

    @property
    def l2(self) -> int:
        return integers.rounded_up_root(math.prod(factor.l2_square for factor in self.factors))

    @property
    def is_identity(self) -> bool:
        return all(factor.is_identity for factor in self.factors)

    @property
    def digest(self) -> str:
        return hashlib.sha256(" ".join(factor.digest for factor in self.factors).encode()).hexdigest()

    def measured(self, cells: Sequence[int] | Integers) -> list[int]:
        return integers.product([factor.matrix for factor in self.factors], cells)

    def solve(self, numbers: Sequence[int] | Floats) -> Floats:
        """Solve along one axis after the other: the inverse of a product is the product of the inverses."""
        y = np.asarray(numbers, dtype=np.float64)
        rest = y.shape[1:]
        y = y.reshape(*(factor.numbers for factor in self.factors), *rest)
        for axis, factor in enumerate(self.factors):
            if not factor.is_identity:
                along = np.moveaxis(y, axis, 0)
                solved = factor.solve(along.reshape(factor.numbers, -1))
                y = np.moveaxis(solved.reshape(factor.cells, *along.shape[1:]), 0, axis)
        return y.reshape(self.cells, *rest)

    def variances(self) -> Floats:
        found = np.ones(1)
        for factor in self.factors:
            found = np.multiply.outer(found, factor.variances()).ravel()
        return found

    def variances_of(self, rows: Rows) -> Floats:
        if isinstance(rows, Crossed) and rows.sizes == self._axes:
            found = np.ones(len(rows))
            for factor, pattern, at in zip(self.factors, rows.patterns, rows.chosen.T, strict=True):
                found *= factor.variances_of(Listed(pattern))[at]
            return found
        dense = rows.dense()
        weights = np.moveaxis(dense.reshape(len(dense), *self._axes), 0, -1)
        spread = integers.along_axes([factor.covariance for factor in self.factors], weights)
        variances: Floats = np.einsum("ij,ji->i", dense, spread.reshape(self.cells, len(dense)))
        return variances

    def precision(self) -> tuple[Factors, float]:
        squares = [factor.precision() for factor in self.factors]
        matrices = tuple(matrix for square, _ in squares for matrix in square.matrices)
        return Factors(matrices), math.prod(largest for _, largest in squares)

    def error(self, *grams: Floats) -> float:
        """Return the expected sum of squared errors; there is a gram matrix for each factor."""
        return math.prod(factor.error(gram) for factor, gram in zip(self.factors, grams, strict=True))

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(factor.cells for factor in self.factors)


def whole_numbered_product(
    designs: Sequence[Design], clip: int, deviation: float, limit: float = SCALE_LIMIT
) -> Product | None:
    """Return the product with the largest shift of its factors whose noise is below the limit, or None.

    As ``dense.whole_numbered``; all factors that are not whole have the same shift. Their shifts add up, and
    noise beyond 2^42 takes the exact path of the sampler, number by number: a lower limit is quicker.
    """
    (norm,) = {design.norm for design in designs}
    for shift in (
        (0,) if all(design.is_whole for design in designs) else range(MOST_SHIFT, LEAST_SHIFT - 1, -1)
    ):
        at = [0 if design.is_whole else shift for design in designs]
        matrices = [design.rounded(each) for design, each in zip(designs, at, strict=True)]
        if fits(_column(matrices, norm), clip, deviation, limit):
            found = zip(designs, matrices, at, strict=True)
            return Product(tuple(Dense(design.name, matrix, each) for design, matrix, each in found))
    return None


def _column(matrices: Sequence[Integers], norm: Norm) -> int:
    if norm is Norm.L1:
        return math.prod(integers.column_sum(matrix) for matrix in matrices)
    return integers.rounded_up_root(math.prod(integers.column_square(matrix) for matrix in matrices))

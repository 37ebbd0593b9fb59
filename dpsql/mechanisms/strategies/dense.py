"""A strategy as one matrix of whole numbers, at most 4,096 cells.

    A_int = round(2^s A)     s is the largest of 20 ... 10 with which the noise still fits the sampler

Least squares uses A_int, not A: rounding costs nothing but a little of the optimum. A matrix that is whole
already (the identity, trees) stays as it is, with s = 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from dpsql.ir.strategy import Rows
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.sampler import SCALE_LIMIT
from dpsql.mechanisms.strategies import integers
from dpsql.mechanisms.strategies.design import Design
from dpsql.mechanisms.strategies.gram import Factors
from dpsql.mechanisms.strategies.strategy import MOST_CELLS, Floats, Integers


class RankError(ValueError):
    """The cells cannot be recovered from what the matrix measures."""


@dataclass(frozen=True, eq=False)
class Dense:
    """A matrix in use: checked, its norms and its rank computed from its own entries."""

    name: str
    matrix: Integers
    shift: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", integers.checked(self.matrix))
        if self.cells > MOST_CELLS:
            raise ValueError(f"a strategy of at most {MOST_CELLS} cells")
        _ = self.covariance

    @property
    def cells(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def numbers(self) -> int:
        return len(self.matrix)

    @cached_property
    def l1(self) -> int:
        return integers.column_sum(self.matrix)

    @cached_property
    def l2_square(self) -> int:
        return integers.column_square(self.matrix)

    @property
    def l2(self) -> int:
        return integers.rounded_up_root(self.l2_square)

    @cached_property
    def is_identity(self) -> bool:
        return self.numbers == self.cells and np.array_equal(self.matrix, np.eye(self.cells, dtype=np.int64))

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(
            f"{self.matrix.shape} {self.shift} ".encode() + self.matrix.tobytes()
        ).hexdigest()

    def measured(self, cells: Sequence[int] | Integers) -> list[int]:
        return integers.product([self.matrix], cells)

    def solve(self, numbers: Sequence[int] | Floats) -> Floats:
        """Solve by the inverse of A'A, once more for what is left."""
        y = np.asarray(numbers, dtype=np.float64)
        if self.is_identity:
            return y
        cells = self.inverse @ y
        found: Floats = cells + self.inverse @ (y - self.floats @ cells)
        return found

    def variances(self) -> Floats:
        return np.diagonal(self.covariance)

    def variances_of(self, rows: Rows) -> Floats:
        weights = rows.dense()
        found: Floats = ((weights @ self.covariance) * weights).sum(axis=1)
        return found

    def precision(self) -> tuple[Factors, float]:
        square = Factors((np.linalg.inv(self.covariance).astype(np.float64),))
        return square, square.largest()

    def error(self, *grams: Floats) -> float:
        """Return the expected sum of squared errors of the questions with this gram matrix."""
        (gram,) = grams
        return float(np.vdot(gram, self.covariance))

    @cached_property
    def floats(self) -> Floats:
        return self.matrix.astype(np.float64)

    @cached_property
    def inverse(self) -> Floats:
        """Return the pseudo-inverse of A: its rank is full."""
        found: Floats = self.covariance @ self.floats.T
        return found

    @cached_property
    def covariance(self) -> Floats:
        """Return the covariance of the cells for unit variance of each measured number, or raise RankError.

        Let R be the computed inverse of G = A'A. If |I - R G| < 1, G has an inverse, however wrong R is: from
        G v = 0 would follow v = (I - R G) v, which is shorter than v. ``lost`` bounds what G and R G lost
        by rounding: 2^-53 for each term of a sum, twice as much here.
        """
        if self.is_identity:
            return _read_only(np.eye(self.cells))
        a = self.floats
        square = a.T @ a
        try:
            found = np.linalg.inv(square)
        except np.linalg.LinAlgError:
            raise RankError("the cells cannot be told apart") from None
        left = np.linalg.norm(np.eye(len(square)) - found @ square)
        lost = (len(a) + len(square)) * 2.0**-52 * np.linalg.norm(found) * np.linalg.norm(a) ** 2
        if not left + lost < 0.5:  # written so that NaN fails too
            raise RankError("the cells cannot be told apart")
        return _read_only((found + found.T) / 2)


def _read_only(numbers: Floats) -> Floats:
    numbers.setflags(write=False)
    return numbers


def identity(cells: int) -> Dense:
    """Return the strategy that measures the cells themselves."""
    return Dense("identity", np.eye(cells, dtype=np.int64))


def whole_numbered(design: Design, clip: int, deviation: float, limit: float = SCALE_LIMIT) -> Dense | None:
    """Return round(2^s A) for the largest s with which the noise is below the limit; None if there is none.

    ``clip`` is the most that a unit adds to the cells in L1, in grid steps, and ``deviation`` that of the
    noise for a sensitivity of one. All are public.
    """
    for shift in design.shifts:
        matrix = design.rounded(shift)
        if fits(integers.column_norm(matrix, design.norm), clip, deviation, limit):
            return Dense(design.name, matrix, shift)
    return None


def fits(column: int, clip: int, deviation: float, limit: float) -> bool:
    """Whether the noise for columns of this norm is below the limit."""
    return column * clip * Fraction(deviation) < Fraction(limit)

"""A strategy: a matrix of whole numbers that is measured instead of cells, and the way back to the cells.

``mechanisms/strategies`` makes them, and says what a unit moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"


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

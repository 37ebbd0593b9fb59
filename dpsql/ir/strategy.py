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


class Rows(Protocol):
    """Numbers as sums of cells: W, a row for each number."""

    def __len__(self) -> int: ...

    def sums(self, cells: Floats) -> Floats:
        """Add up the cells of each number; axes beyond the first are kept."""
        ...

    def exact_sums(self, cells: Sequence[int]) -> list[int]:
        """Add up whole cells, up to 2^62 each."""
        ...

    def dense(self) -> Floats:
        """Multiply it out."""
        ...

    def told(self) -> tuple[str, bytes]:
        """Return what a digest is made of: sizes, and entries."""
        ...


class Gram(Protocol):
    """The gram matrix V = W'W of questions: it says which errors of cells matter, and how much."""

    def times(self, cells: Floats) -> Floats: ...

    def diagonal(self) -> Floats: ...

    def column(self, cell: int) -> Floats: ...


class Strategy(Protocol):
    """A matrix A of whole numbers with full column rank, given in one of several forms."""

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

    def variances_of(self, rows: Rows) -> Floats:
        """Return the variances of sums of cells, likewise."""
        ...

    def precision(self) -> tuple[Gram, float]:
        """Return a multiple of A'A, and its largest eigenvalue."""
        ...

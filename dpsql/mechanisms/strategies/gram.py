"""The gram matrix of questions: V = W'W, a row of W for each asked number, a weight for each statement.

    the error of all questions together, by least squares with A    tr(V (A'A)^-1) times the noise's variance

A millionth part of the mean diagonal is added: a cell that no question reads must still be measured by
something, or A has not full rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.integers import along_axes
from dpsql.mechanisms.strategies.strategy import MOST_CELLS, Floats, Integers

RIDGE = 1e-6

_BLOCK = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """One gram matrix, or the Kronecker product of several."""

    matrices: tuple[Floats, ...]

    @property
    def axes(self) -> list[int]:
        return [len(matrix) for matrix in self.matrices]

    def times(self, cells: Floats) -> Floats:
        return along_axes(self.matrices, cells.reshape(self.axes)).ravel()

    def diagonal(self) -> Floats:
        return _outer([np.diagonal(matrix) for matrix in self.matrices]).ravel()

    def column(self, cell: int) -> Floats:
        columns = zip(self.matrices, np.unravel_index(cell, self.axes), strict=True)
        return _outer([matrix[at] for matrix, at in columns]).ravel()

    def largest(self) -> float:
        """Return the largest eigenvalue."""
        return float(np.prod([np.linalg.eigvalsh(matrix)[-1] for matrix in self.matrices]))


def _outer(parts: Sequence[Floats]) -> Floats:
    found = parts[0]
    for part in parts[1:]:
        found = np.multiply.outer(found, part)
    return found


def gram(rows: Integers | Floats, weights: Sequence[float] | Floats | None = None) -> Floats:
    """Return V for rows of whole numbers, each with a weight (1 if not given)."""
    return of_statements([(None, rows)] if weights is None else [(np.asarray(weights), rows)])


def of_statements(statements: Iterable[tuple[float | Floats | None, Integers | Floats]]) -> Floats:
    """Return V for statements: (weight, rows).

    The rows of one statement share its weight equally, or have the weights of an array, or 1 each for None.
    Rows are read in blocks, so that W may have many more of them than cells.
    """
    total: Floats | None = None
    for weight, rows in statements:
        each = weights_of(weight, len(rows))
        for start in range(0, len(rows), _BLOCK):
            block = np.asarray(rows[start : start + _BLOCK], dtype=np.float64)
            part = block.T @ (block * each[start : start + _BLOCK, np.newaxis])
            total = part if total is None else total + part
    if total is None or not 1 <= len(total) <= MOST_CELLS or not total.any():
        raise ValueError(f"questions about 1 to {MOST_CELLS} cells, not all of them empty")
    return with_ridge(total)


def weights_of(weight: float | Floats | None, rows: int) -> Floats:
    """Return the weight of each row of a statement."""
    each = np.ones(rows) if weight is None else np.asarray(weight, dtype=np.float64)
    if not each.ndim:
        each = np.full(rows, each / rows)
    if each.shape != (rows,) or not (np.isfinite(each) & (each > 0)).all():
        raise ValueError("a positive weight for each row")
    return each


def with_ridge(square: Floats) -> Floats:
    """Return W'W, symmetric to the last bit, with the millionth part on its diagonal."""
    ridge = RIDGE * float(np.trace(square)) / len(square)
    return (square + square.T) / 2 + ridge * np.eye(len(square))


# ---- of whole families, in closed form ----------------------------------------------------------------


def all_ranges(cells: int) -> Floats:
    """Return V of all ranges of consecutive cells; i <= j are both in i * (cells + 1 - j) of them."""
    place = np.arange(cells)
    before, after = np.minimum.outer(place, place) + 1, cells - np.maximum.outer(place, place)
    return with_ridge((before * after).astype(np.float64))


def running_totals(cells: int) -> Floats:
    """Return V of the sums of the first cells."""
    place = np.arange(cells)
    return with_ridge((cells - np.maximum.outer(place, place)).astype(np.float64))


def points_and_total(cells: int) -> Floats:
    """Return V of every cell, and of the sum of all."""
    return with_ridge(np.eye(cells) + np.ones((cells, cells)))

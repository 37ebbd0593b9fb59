"""Matrices over the combinations of some columns that treat all values of a column alike.

    sexes F, M, wards a, b, c      an entry depends on whether the two cells share their sex, and their ward
                                   [[off both, same ward], [same sex, same cell]]

Such a matrix has an entry for each set of shared columns, and an eigenvalue for each set S of columns: that
of the tables whose sums along each column of S are 0, and which are even along all others. Both are arrays
with two places for each column: not shared and shared, even and not. Along one column of n values a matrix
with ``same`` on its diagonal and ``off`` beside it has the eigenvalues same + (n - 1) off and same - off, and
one of several columns is a sum of products of these.

What is asked of marginals is of this kind (CUBE, ROLLUP, GROUPING SETS), and so is what is best measured for
them; nothing is ever multiplied out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from dpsql.ir.strategy import Rows
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.rows import Crossed
from dpsql.mechanisms.strategies.strategy import Floats

Places: TypeAlias = Any
"""An array with two places for each column, of floats or of Python's integers."""

SHIFTS = range(14, 9, -1)
"""Shifts that are tried: 2^14 loses half a percent, and the noise for it is sampled quickly."""

MOST_COLUMNS = 10
"""An array has 2^10 entries at most."""


def along_columns(places: Places, first: Sequence[Any], second: Sequence[Any]) -> Places:
    """Replace the two places of each column by two sums of them, with the weights of that column."""
    for axis, (one, two) in enumerate(zip(first, second, strict=True)):
        left, right = np.moveaxis(places, axis, 0)
        places = np.stack([one[0] * left + one[1] * right, two[0] * left + two[1] * right], axis=axis)
    return places


def eigenvalues(entries: Places, sizes: Sequence[int]) -> Places:
    return along_columns(entries, [(n - 1, 1) for n in sizes], [(-1, 1)] * len(sizes))


def entries_of(values: Floats, sizes: Sequence[int]) -> Floats:
    """Return the entries of the matrix with these eigenvalues."""
    found: Floats = along_columns(
        values, [(1 / n, -1 / n) for n in sizes], [(1 / n, (n - 1) / n) for n in sizes]
    )
    return found


def dimensions(sizes: Sequence[int]) -> Places:
    """Return how often each eigenvalue is there: the product of n - 1 over the columns of its set."""
    return _outer([(1, n - 1) for n in sizes])


def others(sizes: Sequence[int]) -> Places:
    """Return how many cells share just these columns with a cell."""
    return _outer([(n - 1, 1) for n in sizes])


def rest(sizes: Sequence[int]) -> Places:
    """Return how many cells a cell of each marginal has: the product of n over the columns it lacks."""
    return _outer([(n, 1) for n in sizes])


def _outer(pairs: Sequence[tuple[int, int]]) -> Places:
    found = np.array(1, dtype=object)
    for pair in pairs:
        found = np.multiply.outer(found, np.array(pair, dtype=object))
    return found


def checked(places: Places, sizes: Sequence[int]) -> Places:
    """Return a read-only copy, or raise ValueError for what are no whole numbers for so many columns."""
    kept = np.array(places, dtype=object)
    if kept.shape != (2,) * len(sizes) or any(type(number) is not int for number in kept.ravel()):
        raise ValueError("a strategy is a matrix of whole numbers")
    kept.setflags(write=False)
    return kept


def whole_numbers(places: Floats) -> Places:
    """Return an array of Python's integers, cut off."""
    found = np.array([int(number) for number in places.ravel()], dtype=object)
    return found.reshape(places.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Exchangeable:
    """A symmetric matrix, by its eigenvalues."""

    sizes: tuple[int, ...]
    values: Floats

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    def times(self, cells: Floats) -> Floats:
        """Multiply: split a table into its even part along each column and the rest. Axes beyond are kept."""

        def along(axis: int, table: Floats, values: Floats) -> Floats:
            if axis == len(self.sizes):
                return table * values
            even = table.mean(axis=axis, keepdims=True)
            return along(axis + 1, table - even, values[1]) + along(axis + 1, even, values[0])

        table = cells.reshape(*self.sizes, *cells.shape[1:])
        return along(0, table, self.values).reshape(cells.shape)

    def diagonal(self) -> Floats:
        return np.full(self.cells, float(self._entries[(1,) * len(self.sizes)]))

    def column(self, cell: int) -> Floats:
        found = self._entries
        for axis, place in enumerate(np.unravel_index(cell, self.sizes)):
            shared = np.zeros(self.sizes[axis], dtype=np.int64)
            shared[place] = 1
            found = np.take(found, shared, axis=axis)
        return found.ravel()

    def quadratic(self, rows: Rows) -> Floats:
        """Return u' X u for each row u."""
        if not isinstance(rows, Crossed) or rows.sizes != self.sizes:
            dense = rows.dense()
            squares: Floats = np.einsum("ij,ji->i", dense, self.times(dense.T))
            return squares
        counted, which = np.unique(rows.counted(), axis=0, return_inverse=True)
        found = np.array([float((parts_of(each, self.sizes) * self.values).sum()) for each in counted])
        return found[which.ravel()]

    @property
    def _entries(self) -> Floats:
        return entries_of(self.values, self.sizes)


def parts_of(counted: Sequence[int], sizes: Sequence[int]) -> Floats:
    """Return the squared lengths of the parts of a row with so many ones in each column."""
    found = np.ones(())
    for ones, n in zip(counted, sizes, strict=True):
        found = np.multiply.outer(found, np.array((ones * ones / n, ones - ones * ones / n)))
    return found


def asked(rows: Sequence[tuple[Floats, Crossed]], ridge: float) -> Exchangeable:
    """Return the gram matrix of questions, made even: with each question all that other values make of it.

    For a matrix that treats values alike the error is the same. ``ridge`` is that of gram.py.
    """
    sizes = rows[0][1].sizes
    total = np.zeros((2,) * len(sizes))
    for weights, of_statement in rows:
        counted, which = np.unique(of_statement.counted(), axis=0, return_inverse=True)
        for each, weight in zip(counted, np.bincount(which.ravel(), weights), strict=True):
            total = total + weight * parts_of(each, sizes)
    values = total / dimensions(sizes).astype(np.float64)
    return Exchangeable(sizes, values + ridge * float(total.sum()) / math.prod(sizes))

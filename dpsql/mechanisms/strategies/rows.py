"""W: numbers as sums of cells, as a matrix, or by the columns that the cells are combinations of.

    age < 20 AND sex = 'F'     Listed     1 1 0 0 0 0
                               Crossed    ages 1 0, sexes 1 1 0        a cell counts where both say so

With ten columns a matrix of all numbers by all cells would have thousands of millions of entries; patterns of
each column are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.strategy import Floats, Integers

_LIMB = 31


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """A matrix: a row for each number, a column for each cell."""

    matrix: Integers | Floats

    def __len__(self) -> int:
        return len(self.matrix)

    def sums(self, cells: Floats) -> Floats:
        """Add up the cells of each number; axes beyond the first are kept."""
        found: Floats = self.matrix.astype(np.float64) @ cells
        return found

    def exact_sums(self, cells: Sequence[int]) -> list[int]:
        """Add up whole cells of any size."""
        return [int(number) for number in self.matrix @ np.array(cells, dtype=object)]

    def dense(self) -> Floats:
        return self.matrix.astype(np.float64)

    def told(self) -> tuple[str, bytes]:
        return repr(self.matrix.shape), self.matrix.tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """A number is the sum of the cells for which a pattern of each column has a 1.

    ``patterns`` has for each column a matrix of zeros and ones, a row for each pattern and a column for each
    of its values; ``chosen`` has a row for each number, with its pattern of each column. The cells of the
    last column's values are next to each other.
    """

    patterns: tuple[Integers, ...]
    chosen: Integers

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(pattern.shape[1] for pattern in self.patterns)

    def part(self, start: int, end: int) -> Crossed:
        """Return some of the numbers."""
        return Crossed(self.patterns, self.chosen[start:end])

    def counted(self) -> Integers:
        """Return how many values of each column count in each number."""
        ones = [pattern.sum(axis=1)[at] for pattern, at in zip(self.patterns, self.chosen.T, strict=True)]
        return np.stack(ones, axis=1)

    def sums(self, cells: Floats) -> Floats:
        found = np.empty((len(self), *cells.shape[1:]))
        self._add(np.asarray(cells, dtype=np.float64).reshape(*self.sizes, *cells.shape[1:]), found)
        return found

    def exact_sums(self, cells: Sequence[int]) -> list[int]:
        """Add up whole cells up to 2^62, fewer than 2^31 of them: in halves of 31 bits, whose sums fit 64."""
        x = np.asarray(cells, dtype=np.int64)
        halves = np.stack((x >> _LIMB, x & (2**_LIMB - 1)), axis=-1).reshape(*self.sizes, 2)
        found = np.empty((len(self), 2), dtype=np.int64)
        self._add(halves, found)
        return [(high << _LIMB) + low for high, low in found.tolist()]

    def _add(self, cells: Any, found: Any) -> None:
        """Add up along one column after the other, for numbers with the same patterns so far only once.

        The column with most patterns comes last, where one product of matrices does all of it.
        """
        axes = sorted(range(len(self.patterns)), key=lambda axis: len(self.patterns[axis]))

        def along(depth: int, cells: Any, numbers: Integers) -> None:
            axis = axes[depth]
            own = self.chosen[numbers, axis]
            if depth == len(axes) - 1:
                found[numbers] = self.patterns[axis][own].astype(cells.dtype) @ cells
                return
            order = np.argsort(own, kind="stable")
            firsts = np.flatnonzero(np.diff(own[order], prepend=-1))
            for same in np.split(order, firsts[1:]):
                counts = np.flatnonzero(self.patterns[axis][own[same[0]]])
                along(depth + 1, cells[counts].sum(axis=0), numbers[same])

        if len(self):
            along(0, cells.transpose(*axes, *range(len(axes), cells.ndim)), np.arange(len(self)))

    def dense(self) -> Floats:
        found = np.ones((len(self), 1))
        for pattern, at in zip(self.patterns, self.chosen.T, strict=True):
            found = (found[:, :, np.newaxis] * pattern[at][:, np.newaxis, :]).reshape(len(self), -1)
        return found

    def told(self) -> tuple[str, bytes]:
        shapes = [pattern.shape for pattern in self.patterns]
        parts = [np.ascontiguousarray(part, dtype=np.int64) for part in (*self.patterns, self.chosen)]
        return repr((shapes, self.chosen.shape)), b"".join(part.tobytes() for part in parts)

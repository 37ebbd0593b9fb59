"""A design: the real matrix that a search found for a gram matrix, before it is made whole numbers."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

from dpsql.ir.plan import Norm
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.strategy import Floats, Integers, Strategy, column

MOST_SHIFT, LEAST_SHIFT = 20, 10


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix that is good for one norm of its columns.

    ``bound`` is a lower bound of ``relative_error`` over all matrices, where one is known.
    """

    name: str
    norm: Norm
    matrix: Floats
    bound: float | None = None

    @cached_property
    def is_whole(self) -> bool:
        """Whether it needs no rounding: the identity, trees."""
        return np.array_equal(self.matrix, np.rint(self.matrix))

    @property
    def shifts(self) -> tuple[int, ...]:
        """Return the shifts that may be used, the most exact first."""
        return (0,) if self.is_whole else tuple(range(MOST_SHIFT, LEAST_SHIFT - 1, -1))

    def rounded(self, shift: int) -> Integers:
        """Return 2^shift A, cut to whole numbers: where no column is longer than 1, none is than 2^shift.

        So the norm that is declared, and with it the noise, is the same whatever the last bits of a search.
        """
        return np.trunc(np.ldexp(self.matrix, shift)).astype(np.int64)


class _Solved(Strategy, Protocol):
    def error(self, *grams: Floats) -> float: ...


def relative_error(strategy: _Solved, norm: Norm, *grams: Floats) -> float:
    """Return the sum of squared errors for noise of variance 1 at a sensitivity of 1."""
    return column(strategy, norm) ** 2 * strategy.error(*grams)

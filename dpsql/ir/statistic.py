"""Statistics: bounded integers per row that are summed per group, alone or in families with one bound."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass


class Part(Enum):
    """What one row adds to a statistic, in grid steps, where its condition holds (else 0)."""

    ROWS = "rows"  # most
    UNITS = "units"  # most, once per unit and group
    VALUE = "value"  # (clamped argument - offset) / step
    REST = "rest"  # most - (clamped argument - offset) / step
    BERNSTEIN = "bernstein"  # most * the cell's polynomial: (1-y)(1-y), 2y(1-y), yy of y in [0, 1]
    LAGRANGE = "lagrange"  # most * the cell's polynomial: (1-y)(1-2y), 4y(1-y), y(2y-1)


CELLS = frozenset((Part.BERNSTEIN, Part.LAGRANGE))
"""Parts of a moment's cells: three for one argument, nine (products of polynomials) for two."""


SLACK = 8
"""Steps by which the rounded cells of a family may exceed ``most`` together."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A second argument, clamped to [low, high]."""

    argument: Scalar
    low: float | int
    high: float | int


def width_of(low: float | int, high: float | int) -> float:
    """Return the width of an axis, as a divisor: never 0."""
    return max(float(high) - float(low), 2.0**-900)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A bounded number per row, summed over rows as an exact integer.

    ``argument`` is clamped to [low, high]; NULL and NaN add nothing. ``step`` is the SQL value of one grid
    step, and no row adds more than ``most`` steps. For ROWS and UNITS the argument, if there is one, only has
    to be not NULL. Equal statistics are measured once. Cells are numbered: of nine, cell 3 * i + j is the
    argument's i-th polynomial times the j-th of ``other``. Decimals are first rounded to so many ``digits``
    after the point, where all of theirs are finer than the grid.
    """

    part: Part
    argument: Scalar | None
    condition: Scalar | None
    step: Fraction
    most: int
    low: float | int = 0
    high: float | int = 0
    offset: float | int = 0
    other: Axis | None = None
    cell: int = 0
    digits: int | None = None

    @property
    def unit(self) -> Fraction:
        """What values are rounded to multiples of: no value is off by more than half of it."""
        return self.step if self.digits is None else max(self.step, Fraction(1, 10**self.digits))

    @property
    def never_negative(self) -> bool:
        """Whether no sum of it is below 0."""
        return self.low >= self.offset if self.part is Part.VALUE else self.part is not Part.LAGRANGE

    @property
    def together(self) -> int:
        """Most steps that one row adds to this statistic and those that complete it: a pair, or cells."""
        return self.most + (SLACK if self.part in CELLS else 0)


@dataclass(frozen=True, slots=True)
class Family:
    """Statistics to which one row adds at most ``most`` steps in L1, all together.

    ``alternatives`` are positions: each is one statistic, a pair of REST and VALUE, or the cells of one or
    two arguments. A row adds to at most one alternative.
    """

    alternatives: tuple[tuple[int, ...], ...]
    most: int

    @property
    def statistics(self) -> tuple[int, ...]:
        """All positions, in order."""
        return tuple(sorted(position for alternative in self.alternatives for position in alternative))

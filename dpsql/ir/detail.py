"""Details: per-group measurements other than sums, such as weights over a public grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dpsql.ir.grid import Grid, Target
from dpsql.ir.scalar import Literal, Scalar


@dataclass(frozen=True, slots=True)
class Histogram:
    """Weight of an argument over the bins of a public grid.

    A unit's weight over all bins and groups is at most its clip. For each of the ordered ``targets`` two
    numbers are released: a bin, and the density there (see ``mechanisms.density``).
    """

    argument: Scalar
    condition: Scalar | None
    grid: Grid
    targets: tuple[Target, ...]

    @property
    def width(self) -> int:
        """Numbers released per group."""
        return 2 * len(self.targets)


@dataclass(frozen=True, slots=True)
class Votes:
    """Weight of each of these values: every unit's weight over them."""

    argument: Scalar
    condition: Scalar | None
    values: tuple[Literal, ...]

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Matching:
    """Number of distinct values; a unit claims at most ``most`` of them, over all groups.

    ``short`` says that a unit may have more values, according to its declared number of rows.
    """

    argument: Scalar
    condition: Scalar | None
    most: int
    short: bool = False

    @property
    def width(self) -> int:
        return 1


BINS = 4096
"""Bins of the grid for the values of blocks."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Number of blocks of units with each value of an aggregate; a unit is in one block per group.

    ``extra`` are further arguments of the ``function``. Values are clamped to [low, high].
    """

    argument: Scalar
    condition: Scalar | None
    function: str
    extra: tuple[float, ...]
    low: float
    high: float

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class BoundSearch:
    """Distance of each unit's values from zero, on a ladder of limits between 2^first and 2^last.

    A unit counts at one place of the ladder. Without an argument, the value is its number of rows.
    """

    argument: Scalar | None
    first: int
    last: int
    signed: bool

    @property
    def width(self) -> int:
        return 1


Detail: TypeAlias = Histogram | Votes | Matching | Blocks | BoundSearch
"""A measurement per group with a mechanism of its own, which releases ``width`` numbers per shown group."""

"""What is measured of each group beside sums: weights on places, and which numbers are chosen from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dpsql.ir.grid import Grid, Target
from dpsql.ir.scalar import Literal, Scalar


@dataclass(frozen=True, slots=True)
class Histogram:
    """How much of an argument lies where: every unit's weight over the bins of a public grid.

    A unit weighs at most its clip, over all bins and groups together. Of each of the ordered ``targets`` two
    numbers are released: a bin, and how dense it is there (see ``mechanisms.density``).
    """

    argument: Scalar
    condition: Scalar | None
    grid: Grid
    targets: tuple[Target, ...]

    @property
    def width(self) -> int:
        """How many numbers are released for each group."""
        return 2 * len(self.targets)


@dataclass(frozen=True, slots=True)
class Votes:
    """How much of an argument is which of these values: every unit's weight over them."""

    argument: Scalar
    condition: Scalar | None
    values: tuple[Literal, ...]

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Matching:
    """How many different values there are, of which a unit claims at most ``most``, over all groups.

    ``short`` says that a unit may well have more, as far as anybody said how many rows it has.
    """

    argument: Scalar
    condition: Scalar | None
    most: int
    short: bool = False

    @property
    def width(self) -> int:
        return 1


BINS = 4096
"""Of the grid on which the values of blocks lie."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """How many blocks of units have which value of an aggregate: a unit is in one block of each group.

    ``extra`` are further arguments of the ``function``; values are clamped to [low, high].
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
    """How far the values of each unit go from zero, on a ladder of limits between 2^first and 2^last.

    A unit stands in one place. Without an argument, the value is how many rows it has.
    """

    argument: Scalar | None
    first: int
    last: int
    signed: bool

    @property
    def width(self) -> int:
        return 1


Detail: TypeAlias = Histogram | Votes | Matching | Blocks | BoundSearch
"""What is measured of each group beside sums: weights on places, from which a mechanism of its own releases

``width`` numbers for each group that is shown.
"""

"""A histogram over a public grid, and the order statistics that are chosen from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.grid import Grid, Target
from dpsql.ir.scalar import Scalar


@dataclass(frozen=True, slots=True)
class Histogram(Detail):
    """How much of an argument lies where: every unit's weight over the bins of a public grid.

    A unit weighs at most its clip, over all bins and groups together. Of each of the ordered ``targets`` two
    numbers are released: a bin, and how dense it is there (see ``mechanisms.density``).
    """

    kind: ClassVar[str] = "quantiles"
    written: ClassVar[str] = "Histogram argument condition grid targets"

    argument: Scalar
    condition: Scalar | None
    grid: Grid
    targets: tuple[Target, ...]

    @property
    def width(self) -> int:
        """How many numbers are released for each group."""
        return 2 * len(self.targets)

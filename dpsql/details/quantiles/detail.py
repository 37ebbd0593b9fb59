"""The detail of quantiles: a histogram over a public grid, and the order statistics chosen from it."""

from __future__ import annotations

from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.grid import Grid, Spacing, Target
from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Histogram(Detail):
    """A weighted histogram of an argument over the bins of a public grid.

    The weight of a unit is at most its clip, over all bins and groups together. For each of the ordered
    ``targets`` two numbers are released: a bin, and the density around it (see ``mechanisms.density``).
    """

    kind: ClassVar[str] = "quantiles"
    written: ClassVar[str] = "Histogram argument condition grid targets"

    argument: Scalar
    condition: Scalar | None
    grid: Grid
    targets: tuple[Target, ...]

    @property
    def width(self) -> int:
        """Return how many numbers are released for each group."""
        return 2 * len(self.targets)

    @property
    def numbers_read(self) -> tuple[Scalar, Scalar | None] | None:
        return None if self.grid.spacing is Spacing.LOG else (self.argument, self.condition)

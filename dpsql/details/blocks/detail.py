"""The detail of DP_SAMPLE: blocks of units, and the aggregate that is computed for each block."""

from __future__ import annotations

from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass

BINS = 4096
"""Number of bins of the grid that block values are rounded to."""


@dataclass(frozen=True, slots=True)
class Blocks(Detail):
    """A histogram of an aggregate's values over blocks of units; a unit is in one block of each group.

    ``extra`` holds further arguments of ``function``. The values are clamped to [low, high].
    """

    kind: ClassVar[str] = "blocks"
    written: ClassVar[str] = "Blocks argument condition function extra low high"

    argument: Scalar
    condition: Scalar | None
    function: str
    extra: tuple[float, ...]
    low: float
    high: float

    @property
    def width(self) -> int:
        return 1

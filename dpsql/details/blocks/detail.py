"""Blocks of units, and the aggregate that is taken of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.scalar import Scalar

BINS = 4096
"""Of the grid on which the values of blocks lie."""


@dataclass(frozen=True, slots=True)
class Blocks(Detail):
    """How many blocks of units have which value of an aggregate: a unit is in one block of each group.

    ``extra`` are further arguments of the ``function``; values are clamped to [low, high].
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

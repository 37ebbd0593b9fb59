"""The detail of MODE: votes for declared values."""

from __future__ import annotations

from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.scalar import Literal, Scalar
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Votes(Detail):
    """The weight of each of these values among the values of an argument."""

    kind: ClassVar[str] = "votes"
    written: ClassVar[str] = "Votes argument condition values"

    argument: Scalar
    condition: Scalar | None
    values: tuple[Literal, ...]

    @property
    def width(self) -> int:
        return 1

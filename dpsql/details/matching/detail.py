"""The detail of COUNT(DISTINCT x): distinct values, each claimed by one unit."""

from __future__ import annotations

from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Matching(Detail):
    """The number of distinct values that units claim; a unit claims at most ``most``, over all groups.

    ``short`` says that a unit may have more values than that, judging by the declared number of its rows.
    """

    kind: ClassVar[str] = "matching"
    written: ClassVar[str] = "Matching argument condition most short"

    argument: Scalar
    condition: Scalar | None
    most: int
    short: bool = False

    @property
    def width(self) -> int:
        return 1

"""A column of a released table: what the analyst asked for, and how far the noise reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from dpsql.ir.column import Type, Value
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Finished:
    """The values, with the half-width of each and the ends of its interval.

    These are NaN where there are none. A half-width is infinite where nobody knows how far a value is off:
    so it stays the widest wherever several become one.
    """

    name: str
    type: Type
    values: list[Value]
    margins: Floats | None
    low: Floats | None = None
    high: Floats | None = None

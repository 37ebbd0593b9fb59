"""The bin that was chosen of a DP_SAMPLE -> the value in its middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.ir.plan import BINS
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def sampled(call: AggregateCall, bins: NDArray[np.int64]) -> list[float]:
    """One value for each group."""
    low, high = (float(each.value) for each in call.others[1:3] if isinstance(each, Literal))  # type: ignore[arg-type]  # both are numbers
    return [low + (high - low) * ((place + 0.5) / BINS) for place in bins.tolist()]

"""The bin that was chosen of a DP_SAMPLE -> the value in its middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.ir.detail import BINS, Blocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def middles(blocks: Blocks, bins: NDArray[np.int64]) -> list[float]:
    """One value for each group."""
    low, high = blocks.low, blocks.high
    return [low + (high - low) * ((place + 0.5) / BINS) for place in bins.tolist()]

"""Round numbers for the ticks of an axis.

ticks(0, 7012, 5)      [0, 2000, 4000, 6000]
"""

from __future__ import annotations

import math

from dpsql.render.digits import group_thousands


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return ``about`` many round numbers in a range, at least two: multiples of 1, 2 or 5 times 10**n."""
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [at * step for at in range(first, last + 1)] if last > first else ticks(low, high, about * 2)


def axis_range(low: float, high: float) -> tuple[float, float]:
    """Return the range of an axis for a range of values; it includes zero unless that is far away."""
    size = max(abs(low), abs(high))
    if high - low <= size * 1e-9 + 1e-200:  # practically one number
        low, high = low - (size / 2 or 1.0), high + (size / 2 or 1.0)
    if 0 < low < high * 0.6:
        low = 0.0
    if low * 0.6 < high < 0:
        high = 0.0
    return low, high


def tick_text(value: float, step: float, gap: str = "") -> str:
    """Format a tick with the digits that its step needs: 1.5, 2 000, 3e+12."""
    if max(abs(value), step) >= 1e9 or step < 1e-6:
        return f"{value:.6g}"
    return group_thousands(f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}", gap)

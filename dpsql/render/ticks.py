"""Round numbers along an axis.

ticks(0, 7012, 5)      [0, 2000, 4000, 6000]
"""

from __future__ import annotations

import math

from dpsql.render.digits import apart


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within a range; about so many, and two at least."""
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [each * step for each in range(first, last + 1)] if last > first else ticks(low, high, about * 2)


def stretch(low: float, high: float) -> tuple[float, float]:
    """The range of an axis that shows a range: with zero, unless that is far away."""
    size = max(abs(low), abs(high))
    if high - low <= size * 1e-9 + 1e-200:  # as good as one number
        low, high = low - (size / 2 or 1.0), high + (size / 2 or 1.0)
    if 0 < low < high * 0.6:
        low = 0.0
    if low * 0.6 < high < 0:
        high = 0.0
    return low, high


def tick_text(value: float, step: float, gap: str = "") -> str:
    """A tick with the digits that its step needs: 1.5, 2 000, 3e+12."""
    if max(abs(value), step) >= 1e9 or step < 1e-6:
        return f"{value:.6g}"
    return apart(f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}", gap)

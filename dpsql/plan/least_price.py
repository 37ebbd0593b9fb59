"""The least price at which something is possible, in two digits.

least_price(lambda price: 30 / price <= 50, 0.1, 2.0)  ->  0.61
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction


def least_price(enough: Callable[[float], bool], low: float, high: float) -> float | None:
    """Return a sufficient price close to the lowest; None if even the highest is not enough.

    ``enough`` is false at ``low``, and stays true once it is true.
    """
    if not enough(high):
        return None
    most = high
    while high > 1.01 * low:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    digits = Fraction(10) ** (math.floor(math.log10(high)) - 1)
    return min(most, float(math.ceil(Fraction(high) / digits) * digits))

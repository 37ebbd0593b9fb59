"""Two-sided geometric noise for counts, in whole units instead of rounded continuous noise.

    at epsilon 3 a count has a deviation of .33 with it, and of .55 with rounded Laplace noise

Claim   added to vectors of whole multiples of ``UNIT`` with L1 sensitivity ``sensitivity``, it is
        eps0-differentially private, eps0 = sensitivity / scale exactly, and so
        (eps0 tanh(eps0 / 2))-zCDP.
Proof   the chance of k units is (1 - q) / (1 + q) q^|k| with q = exp(-UNIT / scale), so a shift by d units
        changes the chance of any output by a factor of at most q^-d; over a vector the factors multiply,
        and the shifts add up to sensitivity / UNIT (Ghosh, Roughgarden and Sundararajan 2009). Any
        eps0-private mechanism is (eps0 tanh(eps0 / 2))-zCDP (Bun and Steinke 2016, proposition 3.3, with
        the exact constant). ``sampler`` draws the difference of two geometric numbers exactly, for the
        scale as a rational number; ``scale_for`` rounds up.
Test    tests/privacy/test_geometric.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.ir.event import GeometricEvent
from dpsql.ir.plan import Norm
from dpsql.mechanisms import at_least, sampler

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

NAME = "geometric"
NORM = Norm.L1
UNIT = 2**20
"""Grid steps of one unit: all numbers must be multiples of it."""


def scale_for(sensitivity: int, ratio: float) -> float:
    """Return the scale; ``ratio`` is 1 / eps0."""
    return at_least(sensitivity * Fraction(ratio))


def event(
    sensitivity: int, scale: float, epsilon: float | None = None, delta: float | None = None
) -> GeometricEvent:
    """Return the event; its privacy curve needs no planned point."""
    return GeometricEvent(sensitivity, scale)


def draw(scale: float, size: int, words: Callable[[int], bytes]) -> NDArray[np.int64]:
    """Draw whole units, in grid steps."""
    return sampler.geometric(scale / UNIT, size, words) * UNIT


def half_width(scale: float, confidence: float = 0.95) -> float:
    """Return the least number of whole units that the noise stays within, with this confidence."""
    return reach(scale, (1 - confidence) / 2)


def deviation(scale: float) -> float:
    """Return sqrt(2 q) / (1 - q) units, computed by halves so that nothing cancels at large scales."""
    half = min(UNIT / scale / 2, 700) if scale else 700  # beyond, there is no noise, and sinh overflows
    return UNIT / (math.sqrt(2) * math.sinh(half))


def reach(scale: float, probability: float) -> float:
    """Return the reach from P(noise > k units) = q^(k + 1) / (1 + q)."""
    if probability >= 0.5 or scale == 0:  # no cell is in a sum that is 0 by its conditions
        return 0.0
    step = UNIT / scale
    exact = -(math.log(probability) + math.log1p(math.exp(-step))) / step - 1
    return UNIT * float(max(0, math.ceil(exact * (1 + 1e-12) + 1e-12)))


def above(scale: float, distance: float) -> float:
    """Return P(noise > distance), approximately: for margins only."""
    step = UNIT / scale
    units = math.floor(abs(distance) / UNIT) + 1
    tail = math.exp(-units * step) / (1 + math.exp(-step))
    return tail if distance >= 0 else 1 - tail

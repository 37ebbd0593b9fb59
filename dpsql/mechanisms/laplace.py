"""Rounded continuous Laplace noise.

Claim   added to integer vectors with L1 sensitivity ``sensitivity``, it is
        eps0-differentially private, eps0 = sensitivity / scale exactly, and (eps0 - 1 + exp(-eps0))-zCDP.
Proof   the true numbers are integers, so x + floor(y + 1/2) = floor(x + y + 1/2) is a function of x + y:
        post-processing of the continuous Laplace mechanism. Its privacy loss is at most eps0 (Dwork et al.
        2006). Its exact zCDP for one coordinate is its mean loss eps0 - 1 + exp(-eps0)
        (Harrison and Manurangsi 2025, arXiv 2510.25746, confirming Wang 2022). That is convex in the
        shift and 0 at 0, so a vector costs at most what one coordinate shifted by the whole L1 does.
        (The discrete Laplace law is another mechanism and costs more: eps0 tanh(eps0/2).)
        ``sampler`` draws y exactly for the scale as a rational number; ``scale_for`` rounds up.
Test    tests/privacy/test_mechanisms.py, tests/privacy/test_sampler.py::test_law
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.ir.event import LaplaceEvent
from dpsql.ir.plan import Norm
from dpsql.mechanisms import at_least, sampler

NAME = "laplace"
NORM = Norm.L1

draw = sampler.laplace


def scale_for(sensitivity: int, ratio: float) -> float:
    """Return the scale; ``ratio`` is 1 / eps0."""
    return at_least(sensitivity * Fraction(ratio))


def event(
    sensitivity: int, scale: float, epsilon: float | None = None, delta: float | None = None
) -> LaplaceEvent:
    """Return the event; its privacy curve needs no planned point."""
    return LaplaceEvent(sensitivity, scale)


def half_width(scale: float, confidence: float = 0.95) -> float:
    """Return the half-width of its margin: P(|y| > w) = exp(-w / scale); rounding moves y by at most 1/2."""
    return reach(scale, (1 - confidence) / 2) + 0.5


def deviation(scale: float) -> float:
    return math.sqrt(2) * scale


def reach(scale: float, probability: float) -> float:
    """Return r with P(y > r) = exp(-r / scale) / 2, for any probability up to 1/2 (above it, 0 is enough)."""
    return max(0.0, -scale * math.log(2 * probability) * (1 + 1e-12) + scale * 1e-12)


def above(scale: float, distance: float) -> float:
    """Return P(y > distance), approximately: for margins only."""
    tail = 0.5 * math.exp(-abs(distance) / scale)
    return tail if distance > 0 else 1 - tail

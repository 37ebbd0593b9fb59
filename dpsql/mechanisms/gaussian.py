"""Rounded continuous Gaussian noise.

Claim   added to integer vectors with L2 sensitivity ``sensitivity``, it is
        (eps, delta)-differentially private wherever delta >= Phi(1/2s - eps s) - e^eps Phi(-1/2s - eps s),
        s = scale / sensitivity exactly (Balle and Wang 2018, theorem 8), and 1/(2 s^2)-zCDP
        (Bun and Steinke 2016, proposition 1.6).
Proof   the true numbers are integers, so x + floor(y + 1/2) = floor(x + y + 1/2) is a function of x + y:
        post-processing of the continuous Gaussian mechanism, for which both are theorems.
        (The discrete Gaussian law does not keep the first formula: at s = 4.2247 and eps = 1 its delta
        is 2 % larger.) ``sampler`` draws y exactly for the scale as a rational number; ``scale_for``
        rounds up, and both curves fall as the scale grows.
Test    tests/privacy/test_mechanisms.py, tests/privacy/test_sampler.py::test_law
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from dpsql.ir.event import GaussianEvent
from dpsql.ir.plan import Norm
from dpsql.mechanisms import at_least, sampler

NAME = "gaussian"
NORM = Norm.L2

draw = sampler.gaussian

_NORMAL = NormalDist()


def scale_for(sensitivity: int, ratio: float) -> float:
    """Return the scale; ``ratio`` is the deviation per unit of L2 sensitivity."""
    return at_least(sensitivity * Fraction(ratio))


def event(
    sensitivity: int, scale: float, epsilon: float | None = None, delta: float | None = None
) -> GaussianEvent:
    return GaussianEvent(sensitivity, scale, epsilon, delta)


def half_width(scale: float, confidence: float = 0.95) -> float:
    """Return the half-width of its margin; rounding moves y by at most 1/2."""
    return reach(scale, (1 - confidence) / 2) + 0.5


def deviation(scale: float) -> float:
    return scale


def reach(scale: float, probability: float) -> float:
    """Return scale * z with P(y > scale * z) <= probability, checked against erfc, which is accurate far out.

    NormalDist's quantile (Wichura 1988) is right to 16 digits; the added excess covers the last ones.
    """
    return 0.0 if probability >= 0.5 else scale * _quantile(probability) * (1 + 1e-15)


@lru_cache(4_096)  # a threshold asks for hundreds, the same at each price
def _quantile(probability: float) -> float:
    z = -_NORMAL.inv_cdf(probability) * (1 + 1e-12) + 1e-12
    while math.erfc(z / math.sqrt(2)) / 2 > probability * (1 - 1e-13):
        z += 1e-12 * (1 + z)
    return z


def above(scale: float, distance: float) -> float:
    """Return P(y > distance), approximately: for margins only."""
    return 0.5 * math.erfc(distance / scale / math.sqrt(2))

"""Margins without simulation: of linear forms of the noise, and of quotients of two of them.

    count = rest + value                    12,000 +- 5.5
    rest 3,000, value 9,000    mean 0.75    from 0.731 to 0.768

The released cells c carry independent noise of one law. The quantile of a linear form of it is known: a sum
of normal numbers is normal, and for two Laplace numbers there is a formula. A mean is z = t / r with t = u c
and r = v c. The true mean is at most z exactly if the noise of (u - z v) c is at most z r - t, by symmetry:
the ends of its interval solve z r - t = +- q(u - z v), where q is the quantile. For normal noise this is
Fieller's interval.

Claim   the ends are the quantiles that a bootstrap (margins.py) estimates, where r is far from zero.
Proof   r is more than FAR |v| scales of the noise: r stays positive but for a chance of 1e-18 (normal), 1e-5
        (two Laplace numbers), and then {mean <= z} is the half plane above. q is a norm, so
        |q(u - z v) - q(u - z' v)| <= |z - z'| q(v), and q(v) < r / 3: z -> (t +- q(u - z v)) / r is a
        contraction with one fixed point.
Test    tests/unit/test_closed_margins.py: coverage, beside the bootstrap, quantiles beside many draws
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

from dpsql.aggregates import Floats
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from dpsql.ir.plan import Noise

Quantile: TypeAlias = Callable[[Floats], Floats]
"""The quantile of linear forms (a row of weights each) of noise at scale 1."""

FAR = 9.0
_STEPS = 100  # a third of the error is left after each
_SETTLED = 1e-13
_PLACES = 1_024


def quantile_of(noise: Noise, width: int, confidence: float) -> Quantile | None:
    """Return the quantile of linear forms over ``width`` cells; None if there is no formula."""
    tail = (1 - confidence) / 2
    if noise.mechanism == "gaussian":
        reach = NormalDist().inv_cdf(1 - tail)
        return lambda weights: reach * np.sqrt((weights * weights).sum(axis=-1))
    if width != 2:
        return None
    places, quantiles = _of_two_laplace(tail)

    def of_two(weights: Floats) -> Floats:
        sizes = np.abs(weights)
        more, less = sizes.max(axis=-1), sizes.min(axis=-1)
        with np.errstate(invalid="ignore"):  # no weight at all: no noise
            found: Floats = more * np.interp(np.where(more > 0, less / more, 0.0), places, quantiles)
        return found

    return of_two


def quotient_ends(
    total: Floats, rows: Floats, up: Floats, down: Floats, quantile: Quantile, scale: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of total / rows; NaN where too few rows are left for the formula.

    ``up`` and ``down`` are the weights of the cells in the total and in the rows; ``scale`` is the noise's.
    """
    least = max(3 * float(quantile(down)), FAR * math.sqrt(float(down @ down)))
    enough = rows > least * scale
    t, r, s = total[enough], rows[enough], scale[enough]
    ends = np.full((2, len(total)), np.nan)
    for place, side in enumerate((-1.0, 1.0)):
        z = t / r
        for _ in range(_STEPS):
            before, z = z, (t + side * s * quantile(up - z[:, np.newaxis] * down)) / r
            if (np.abs(z - before) <= _SETTLED * np.abs(z)).all():
                break
        ends[place, enough] = z
    return ends[0], ends[1]


@cache
def _of_two_laplace(tail: float) -> tuple[Floats, Floats]:
    """Return the quantiles of x + b y for b from 0 to 1, where x and y are Laplace of scale 1."""
    places = np.linspace(0.0, 1.0, _PLACES + 1)
    low, high = np.zeros(len(places)), np.full(len(places), 2 * -math.log(tail) + 2)
    for _ in range(60):
        middle = (low + high) / 2
        more = _two_laplace_above(places, middle) > tail
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return places, high


def _two_laplace_above(b: Floats, reach: Floats) -> Floats:
    """Return P(x + b y > reach) = (e^-reach - b^2 e^(-reach / b)) / 2 (1 - b^2), with its limit at b = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = (np.exp(-reach) - b * b * np.exp(-reach / b)) / (2 * (1 - b * b))
    equal = np.exp(-reach) * (0.5 + reach / 4)
    return np.where(b == 0, np.exp(-reach) / 2, np.where(b > 1 - 1e-7, equal, apart))

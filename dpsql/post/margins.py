"""Margins: the 95 % interval of a released number, and its half-width.

    COUNT 120 ± 4        AVG 90.0 ± 1.3, from 88.9 to 91.3        a count near its threshold: 23, from 0 to 25

The half-width is the distance to the farther end; value ± half-width covers at least as often. The interval
covers the value that the exact sums would give: a margin describes noise alone, not clip bias.

If a number is one sum, the half-width is a quantile of the mechanism's noise; weighted sums and means of
many rows have a formula (closed_margins.py). Otherwise it is a parametric bootstrap: noise of the same
distribution is subtracted from the released sums many times, and the middle 95 % of the resulting numbers are
the interval. This is also right for ratios over few rows, which have skewed noise. Draws that give NULL are
ignored; if half of them or more do, there is no interval.

The draws are public and always the same, so the same answer always shows the same margins. The private
noise is never drawn from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

from dpsql.aggregates import Floats
from dpsql.ir.plan import Noise
from dpsql.ir.statistic import Statistic
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms import mechanism

CONFIDENCE = 0.95
DRAWS = 1_024
PRECISE = 16_384
"""Number of draws for a single number, where more precision is affordable."""

_NUMBERS = 2**16
"""Number of floats simulated at once: so few stay in the processor's cache."""

_APART = 2
"""Most sums that are simulated one by one; of more, numpy's order of additions would depend on the layout."""

Estimate: TypeAlias = Callable[[Floats], Floats]
"""Compute a number from sums in grid steps (the last axis)."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Distances from each number to the lower and upper end of its interval; NaN if there is no interval.

    A distance is negative if the end is on the other side of the number.
    """

    below: Floats
    above: Floats


def plain(step: float, noise: Noise, spread: Floats, confidence: float = CONFIDENCE) -> Reach:
    """Return the margins of single sums, from the mechanism; ``step`` is the grid step.

    ``spread`` is the noise of each row relative to one draw. A sum of Laplace draws has smaller margins
    than one scaled draw (so this is an upper bound); for Gaussian draws they are equal.
    """
    width_of = mechanism(noise.mechanism).half_width
    by_spread = {wider: width_of(noise.scale * wider, confidence) * step for wider in set(spread.tolist())}
    half = np.array([by_spread[wider] for wider in spread.tolist()], dtype=np.float64)
    return Reach(half, half)


def simulated(
    estimate: Estimate,
    sums: Floats,
    incidence: Floats,
    noise: Noise,
    spread: Floats,
    confidence: float = CONFIDENCE,
    draws: int = DRAWS,
) -> Reach:
    """Return the margins of numbers computed from several sums; each row of ``sums`` is one number.

    ``incidence`` maps the measured cells (rows) to the sums (columns).
    """
    drawn = noise.scale * (unit_draws(noise.mechanism, len(incidence), draws) @ incidence)
    by_sum = np.ascontiguousarray(drawn.T)  # the same for every group

    def moved(part: slice) -> Floats:
        if len(by_sum) > _APART:
            away = sums[part] - drawn[:, np.newaxis, :] * spread[part, np.newaxis]
            return estimate(away) - estimate(sums[part])
        # the same numbers, but one array for each sum: numpy is slow along an axis of one or two
        wider = spread[part, np.newaxis]
        apart = np.empty((len(by_sum), len(wider), draws))
        for place, numbers in enumerate(by_sum):
            np.subtract(sums[part, place, np.newaxis], numbers * wider, out=apart[place])
        away = estimate(np.moveaxis(apart, 0, -1))
        return (away - estimate(sums[part])[:, np.newaxis]).T

    return bootstrap(moved, len(sums), drawn.size, confidence)


def bootstrap(moved: Callable[[slice], Floats], size: int, floats: int, confidence: float) -> Reach:
    """Return the margins of ``size`` numbers from simulated differences, in chunks of bounded memory.

    ``moved`` returns the differences for a slice of numbers (a column each), from ``floats`` floats per
    number.
    """
    reach = np.full((2, size), np.nan)
    at_once = max(1, _NUMBERS // floats)
    for start in range(0, size, at_once):
        part = slice(start, start + at_once)
        reach[:, part] = _middle(moved(part).T, confidence)
    return Reach(*reach)


def _middle(moved: Floats, confidence: float) -> Floats:
    """Return the distances below and above for differences; each row is one number."""
    there = np.isfinite(moved)
    if there.all():
        low, high = _places(moved.shape[1], confidence)
        ordered = np.partition(moved, (low, high), axis=1)
        return np.stack([-ordered[:, low], ordered[:, high]])
    known = there.sum(axis=1)
    ordered = np.sort(np.where(there, moved, np.inf), axis=1)  # not known: last
    distances = np.full((2, len(moved)), np.nan)
    for many in {*known[known * 2 > moved.shape[1]].tolist()}:
        low, high = _places(many, confidence)
        rows = known == many
        distances[:, rows] = -ordered[rows, low], ordered[rows, high]
    return distances


def _places(many: int, confidence: float) -> tuple[int, int]:
    """Return the places of both quantiles among so many numbers in order: the inverse of the distribution."""
    tail = (1 - confidence) / 2
    return max(0, math.ceil(many * tail - 1)), max(0, math.ceil(many * (1 - tail) - 1))


@cache
def unit_draws(name: str, width: int, draws: int = DRAWS) -> Floats:
    """Return public draws of a mechanism's noise at scale 1.

    Every column is a random permutation of the distribution's quantiles (a Latin hypercube), so that
    1,024 draws are about as precise as many more independent ones.
    """
    quantiles = even_quantiles(name, draws)
    generator = np.random.default_rng(0)
    drawn = np.empty((draws, width))
    for column in range(width):
        drawn[:, column] = quantiles[generator.permutation(draws)]
    return drawn


def even_quantiles(name: str, draws: int) -> Floats:
    """Return quantiles of a mechanism's noise at scale 1, at even places."""
    places = (np.arange(draws) + 0.5) / draws
    if name != "gaussian":  # a sum of geometric draws reaches as far as one of Laplace draws, or less
        middle = places - 0.5
        quantiles: Floats = -np.sign(middle) * np.log1p(-2 * np.abs(middle))
        return quantiles
    return np.array([NormalDist().inv_cdf(place) for place in places.tolist()])


# ---- counts that are shown because they are large ------------------------------------------------------


def above_threshold(
    found: Reach,
    sums: Floats,
    chosen: Sequence[bool],
    least: int,
    statistic: Statistic,
    noise: Noise,
    confidence: float = CONFIDENCE,
) -> Reach:
    """Return the margins of counts; ``chosen``: those that are shown because they reached ``least``.

    Given that it is shown, a count n has P(Y <= y | Y >= T) = G(n) = 1 - S(y - n) / S(T - n), where S is the
    noise's survival function. The interval contains the n with tail <= G(n) <= 1 - tail. G decreases as n
    grows, but hardly for small n under Laplace noise. If no n is large enough, the lower end is 0. The
    upper end is at least one unit, because a shown group has one.
    """
    tail = (1 - confidence) / 2
    reach = mechanism(noise.mechanism).half_width(noise.scale, confidence)
    below, over = found.below.copy(), found.above.copy()
    for i, y in barely_shown(sums, chosen, least, noise).items():
        at_most = _at_most(y, least, noise)
        low = _falling(at_most, 1 - tail, 0.0, y)
        high = max(float(statistic.most), _falling(at_most, tail, 0.0, y + 2 * reach))
        below[i], over[i] = (y - low) * float(statistic.step), (high - y) * float(statistic.step)
    return Reach(below, over)


def barely_shown(sums: Floats, chosen: Sequence[bool], least: int, noise: Noise) -> dict[int, float]:
    """Return the chosen counts near the threshold, by index: those where the conditioning matters."""
    most = least + _FAR * noise.scale
    return {
        i: y for i, (y, choose) in enumerate(zip(sums.tolist(), chosen, strict=True)) if choose and y < most
    }


def counts_behind(y: float, least: int, noise: Noise, draws: Floats) -> Floats:
    """Sample the counts that may be shown at y from the distribution G, ranked like ``draws``."""
    places, tails = _log_above(noise.mechanism, noise.scale, least + 2 * _FAR * noise.scale)
    grid = np.linspace(y + _FAR * noise.scale, 0.0, _PLACES)
    shown, farther = (np.interp(end - grid, places, tails) for end in (least, y))
    chances = np.where(shown > _NEVER, 1 - np.exp(farther - shown), 1.0)
    ranks = (np.argsort(np.argsort(draws)) + 0.5) / len(draws)
    return np.interp(ranks, np.maximum.accumulate(chances), grid)


_FAR = 12  # scales beyond which no draw lies
_PLACES = 512
_NEVER = -690.0  # the logarithm of less than a float holds


@cache
def _log_above(name: str, scale: float, most: float) -> tuple[Floats, Floats]:
    """Return a grid up to ``most``, and the log of the noise's survival function on it."""
    places = np.linspace(-2 * _FAR * scale, most, 8 * _PLACES)
    chances = np.array([mechanism(name).above(scale, place) for place in places.tolist()])
    return places, np.log(np.maximum(chances, 1e-300))


def _at_most(y: float, least: int, noise: Noise) -> Callable[[float], float]:
    """Return G: the probability that a shown count n is shown with a value of at most y."""
    above = mechanism(noise.mechanism).above

    def chance(n: float) -> float:
        shown = above(noise.scale, least - n)
        return 1 - above(noise.scale, y - n) / shown if shown else 1.0

    return chance


def _falling(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Return where a decreasing function takes a value in an interval; the lower end if it never does."""
    if function(low) < value:
        return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > value else (low, middle)
    return high

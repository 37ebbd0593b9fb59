"""How far the noise reaches: the ends of a released number's 95 % interval, and the half-width.

    COUNT 120 ± 4        AVG 90.0 ± 1.3, from 88.9 to 91.3        a count near its threshold: 23, from 0 to 25

The half-width is the distance to the farther end: an interval of its own that holds the truth no less often.
The truth is what the exact sums would have given: a margin speaks of noise alone. Where a number is one
sum, its half-width is the mechanism's. Else the released sums have noise of the same law taken off again
and again, and the middle 95 % of the numbers that this gives are the interval (a parametric bootstrap):
right for ratios of few rows too, whose noise lies more to one side than to the other. Draws that give no
number (NULL) tell nothing and are left out; where most do, there is no interval.

The draws are public arithmetic, the same ones always, so that the same answer always shows the same
margins. No private noise is ever drawn from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from dpsql.aggregates import Floats
from dpsql.ir.plan import Noise
from dpsql.ir.statistic import Statistic
from dpsql.mechanisms import mechanism

CONFIDENCE = 0.95
_DRAWS = 1_024
PRECISE = 16_384
"""Draws where one number is asked for, and rare ones matter."""

_NUMBERS = 4_000_000  # simulated at once

Estimate: TypeAlias = Callable[[Floats], Floats]
"""The number from sums in grid steps, the last axis running over the sums."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far below and above each number its interval's ends are; NaN where noise leaves nothing to say.

    An end may lie on the other side: ``above`` is then negative.
    """

    below: Floats
    above: Floats


def plain(step: float, noise: Noise, spread: Floats, confidence: float = CONFIDENCE) -> Reach:
    """Of one sum in steps of this size: what the mechanism says.

    ``spread`` is how much wider than one draw the noise of each row is: a sum of Laplace draws reaches
    less far than one wider draw, a sum of Gaussian ones exactly as far.
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
    draws: int = _DRAWS,
) -> Reach:
    """Of numbers made of several sums, one row of ``sums`` each.

    ``incidence`` tells which of the measured cells (rows) add up to which sum (columns).
    """
    cells = unit_draws(noise.mechanism, len(incidence), draws)
    drawn = noise.scale * (cells @ incidence)[:, np.newaxis, :]  # the same for every group

    def moved(part: slice) -> Floats:
        return estimate(sums[part] - drawn * spread[part, np.newaxis]) - estimate(sums[part])

    return bootstrap(moved, len(sums), drawn.size, confidence)


def bootstrap(moved: Callable[[slice], Floats], size: int, each: int, confidence: float) -> Reach:
    """``moved`` gives for some numbers, column by column, how far draws move them; ``each`` is how many

    floats it needs for one of them.
    """
    found = np.full((2, size), np.nan)
    at_once = max(1, _NUMBERS // each)
    for start in range(0, size, at_once):
        part = slice(start, start + at_once)
        found[:, part] = _middle(moved(part), confidence)
    return Reach(*found)


def _middle(moved: Floats, confidence: float) -> Floats:
    """Distance below and above, of differences of which each column is one number's."""
    there = np.isfinite(moved)
    whole = there.all(axis=0)
    found = np.full((2, moved.shape[1]), np.nan)
    found[:, whole] = _quantiles(moved[:, whole], confidence)
    for i in np.flatnonzero(~whole & (there.sum(axis=0) * 2 > len(moved))):
        found[:, i] = _quantiles(moved[there[:, i], i][:, np.newaxis], confidence)[:, 0]
    return found


def _quantiles(moved: Floats, confidence: float) -> Floats:
    if not moved.size:
        return np.empty((2, moved.shape[1]))
    tail = (1 - confidence) / 2
    low, high = np.quantile(moved, (tail, 1 - tail), axis=0, method="inverted_cdf")
    return np.stack((-low, high))


@cache
def unit_draws(name: str, width: int, draws: int = _DRAWS) -> Floats:
    """Vectors of noise of scale 1, by the law of a mechanism.

    Every column holds the law's quantiles in an order of its own (a Latin hypercube), so that 1,024 draws
    serve as well as many more would.
    """
    places = (np.arange(draws) + 0.5) / draws
    if name != "gaussian":  # a sum of geometric draws reaches as far as one of Laplace draws, or less
        middle = places - 0.5
        quantiles = -np.sign(middle) * np.log1p(-2 * np.abs(middle))
    else:
        quantiles = np.array([NormalDist().inv_cdf(place) for place in places.tolist()])
    generator = np.random.default_rng(0)
    drawn = np.empty((draws, width))
    for column in range(width):
        drawn[:, column] = quantiles[generator.permutation(draws)]
    return drawn


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
    """Of counts of which the chosen are shown because, noise included, they reached ``least`` steps.

    Shown at y, a count n has P(Y <= y | Y >= T) = G(n) = 1 - S(y - n) / S(T - n), S being the noise's
    survival function: the interval holds the n with tail <= G(n) <= 1 - tail. G falls as n grows, but
    hardly for small n under Laplace noise. Where no n is large enough, the lower end is 0; the upper end
    is one unit at least, for a group that is shown has one.
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
    """The counts, by their places, of which it matters that they are shown because they are large."""
    most = least + _FAR * noise.scale
    return {
        i: y for i, (y, choose) in enumerate(zip(sums.tolist(), chosen, strict=True)) if choose and y < most
    }


def counts_behind(y: float, least: int, noise: Noise, draws: Floats) -> Floats:
    """What a count may be that is shown at y: by the law G, in the order of noises that are drawn of all."""
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
    """The logarithms of the noise's survival function, at places up to the largest that is asked of."""
    places = np.linspace(-2 * _FAR * scale, most, 8 * _PLACES)
    chances = np.array([mechanism(name).above(scale, each) for each in places.tolist()])
    return places, np.log(np.maximum(chances, 1e-300))


def _at_most(y: float, least: int, noise: Noise) -> Callable[[float], float]:
    """G: how probably a count n that is shown is shown at y at most."""
    above = mechanism(noise.mechanism).above

    def chance(n: float) -> float:
        shown = above(noise.scale, least - n)
        return 1 - above(noise.scale, y - n) / shown if shown else 1.0

    return chance


def _falling(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where a falling function takes a value between two places; the first where it never does."""
    if function(low) < value:
        return low
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > value else (low, middle)
    return high

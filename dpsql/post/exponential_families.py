"""The posterior of a parameter behind two noisy numbers: Beta, Gamma and Normal families.

    yes 12, no 25, noise of deviation 4.6        p: mean .33, deviation .12, 95 % in .13 to .57

The exact numbers (y, m) are hidden. In each family their likelihood is exp(y f(x) + m g(x) + base(y, m)), x
being the parameter on a line without ends. The posterior's density is

    prior(x) sum over (y, m) of noise(yes - y, no - m) exp(y f(x) + m g(x) + base(y, m))

Claim   mean, deviation, low and high are those of this density, but for a twenty-fifth of its deviation.
Proof   The sum takes the numbers within the reach of the noise. Where the noise is wide, it takes every
        h-th, h at most half of the noise's deviation (a quarter near the least number) and half of the
        sampling's: such a sum of smooth functions is their integral. Where the noise is more than
        ``_WIDER`` times as wide as sampling, both numbers are divided by k, as if persons came k at a time,
        until it is not: that adds at most 1 / _WIDER^2 to the variance. Mean and variance are those of a
        mixture of conjugate posteriors; the ends are read from the density at about a hundred places.
Test    tests/unit/test_posteriors.py
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial

from dpsql.aggregates import Floats
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass

Noise = Callable[[Floats, Floats], Floats]
"""The logarithm of the noise's density, but for a constant, at two arrays of differences."""

CONFIDENCE = 0.95
_WIDER = 8.0
_NEAR = 4
"""Steps from the least hidden number within which each whole number is taken."""

_TINY = 1e-9
_STEEP = 300.0
"""The largest exponent of what powers add within a part of the line: two of these together fit a float."""

_FITS = 600.0
"""The largest range of exponents whose terms are neither too large for a float nor too small."""

_LOOKS = ((12, 4), (6, 16))
"""Parts of the line, and places in each, at which the density is computed: first widely, then closely."""

_EVEN = {parts * places: np.linspace(0, 1, parts * places) for parts, places in _LOOKS}

_REACH = 9.0
"""Deviations from the mean, on either side, that are looked at first."""

_CUT = 1e-3
"""The tails that are not looked at again, more closely."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Two numbers as released; ``deviations`` are those of their noise, 0 for what has none.

    Beyond ``reach`` deviations there is next to no noise.
    """

    numbers: tuple[float, float]
    deviations: tuple[float, float]
    noise: Noise
    reach: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What is told of a posterior; ``low`` and ``high`` hold 95 % of it."""

    mean: float
    sd: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Family:
    """A family of likelihoods, with its conjugate prior.

    ``logs`` are the base, and the logarithm of the integral of prior(x) exp(y f(x) + m g(x)); ``moments`` are
    the mean and the variance of the parameter, given the hidden numbers. ``spread``: how wide sampling is, in
    units of each number. ``least`` are the least hidden numbers, and ``whole`` says which of them are whole.
    """

    logs: Callable[[Floats, Floats], tuple[Floats, Floats]]
    moments: Callable[[Floats, Floats], tuple[Floats, Floats]]
    powers: Callable[[Floats], tuple[Floats, Floats, Floats]]
    """f, g and the logarithm of the prior at places of the line."""
    on_line: Callable[[float, float], tuple[float, float]]
    off_line: Callable[[Floats], Floats]
    spread: Callable[[float, float], tuple[float, float]]
    least: tuple[float, float]
    whole: tuple[bool, bool]


def summary(family: Family, seen: Seen, pairs: int = 2**22) -> Summary | None:
    """Return the posterior of a family's parameter.

    None where no hidden number is possible, or where there are more than so many ``pairs`` of them: the noise
    is so wide then that little would be told.
    """
    size, steps = _steps(family, seen)
    if max(_NEAR * step for step in steps) > pairs:
        return None
    (first, shares), (second, others) = (_hidden(family, seen, place, steps[place]) for place in range(2))
    if not 0 < first.size * second.size <= pairs:
        return None
    log_weights = seen.noise(seen.numbers[0] - first[:, np.newaxis], seen.numbers[1] - second[np.newaxis, :])
    first, second = first[:, np.newaxis] / size, second[np.newaxis, :] / size
    base, total = family.logs(first, second)
    log_weights = log_weights + np.add.outer(shares, others) + base
    mean, variance = _moments(family, log_weights + total, first, second)
    if not (math.isfinite(mean) and variance > 0):
        return None
    sd = math.sqrt(variance)
    middle, reach = family.on_line(mean, sd)
    ends = middle - _REACH * reach, middle + _REACH * reach
    tails = [0.0, 1.0]
    top = log_weights.max()
    weights, range_ = np.exp(log_weights - top), float(top - log_weights.min())
    for parts, places_of_part in _LOOKS:
        line = ends[0] + (ends[1] - ends[0]) * _EVEN[parts * places_of_part]
        powers = family.powers(line)
        below = _shares_at_once(powers, weights, range_, first[:, 0], second[0])
        if below is None:
            parted = line.reshape(parts, places_of_part)
            below = _shares(family, log_weights, first[:, 0], second[0], parted)
        below = tails[0] + (tails[1] - tails[0]) * below
        wanted = (_CUT, (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2, 1 - _CUT)
        least, low, high, most = np.interp(wanted, below, line).tolist()
        ends, tails = (least, most), [_CUT, 1 - _CUT]
    low, high = family.off_line(np.array([low, high])).tolist()
    return Summary(mean, sd, low, high)


def _steps(family: Family, seen: Seen) -> tuple[float, tuple[float, float]]:
    """Return k, and between which hidden numbers the sum steps."""
    typical = [max(abs(n), d, 1.0) for n, d in _each(seen.numbers, seen.deviations)]
    spread = family.spread(typical[0], typical[1])
    wider = max(d / s for d, s in _each(seen.deviations, spread))
    size = max(1.0, (wider / _WIDER) ** 2)
    cut = [n - seen.reach * d < least for n, d, least in _each(seen.numbers, seen.deviations, family.least)]
    fine = [d / (4 if near else 2) for d, near in _each(seen.deviations, cut)]
    steps = [min(d, s * math.sqrt(size) / 2) for d, s in _each(fine, spread)]
    steps = [max(1.0, math.floor(step)) if whole else step for step, whole in _each(steps, family.whole)]
    return size, (steps[0], steps[1])


_each = partial(zip, strict=True)


def _hidden(family: Family, seen: Seen, place: int, step: float) -> tuple[Floats, Floats]:
    """Return the hidden numbers that one of the sums runs over, and the logarithm of how many each is for.

    Near the least of whole numbers, each of them counts.
    """
    number, deviation, least = seen.numbers[place], seen.deviations[place], family.least[place]
    if not deviation:
        return np.array([number] if number >= min(least, _TINY) else []), np.zeros(1)
    far = seen.reach * deviation
    if family.whole[place] and number - far < least:
        near = least + np.arange(_NEAR * step)
        rest = near[-1] + (step + 1) / 2 + step * np.arange(math.ceil((max(number, least) + far) / step))
        return np.concatenate([near, rest]), np.log(np.repeat([1 / step, 1.0], [len(near), len(rest)]))
    middle = max(number, least)
    middle = round(middle) if family.whole[place] else middle
    away = math.ceil(far / step)
    numbers = middle + step * np.arange(-away, away + 1, dtype=np.float64)
    numbers = numbers[numbers >= least]
    return numbers, np.zeros(len(numbers))


def _moments(family: Family, log_weights: Floats, first: Floats, second: Floats) -> tuple[float, float]:
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    means, variances = family.moments(first, second)
    mean = float((weights * means).sum())
    return mean, float((weights * (variances + np.square(means - mean))).sum())


def _shares_at_once(
    powers: tuple[Floats, Floats, Floats], weights: Floats, range_: float, first: Floats, second: Floats
) -> Floats | None:
    """Return the share of the density up to each place of the line: one product of matrices.

    None where a term may be too large or too small for a float. The powers are largest at an end of the line.
    """
    f, g, prior = powers
    steep = (max(abs(float(power[0])), abs(float(power[-1]))) for power in (f, g))
    wide = (float(hidden[-1] - hidden[0]) for hidden in (first, second))
    if sum(map(operator.mul, steep, wide)) + range_ >= _FITS:
        return None
    i, j = float(first[0] + first[-1]) / 2, float(second[0] + second[-1]) / 2
    left, right = np.exp(np.multiply.outer(f, first - i)), np.exp(np.multiply.outer(g, second - j))
    summed = ((left @ weights) * right).sum(axis=1)
    return _up_to(np.log(summed) + f * i + g * j + prior)


def _shares(family: Family, log_weights: Floats, first: Floats, second: Floats, line: Floats) -> Floats:
    """Return the same of a line that is cut into parts.

    The likelihood in each part is that at the part's middle, times what powers add: a product for each part.
    """
    f, g, prior = family.powers(line)
    steepest = np.ptp(f, axis=1).max() * np.ptp(first), np.ptp(g, axis=1).max() * np.ptp(second)
    if line.shape[1] > 1 and max(steepest) > _STEEP:  # each place is a part of its own
        return _shares(family, log_weights, first, second, line.reshape(-1, 1))
    at = line.shape[1] // 2
    tilted = log_weights + f[:, at, None, None] * first[:, None] + g[:, at, None, None] * second
    flat = tilted.reshape(len(line), -1)
    most = flat.argmax(axis=1)
    tops = flat[np.arange(len(line)), most]
    i, j = np.divmod(most, len(second))
    left = np.exp((f - f[:, at, None])[..., None] * (first - first[i][:, None])[:, None])
    right = np.exp((g - g[:, at, None])[..., None] * (second - second[j][:, None])[:, None])
    summed = ((left @ np.exp(tilted - tops[:, None, None])) * right).sum(axis=-1)
    with np.errstate(divide="ignore"):
        logs = np.log(summed) + tops[:, None] + prior
    logs += (f - f[:, at, None]) * first[i][:, None] + (g - g[:, at, None]) * second[j][:, None]
    return _up_to(logs.ravel())


def _up_to(logs: Floats) -> Floats:
    """Return the share of a density, of which these are the logarithms, up to each place."""
    density = np.exp(logs - logs.max())
    between = np.cumsum((density[1:] + density[:-1]) / 2)
    return np.concatenate([[0.0], between / between[-1]])


# ---- families -------------------------------------------------------------------------------------------


def beta(a: float, b: float) -> Family:
    """Return the family of a share p, from two whole numbers: y for, m against; the prior is Beta(a, b)."""

    def moments(y: Floats, m: Floats) -> tuple[Floats, Floats]:
        n = y + m + (a + b)
        mean = (y + a) / n
        return mean, mean * (1 - mean) / (n + 1)

    def powers(x: Floats) -> tuple[Floats, Floats, Floats]:
        f, g = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
        return f, g, a * f + b * g

    def logs(y: Floats, m: Floats) -> tuple[Floats, Floats]:
        n = y + m
        ways, of_y, of_m = log_gamma(n + 1), log_gamma(y + 1), log_gamma(m + 1)
        if a == b == 1:
            return ways - of_y - of_m, of_y + of_m - ways - np.log(n + 1)
        return ways - of_y - of_m, log_gamma(y + a) + log_gamma(m + b) - log_gamma(n + (a + b))

    return Family(
        logs=logs,
        moments=moments,
        powers=powers,
        on_line=lambda mean, sd: (math.log(mean / (1 - mean)), sd / (mean * (1 - mean))),
        off_line=lambda x: np.asarray(1 / (1 + np.exp(-x))),
        spread=lambda y, m: (math.sqrt(y * (y + m) / m), math.sqrt(m * (y + m) / y)),
        least=(0.0, 0.0),
        whole=(True, True),
    )


def gamma(a: float, b: float) -> Family:
    """Return the family of a rate, from y events in an exposure of m; the prior is Gamma(a, rate b)."""

    def moments(y: Floats, m: Floats) -> tuple[Floats, Floats]:
        return (y + a) / (m + b), (y + a) / np.square(m + b)

    return Family(
        logs=lambda y, m: (
            y * np.log(m) - log_gamma(y + 1),
            log_gamma(y + a) - (y + a) * np.log(m + b),
        ),
        moments=moments,
        powers=lambda x: (x, -np.exp(x), a * x - b * np.exp(x)),
        on_line=lambda mean, sd: (math.log(mean), sd / mean),
        off_line=np.exp,
        spread=lambda y, m: (math.sqrt(y), m / math.sqrt(y)),
        least=(0.0, 1.0),
        whole=(True, False),
    )


def normal(sd: float) -> Family:
    """Return the family of a mean, from the sum y of m values of deviation ``sd``; the prior is flat."""
    variance = sd * sd

    def logs(y: Floats, m: Floats) -> tuple[Floats, Floats]:
        sampling, seen = -0.5 * np.log(m), np.square(y) / (2 * variance * m)
        return sampling - seen, sampling + seen

    return Family(
        logs=logs,
        moments=lambda y, m: (y / m, variance / m + 0 * y),
        powers=lambda x: (x / variance, -np.square(x) / (2 * variance), 0 * x),
        on_line=lambda mean, sd: (mean, sd),
        off_line=lambda x: x,
        spread=lambda y, m: (sd * math.sqrt(m), sd * m**1.5 / y),
        least=(-math.inf, 1.0),
        whole=(False, True),
    )


def log_gamma(x: Floats) -> Floats:
    """Return log Gamma of numbers above 0: Stirling's series at x + 7, seven factors taken off."""
    y = x + 7.0
    series = (1 / 12 - (1 / 360 - 1 / (1260 * y * y)) / (y * y)) / y
    factors = x * (x + 1) * (x + 2) * (x + 3) * (x + 4) * (x + 5) * (x + 6)
    stirling = (y - 0.5) * np.log(y) - y + 0.5 * math.log(2 * math.pi)
    logs: Floats = stirling + series - np.log(factors)
    return logs

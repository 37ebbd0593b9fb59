"""Exactly rounded Laplace and Gaussian noise on the integers, from a source of random bytes.

    laplace(2.0**20, 1_000, os.urandom)  ->  1,000 integers

Claim   every number is floor(y + 1/2) for a real y with exactly the continuous Laplace or Gaussian
        law of deviation parameter ``scale``, read as the rational number that the float is; numbers of
        one call are independent. So noise added to an integer is a function of (integer + y), and
        everything proved of the continuous mechanism holds for this one, for vectors too.
Proof   1. A uniform real U in [0, 1] is an endless sequence of random bits. After a word k of 64 bits it is
           known that U is in [k, k+1] / 2^64; further words only narrow the interval.
        2. e = -ln U has the exponential law, +-scale*e (sign from a bit of its own) that of Laplace;
           with R = sqrt(2e), scale*R*cos(2 pi V) and scale*R*sin(2 pi V) are two independent Gaussians
           (Box-Muller), so both are used, and both read the same U and V to any depth.
        3. If all reals in an interval around y round to the same integer, that integer is the answer;
           the bits not yet read cannot change it. The fast path takes it in float64 when
           the interval below holds y; all others take the exact path, which adds words to U and V
           until interval arithmetic decides. It ends almost surely, and a tie has probability 0.
        4. The float interval. k as a float is off by 2^-53 of itself, the logarithm by 4 ulp, at most 2^-50
           of e, and U may lie anywhere in the word: |e error| <= 1/k + 2^-53 + e 2^-50. We take eta =
           1/k + 2^-51 + e 2^-49, so that half of it covers the rounding of the bounds themselves. (No
           purely relative bound holds: near U = 1, e is as small as its float error.)
           R differs by at most min(2 eta/R, sqrt(2 eta)) = 2 eta / max(R, sqrt(2 eta)). The angle is off by
           three roundings, 3 * 2 pi 2^-53, the cosine by 4 ulp, 2^-51: together below 2^-48; we take 2^-47
           and let the other half cover the products. Sums add less than (|y| + 1) 2^-50.
           The tests measure the logarithm, the cosine and the sine.
        5. With k = 0 the lower end of U is 0, so e has no upper end: always the exact path. Otherwise no
           noise would lie beyond 44.4 scales, and pure differential privacy would fail.
        6. The exact path (_exact.py) uses mpmath's intervals at 64 bits more than are known of U, widened
           by 2^16 units in the last place: it relies on mpmath's accuracy, not on its last bit.
        7. 64 * scale < 2^62 keeps every fast value inside int64; an exact one that does not fit
           (probability below 2^-180) raises OverflowError rather than wrap.
Test    tests/privacy/test_sampler.py: the law, k = 0, nothing but exact paths, shared bits, float errors.

The work per number is fixed, except in the exact path, which depends on the noise's own bits only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Words: TypeAlias = Callable[[int], bytes]
"""Returns that many fresh random bytes: os.urandom."""

SCALE_LIMIT = 2.0**56
"""Scales from here on are refused: 64 * scale must stay below 2**62."""

_CHUNK = 1 << 15  # numbers at a time: the work stays in the cache, and memory bounded
_LOG_ERROR = 2.0**-51
_LOG_RELATIVE = 2.0**-49
_COS_ERROR = 2.0**-47
_SUM_ERROR = 2.0**-50
_TURN = 2 * math.pi * 2.0**-64


def laplace(scale: float, size: int, words: Words) -> NDArray[np.int64]:
    """Draw ``size`` independent floor(y + 1/2), y continuous Laplace of this scale (not its deviation)."""
    return _in_chunks(_laplace, scale, size, words)


def gaussian(scale: float, size: int, words: Words) -> NDArray[np.int64]:
    """Draw ``size`` independent floor(y + 1/2), y continuous Gaussian of this standard deviation."""
    return _in_chunks(_gaussian, scale, size, words)


def geometric(scale: float, size: int, words: Words) -> NDArray[np.int64]:
    """Draw ``size`` independent numbers k with probability proportional to exp(-|k| / scale).

    The integer part of an exponential number of this scale is geometric, P(>= k) = exp(-k / scale). The
    difference of two independent ones is two-sided.
    """
    drawn = _in_chunks(_floors, scale, 2 * size, words)
    return drawn[:size] - drawn[size:]


def _in_chunks(
    draw: Callable[[float, int, Words], NDArray[np.int64]], scale: float, size: int, words: Words
) -> NDArray[np.int64]:
    if not 0 < scale < SCALE_LIMIT:  # written so that NaN fails too
        raise ValueError(f"no noise of scale {scale}: it must be positive and below 2**56")
    values = np.empty(size, np.int64)
    for start in range(0, size, _CHUNK):
        values[start : start + _CHUNK] = draw(float(scale), min(_CHUNK, size - start), words)
    return values


def _laplace(scale: float, size: int, words: Words) -> NDArray[np.int64]:
    k = _read(words, size)
    negative = np.unpackbits(np.frombuffer(words(-(-size // 8)), np.uint8), count=size)
    e, eta = _exponential(k)
    y = scale * e
    values, decided = _rounded(y, scale * eta + (y + 1) * _SUM_ERROR)
    for i in np.flatnonzero(~decided | (k == 0)):
        values[i] = _exact().laplace(scale, int(k[i]), words)
    return np.where(negative, -values, values)


def _floors(scale: float, size: int, words: Words) -> NDArray[np.int64]:
    k = _read(words, size)
    e, eta = _exponential(k)
    y = scale * e
    half = scale * eta + (y + 1) * _SUM_ERROR
    low = np.floor(y - half)
    values = low.astype(np.int64)
    for i in np.flatnonzero((low != np.floor(y + half)) | (k == 0)):
        values[i] = _exact().exponential(scale, int(k[i]), words)
    return values


def _gaussian(scale: float, size: int, words: Words) -> NDArray[np.int64]:
    pairs = -(-size // 2)
    k, turn = _read(words, pairs), _read(words, pairs)
    e, eta = _exponential(k)
    radius = np.sqrt(2 * e)
    error = 2 * eta / np.maximum(radius, np.sqrt(2 * eta))
    half = scale * (error + (radius + error) * _COS_ERROR) + _SUM_ERROR
    angle = turn.astype(np.float64) * _TURN
    radius *= scale
    cos, cos_decided = _rounded(radius * np.cos(angle), half)
    sin, sin_decided = _rounded(radius * np.sin(angle), half)
    for i in np.flatnonzero(~(cos_decided & sin_decided) | (k == 0)):
        cos[i], sin[i] = _exact().gaussian(scale, int(k[i]), int(turn[i]), words)
    return np.concatenate((cos, sin))[:size]


def _read(words: Words, size: int) -> NDArray[np.uint64]:
    return np.frombuffer(words(8 * size), "<u8", count=size)


def _exponential(k: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return -ln U and the bound of its error; k = 0 is read as 1, since the exact path takes it anyway."""
    at_least_one = np.maximum(k.astype(np.float64), 1.0)
    e = np.abs(np.log(at_least_one * 2.0**-64))
    return e, 1 / at_least_one + (_LOG_ERROR + e * _LOG_RELATIVE)


def _rounded(
    y: NDArray[np.float64], half: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return floor(y + 1/2), and whether it is the same all over y +- half."""
    low = np.floor(y - half + 0.5)
    return low.astype(np.int64), low == np.floor(y + half + 0.5)


def _exact() -> ModuleType:
    """Import the exact path when first needed: mpmath costs as much as all of a plan."""
    from dpsql.mechanisms import _exact

    return _exact

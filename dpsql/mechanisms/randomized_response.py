"""Randomized response: each row answers its own value often, otherwise any other value of a public list.

    k = 4, epsilon = 1.0     direct: one value, the true one with probability 0.475
    k = 40, epsilon = 1.0    marks: one yes or no for every value, yes for the true one with probability 1/2

Claim   for any two values of a row, the probabilities of an answer differ by a factor of at most e^epsilon:
        epsilon-local differential privacy.
Proof   Probabilities are whole multiples of 2^-64, and E <= e^epsilon is a rational number.
        direct  every other value has w of the 2^64 words, the own value the remaining 2^64 - (k - 1) w.
                w = ceil(2^64 / (E + k - 1)) makes their ratio at most E. (k-ary randomized response.)
        marks   the own mark is yes with 1/2, every other with q = w / 2^64, w = ceil(2^64 / (1 + E)).
                Two values differ in two marks; the larger of the four ratios is (1 - q) / q <= E. (Optimized
                unary encoding, Wang et al. 2017.)
        One word decides one answer: u < (k - 1) w names the other value u // w; no u is rejected.
Test    tests/privacy/test_randomized_response.py

With direct answers the error of a share grows with k; from k = 3 e^epsilon + 2 on, marks are better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.ir.export import Design
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

WORDS = 2**64
LEAST, MOST = 1e-6, 40.0
"""The epsilons that words of 64 bits can distinguish from 0 and from infinity."""

_AT_ONCE = 1 << 20  # words

Words = Callable[[int], bytes]
"""Returns that many fresh random bytes: os.urandom."""


def design(size: int, epsilon: float) -> Design:
    """Return the better of both designs for this number of values."""
    assert 2 <= size < 2**16
    ratio = _at_most_power(epsilon)
    marks = size >= 3 * ratio + 2
    return Design(size, marks, math.ceil(WORDS / (1 + ratio if marks else ratio + size - 1)))


def _at_most_power(epsilon: float) -> Fraction:
    """Return a rational number just below e^epsilon."""
    if not LEAST <= epsilon <= MOST:
        raise ValueError(f"an epsilon must lie between {LEAST:g} and {MOST:g}")
    from mpmath import libmp  # slow to import, and rarely needed

    down = libmp.mpf_exp(libmp.from_float(epsilon), 160, libmp.round_floor)
    return Fraction(*libmp.to_rational(down)) * (1 - Fraction(1, 2**120))


def answers(truth: NDArray[np.int64], how: Design, words: Words) -> NDArray[np.int64] | NDArray[np.bool_]:
    """Return one answer for each true value (below ``size``): a number, or a row of ``size`` marks."""
    return _marks(truth, how, words) if how.marks else _direct(truth, how, words)


def _direct(truth: NDArray[np.int64], how: Design, words: Words) -> NDArray[np.int64]:
    drawn = _random_words(len(truth), words)
    substitutes = (drawn // np.uint64(how.other)).astype(np.uint64)
    changed = drawn < np.uint64((how.size - 1) * how.other)
    named = np.where(changed, substitutes, 0).astype(np.int64)
    return np.where(changed, named + (named >= truth), truth)


def _marks(truth: NDArray[np.int64], how: Design, words: Words) -> NDArray[np.bool_]:
    marks = np.empty((len(truth), how.size), dtype=np.bool_)
    step = max(1, _AT_ONCE // how.size)
    for start in range(0, len(truth), step):
        part = truth[start : start + step]
        limits = np.full((len(part), how.size), how.other, dtype=np.uint64)
        limits[np.arange(len(part)), part] = WORDS // 2
        drawn = _random_words(limits.size, words).reshape(limits.shape)
        marks[start : start + step] = drawn < limits
    return marks


def _random_words(size: int, words: Words) -> NDArray[np.uint64]:
    return np.frombuffer(words(8 * size), dtype="<u8").astype(np.uint64)

"""The exact path of the sampler: mpmath intervals that shrink around a number until its rounding is certain.

    k = 0x8000...   U in [k, k+1] / 2^64   ->  scale * -ln U in [low, high]  ->  one integer, or more bits

Claim, proof and tests are in ``sampler``, which calls this for the few numbers that float64 cannot decide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from mpmath import libmp

Interval: TypeAlias = tuple[Any, Any]
"""Two libmp numbers, rounded outwards. (libmp takes precisions as arguments: threads share nothing.)"""


class Uniform:
    """A uniform real number in [0, 1]: 64 bits of it, extended on demand."""

    __slots__ = ("bits", "known", "words")

    def __init__(self, known: int, words: Callable[[int], bytes]) -> None:
        self.known, self.bits, self.words = known, 64, words

    def extend(self) -> None:
        self.known = self.known << 64 | int.from_bytes(self.words(8), "little")
        self.bits += 64

    @property
    def interval(self) -> Interval:
        return libmp.from_man_exp(self.known, -self.bits), libmp.from_man_exp(self.known + 1, -self.bits)


def laplace(scale: float, k: int, words: Callable[[int], bytes]) -> int:
    """Return scale * -ln U, rounded; U begins with the word k."""
    u = Uniform(k, words)

    def value() -> Interval:
        return libmp.mpi_mul(_exactly(scale), _exponential(u))  # type: ignore[no-any-return]  # mpmath

    return _decide(value, (u,))


def exponential(scale: float, k: int, words: Callable[[int], bytes]) -> int:
    """Return scale * -ln U, rounded down; U begins with the word k."""
    u = Uniform(k, words)

    def value() -> Interval:
        return libmp.mpi_sub(libmp.mpi_mul(_exactly(scale), _exponential(u)), _exactly(0.5))  # type: ignore[no-any-return]  # mpmath

    return _decide(value, (u,))


def gaussian(scale: float, k: int, turn: int, words: Callable[[int], bytes]) -> tuple[int, int]:
    """Return scale * sqrt(-2 ln U) times cos and sin of 2 pi V, rounded; U begins with k, V with turn."""
    u, v = Uniform(k, words), Uniform(turn, words)

    def value(which: int) -> Interval:
        precision = u.bits + 64
        low, high = libmp.mpi_mul(_exactly(2.0), _exponential(u))
        radius = libmp.mpi_sqrt((libmp.fzero if libmp.mpf_sign(low) < 0 else low, high), precision)
        two_pi = _widened((libmp.mpf_shift(libmp.mpf_pi(precision), 1),) * 2, precision)
        angle = libmp.mpi_mul(two_pi, v.interval, precision)
        factor = _widened(libmp.mpi_cos_sin(angle, precision)[which], precision)
        return libmp.mpi_mul(_exactly(scale), libmp.mpi_mul(radius, factor, precision))  # type: ignore[no-any-return]  # mpmath

    return _decide(lambda: value(0), (u, v)), _decide(lambda: value(1), (u, v))  # the same bits for both


def _decide(value: Callable[[], Interval], uniforms: tuple[Uniform, ...]) -> int:
    """Return floor(y + 1/2); ``value`` encloses y ever more closely as the uniforms are extended."""
    while True:
        if uniforms[0].known:  # otherwise its logarithm has no bound yet
            low, high = libmp.mpi_add(value(), _exactly(0.5))
            floor = libmp.to_int(low, libmp.round_floor)
            if floor == libmp.to_int(high, libmp.round_floor):
                return int(floor)
        for uniform in uniforms:
            uniform.extend()


def _exponential(u: Uniform) -> Interval:
    return _widened(libmp.mpi_neg(libmp.mpi_log(u.interval, u.bits + 64)), u.bits + 64)


def _exactly(number: float) -> Interval:
    return (libmp.from_float(number),) * 2


def _widened(interval: Interval, precision: int) -> Interval:
    slack = libmp.from_man_exp(1, 16 - precision)
    return libmp.mpi_add(interval, (libmp.mpf_neg(slack), slack))  # type: ignore[no-any-return]  # mpmath


def choice(sizes: list[int], exponents: list[Fraction], k: int, words: Callable[[int], bytes]) -> int:
    """Return the run that U falls into; U begins with k, and runs have weight size * exp(-exponent).

    Weights are enclosed by whole multiples of 2^-precision. No exponent is negative, and one is 0.
    """
    u = Uniform(k, words)
    while True:
        precision = u.bits + 64
        known: dict[Fraction, tuple[int, int]] = {}
        lows, highs, low, high = [], [], 0, 0
        for size, exponent in zip(sizes, exponents, strict=True):
            if exponent not in known:
                known[exponent] = _exp_between(exponent, precision)
            low, high = low + size * known[exponent][0], high + size * known[exponent][1]
            lows.append(low << u.bits)
            highs.append(high << u.bits)
        first = bisect_right(highs, u.known * low)
        last = bisect_left(lows, (u.known + 1) * high)
        if first == min(last, len(sizes) - 1):
            return first
        u.extend()


def _exp_between(exponent: Fraction, precision: int) -> tuple[int, int]:
    """Return a lower and an upper bound of exp(-exponent), in units of 2^-precision."""
    ends = (-exponent.numerator, exponent.denominator, precision)
    power = tuple(libmp.from_rational(*ends, rounding) for rounding in ("f", "c"))
    low, high = _widened(libmp.mpi_exp(power, precision), precision)
    scaled = libmp.mpf_shift(low, precision), libmp.mpf_shift(high, precision)
    return max(0, libmp.to_int(scaled[0], "f")), libmp.to_int(scaled[1], "c")

"""Conversions between measures of privacy, each rounded to the safe side.

    gaussian_delta(sigma, epsilon)   up      the curve of Gaussian noise on L2 sensitivity 1
    analytic_sigma(epsilon, delta)   up      its inverse
    zcdp_eps(rho, delta)             up      the epsilon of rho-zCDP
    zcdp_rho(epsilon, delta)         down    its inverse
    best_order(epsilon, delta)       -       the Renyi order at which that inverse is largest
    laplace_rho(eps0)                up      rho of Laplace noise, exact to fifty digits
    laplace_eps0(rho)                down    its inverse
    rho_sigma(rho)                   up      the Gaussian noise that costs rho

Float errors are bounded beside each formula; the tests compare all of them with other libraries.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpsql.accounting.rounding import at_most
from dpsql.mechanisms import at_least

_ULPS = 2.0**-50


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """Return Phi(1/2s - eps s) - e^eps Phi(-1/2s - eps s) (Balle and Wang 2018, theorem 8)."""
    delta, error = _gaussian_curve(sigma, epsilon)
    return min(1.0, delta + error)


def _gaussian_curve(sigma: float, epsilon: float) -> tuple[float, float]:
    """Return the same value in floats, and a bound on its error."""
    x, y = epsilon * sigma - 0.5 / sigma, epsilon * sigma + 0.5 / sigma
    if math.isinf(y * y):  # sigma is nearly 0, or so large that delta is below every float
        return (1.0 if sigma < 1 else 0.0), math.ulp(0.0)
    first, second = math.exp(_log_tail(x)), math.exp(min(0.0, epsilon + _log_tail(y)))
    # x and y are right to 2 ulps of y, their tails therefore to 2 y (1 + y) of themselves; epsilon < y^2
    error = (first + second) * (16 + 2 * y * y) * _ULPS + second * 1e-12 + math.ulp(0.0)
    return max(0.0, first - second), error


def _log_tail(x: float) -> float:
    """Return ln Phi(-x); beyond 36, where erfc underflows, by its asymptotic series (error 3e-13)."""
    if x < 36:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    q = 1 / (x * x)
    series = q * (-1 + q * (3 + q * (-15 + q * 105)))
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(series)


@lru_cache(maxsize=256)
def analytic_sigma(epsilon: float, delta: float) -> float:
    """Return the smallest deviation with gaussian_delta <= delta, also after rounding the deviation."""
    _check(epsilon, delta)

    def enough(sigma: float) -> bool:
        value, error = _gaussian_curve(sigma, epsilon)
        return value + 4 * error <= delta  # values at neighbouring floats are at most two errors apart

    low = high = 1.0
    while not enough(high):
        low, high = high, high * 2
    while enough(low):
        low, high = low / 2, low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=256)
def zcdp_eps(rho: float, delta: float, least: float = 1.0) -> float:
    """Return the epsilon at which rho-zCDP is (epsilon, delta)-private (Canonne et al. 2020, prop. 12).

    delta = exp((a-1)(a rho - eps)) (1-1/a)^a / (a-1) holds for every order a > 1: a missed minimum would
    cost accuracy, not privacy. If the divergence is at most a rho from an order ``least`` on only, the
    minimum is taken over these.
    """
    _check(rho, delta)

    def epsilon_at(b: float) -> float:
        return (b + 1) * rho + _excess(delta, b)

    b = _best_order(lambda b: (2 * b + 1) * rho - epsilon_at(b) - math.log1p(1 / b))
    b = max(b, at_least(Fraction(least) - 1))
    return max(0.0, epsilon_at(b) + (b + 1) * rho * _ULPS + _excess_error(delta, b))


@lru_cache(maxsize=256)
def zcdp_rho(epsilon: float, delta: float, least: float = 1.0) -> float:
    """Return the largest rho with zcdp_eps(rho, delta, least) <= epsilon."""
    _check(epsilon, delta)
    b = max(_best_rho(epsilon, delta), at_least(Fraction(least) - 1))
    return max(0.0, (epsilon * (1 - _ULPS) - _excess(delta, b) - _excess_error(delta, b)) / (b + 1))


def best_order(epsilon: float, delta: float) -> float:
    """Return the order a at which (epsilon - excess(a)) / a is largest, to six digits."""
    _check(epsilon, delta)
    return float(f"{_best_rho(epsilon, delta) + 1:.6g}")


def _best_rho(epsilon: float, delta: float) -> float:
    """Return that order, less one."""

    def rho_at(b: float) -> float:
        return (epsilon - _excess(delta, b)) / (b + 1)

    return _best_order(lambda b: (2 * b + 1) * rho_at(b) - epsilon - math.log1p(1 / b))


def _excess(delta: float, b: float) -> float:
    """Return eps - a rho at order a = b + 1: (ln(1/delta) + a ln(1-1/a) - ln(a-1)) / (a-1)."""
    return (-math.log(delta) - (b + 1) * math.log1p(1 / b) - math.log(b)) / b


def _excess_error(delta: float, b: float) -> float:
    return (-math.log(delta) + (b + 1) * math.log1p(1 / b) + abs(math.log(b))) / b * _ULPS


def _best_order(slope: Callable[[float], float]) -> float:
    """Return the order, less one, at which the derivative of ln delta changes its sign. It does once.

    ln delta is convex in the order for fixed rho and eps, so {order: delta is reached with this eps} is
    an interval for every eps; likewise for rho.
    """
    low, high = -60.0, 60.0  # of the logarithm of b
    for _ in range(80):
        middle = (low + high) / 2
        halved = (middle, high) if slope(math.exp(middle)) < 0 else (low, middle)
        if halved == (low, high):  # neighbours: they stay
            break
        low, high = halved
    return math.exp(high)


_DIGITS = decimal.Context(prec=80, rounding=decimal.ROUND_CEILING, Emin=-(10**6), Emax=10**6, traps=[])


def laplace_rho(eps0: Fraction) -> Fraction:
    """Return eps0 - 1 + exp(-eps0), the zCDP of (rounded) Laplace noise; never more than eps0^2 / 2.

    In float64 the terms cancel: an eps0 of 3e-9 would cost nothing.
    """
    x = _DIGITS.divide(decimal.Decimal(eps0.numerator), decimal.Decimal(eps0.denominator))
    power = _DIGITS.next_plus(_DIGITS.exp(_DIGITS.minus(x)))
    return min(Fraction(_DIGITS.add(_DIGITS.subtract(x, decimal.Decimal(1)), power)), eps0 * eps0 / 2)


def response_rho(epsilon: Fraction) -> Fraction:
    """Return epsilon tanh(epsilon / 2), the zCDP of anything epsilon-private; at most epsilon^2 / 2.

    Everything epsilon-private is post-processing of one bit that is kept with probability
    e^epsilon / (1 + e^epsilon) (Kairouz, Oh and Viswanath 2015, theorem 3.3). The bit's Renyi divergence
    over alpha is greatest at alpha = 1, where it is this value.
    """
    one = decimal.Decimal(1)
    x = _DIGITS.divide(decimal.Decimal(epsilon.numerator), decimal.Decimal(epsilon.denominator))
    power = _DIGITS.next_minus(_DIGITS.exp(_DIGITS.minus(x)))
    tanh = _DIGITS.divide(_DIGITS.subtract(one, power), _DIGITS.next_minus(_DIGITS.add(one, power)))
    return min(Fraction(_DIGITS.multiply(x, tanh)), epsilon * epsilon / 2)


@lru_cache(maxsize=256)
def laplace_eps0(rho: Fraction) -> float:
    """Return the largest eps0 of Laplace noise that costs at most rho: between sqrt(2 rho) and rho + that.

    Claim  it is what 60 halvings of this interval give, each with the exact test ``laplace_rho(x) <= rho``.
    Proof  The cost grows with eps0. Where the interval has less than 2^58 floats and its end fails the test,
           the halvings end at two neighbours, of which the upper one fails: at the greatest float that passes
           the test, or at ``low`` if none above it passes. Newton's steps only say where to look for it; the
           same test decides, at every float from there to the one that is returned.
    Test   tests/privacy/test_accountants.py
    """
    low = math.sqrt(2 * at_most(rho)) * (1 - _ULPS)
    high = at_least(rho) + low + math.ulp(low)
    if (high - low) / math.ulp(low) < 2**58 and laplace_rho(Fraction(high)) > rho:
        found = _near_eps0(rho, low, high)
        if found is not None:
            return found
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if laplace_rho(Fraction(middle)) <= rho else (low, middle)
    return low


def _near_eps0(rho: Fraction, low: float, high: float) -> float | None:
    """Find the greatest float in [low, high) that costs at most rho; None if Newton's steps end far off."""
    wanted = _DIGITS.divide(decimal.Decimal(rho.numerator), decimal.Decimal(rho.denominator))
    one, x = decimal.Decimal(1), decimal.Decimal(_about_eps0(at_most(rho), low))
    for _ in range(12):
        power = _DIGITS.exp(_DIGITS.minus(x))
        cost, slope = _DIGITS.add(_DIGITS.subtract(x, one), power), _DIGITS.subtract(one, power)
        step = _DIGITS.divide(_DIGITS.subtract(wanted, cost), slope)
        x = _DIGITS.add(x, step)
        if abs(step) < x * _NEAR:  # the next one is about its square
            break
    found = min(max(float(x), low), math.nextafter(high, 0))
    for _ in range(8):
        above = math.nextafter(found, math.inf)
        if found > low and laplace_rho(Fraction(found)) > rho:
            found = math.nextafter(found, 0)
        elif above < high and laplace_rho(Fraction(above)) <= rho:
            found = above
        else:
            return found
    return None


def _about_eps0(rho: float, low: float) -> float:
    """Return eps0 up to rounding, by Newton's steps in floats."""
    x = low
    for _ in range(4):
        x += (rho - (x + math.expm1(-x))) / -math.expm1(-x)
    return x if math.isfinite(x) and x > 0 else low


_NEAR = decimal.Decimal(2) ** -35


def rho_sigma(rho: Fraction) -> float:
    """Return 1 / sqrt(2 rho): the deviation, per L2 sensitivity 1, of Gaussian noise that costs rho."""
    return 1 / math.sqrt(2 * at_most(rho)) * (1 + _ULPS)


def _check(positive: float, delta: float) -> None:
    if not (0 < positive < math.inf and 1e-300 < delta < 1):
        raise ValueError(f"no conversion of {positive} at delta {delta}")

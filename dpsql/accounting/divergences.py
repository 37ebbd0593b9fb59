"""Renyi divergences of order a > 1 between neighbours, of each kind of event, rounded up.

    gaussian   a x^2 / 2                                                   x = D / sigma
    laplace    ln((a e^((a-1)e) + (a-1) e^(-ae)) / (2a-1)) / (a-1)          e = D / b
    response   ln((e^((a-1)e) + e^(-ae)) / (1 + e^-e)) / (a-1)             anything that is e-private
    choice     ln u + ln((E-c) / (a (E-1))) / (a-1)                        a loss in an interval of length e,
               E = e^e, c = e^(-(a-1)e), u = (a-1) (E-c) / (a (1-c))       never above a e^2 / 8

Claim   each is at least D_a(P || Q) for the laws P and Q of an event on neighbours, in either order; it is 0
        at 0, and grows with sensitivity over scale; and D_a / a, so computed, does not grow with a.
Proof   Let h = e/2 and t = 2a - 1, so that a (a-1) = (t^2 - 1) / 4.
        gaussian   Bun and Steinke 2016, lemma 2.4; D_a / a is the same at every order.
        laplace    Mironov 2017, proposition 6. With A = a/(2a-1) and B = (a-1)/(2a-1), (a-1) D_a is
                   ln(A e^((a-1)e) + B e^(-ae)): convex in e, with value ln 1 and slope 0 at 0. So it grows,
                   and a vector costs at most what one coordinate costs that is shifted by the whole L1 norm.
                   It is g(t) - g(1) with g(t) = ln(cosh th + sinh(th)/t), so D_a / a = 4 (g(t) - g(1)) /
                   (t^2 - 1) is the slope of a chord of g over t^2: it falls if g is concave there. With
                   s = (th)^2, e^g = cosh sqrt(s) + h sinh(sqrt s)/sqrt(s) is an entire function of order 1/2
                   whose zeros are the negatives of the eigenvalues of -v'' = y v, v(0) = 0, v'(1) + h v(1) =
                   0, all positive; by Hadamard g is a constant and a sum of ln(1 + s/y), each concave.
        response   Everything e-private is post-processing of one bit, kept with probability 1/(1 + e^-e)
                   (Kairouz, Oh and Viswanath 2015, theorem 3.3); the bit's divergence is that of the formula,
                   and so at most that of the bit of a larger e. It is also that of a vector of geometric
                   noise: a whole vector is (D/b)-private. D_a / a is as before with g(t) = ln cosh th, whose
                   zeros in s are negative too.
        choice     Let L = ln(P/Q) lie in [s, s + e]. x -> x^a is convex, and e^L has mean 1 under Q, so the
                   mean of e^(aL) is at most that of the law on the two ends. Let y = e^s: it is y^(a-1) ((E^a
                   - 1) - y (E^a - E)) / (E - 1), greatest at y = (a-1)(E^a - 1) / (a (E^a - E)) = u/E, where
                   its logarithm over (a-1) is the formula. It is so for Q over P: there the loss is -L.
                   L on two ends is k(a) = ln E[e^(aL)] with k(0) = k(1) = 0 and k'' = f''(. - m) for some m,
                   f(x) = ln cosh(xh); so D_a / a = k(a) / (a (a-1)) is the mean of f''/2 under the triangle
                   density on [x, x+a] with its top at x + 1, for some x, and ``choice`` is its greatest over
                   x. Its quantiles are x + sqrt(ua) up to u = 1/a, then x + a - sqrt((1-u) a (a-1)).
                   Let 1 < a < b. Where both are left of the top, or both right of it, those of b grow at
                   least as fast in u, for a and a (a-1) grow with a; between, where 1/b <= u <= 1/a, they do
                   if a (1-u) <= b (b-1) u, which holds at u = 1/b and so above it. So the map of quantiles
                   takes the triangle of b to that of a and lengthens no distance. Move its image so that 0
                   stays where it is or, if 0 is outside, the end nearest to it: then no point moves away from
                   0. f'' is even and falls away from 0, so that its mean over this triangle of a is at least
                   that over the best of b.
                   k'' is at most h^2 = e^2/4, so D_a is at most a e^2/8; and it grows with e, for an interval
                   lies in a longer one.
        Arithmetic has 80 digits. Each formula is written so that its value is wrong by at most a few units of
        the last digit of 1 + e (of (1 + e) / e for a choice, which below ``SMALL`` is charged a e^2/8);
        ``_SLACK`` is a thousand million times as much.
Test    tests/privacy/test_divergences.py
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from dpsql.accounting.rounding import at_most

_DIGITS = decimal.Context(prec=80, Emin=-(10**6), Emax=10**6, traps=[])
_SLACK = Decimal(10) ** -70
SMALL, LARGE = Fraction(1, 10**9), 10_000
"""Ratios between which a choice's formula is used; above, its divergence is bounded by its epsilon."""

Divergence = Callable[[Fraction, Fraction], Fraction]


def gaussian_divergence(ratio: Fraction, order: Fraction) -> Fraction:
    return order * ratio**2 / 2


def laplace_divergence(ratio: Fraction, order: Fraction) -> Fraction:
    """Return e + ln(A + B e^(-(2a-1)e)) / (a-1), the same as above."""
    if not ratio:
        return ratio
    c, e, a = _DIGITS, _decimal(ratio), _decimal(order)
    power = c.exp(c.minus(c.multiply(_twice_less(a), e)))
    weighed = c.divide(c.fma(c.subtract(a, Decimal(1)), power, a), _twice_less(a))
    return _up(c.add(e, c.divide(c.ln(weighed), c.subtract(a, Decimal(1)))), e)


def response_divergence(ratio: Fraction, order: Fraction) -> Fraction:
    """Return e + ln((1 + e^(-(2a-1)e)) / (1 + e^-e)) / (a-1), the same as above."""
    if not ratio:
        return ratio
    c, e, a = _DIGITS, _decimal(ratio), _decimal(order)
    power, one = c.exp(c.minus(c.multiply(_twice_less(a), e))), Decimal(1)
    quotient = c.divide(c.add(one, power), c.add(one, c.exp(c.minus(e))))
    return _up(c.add(e, c.divide(c.ln(quotient), c.subtract(a, one))), e)


def choice_divergence(ratio: Fraction, order: Fraction) -> Fraction:
    most = order * ratio**2 / 8
    if ratio <= SMALL:
        return most
    if ratio > LARGE:
        return min(most, ratio)
    c, e, a, one = _DIGITS, _decimal(ratio), _decimal(order), Decimal(1)
    less = c.subtract(a, one)
    high, low = c.exp(e), c.exp(c.minus(c.multiply(less, e)))
    u = c.divide(c.multiply(less, c.subtract(high, low)), c.multiply(a, c.subtract(one, low)))
    rest = c.divide(c.subtract(high, low), c.multiply(a, c.subtract(high, one)))
    return min(most, _up(c.add(c.ln(u), c.divide(c.ln(rest), less)), c.add(e, c.divide(one, e))))


def _twice_less(a: Decimal) -> Decimal:
    """Return 2a - 1. (``2 * a`` would have the 28 digits of the thread's context.)"""
    return _DIGITS.subtract(_DIGITS.add(a, a), Decimal(1))


def _decimal(number: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


def _up(value: Decimal, size: Decimal) -> Fraction:
    """Return a bound on the exact value; its error is relative to 1 + ``size``."""
    return Fraction(value) + Fraction(_SLACK) * (1 + Fraction(size))


def largest_within(divergence: Divergence, order: Fraction, amount: Fraction) -> float:
    """Return nearly the largest ratio whose divergence is within an amount; never one that is not.

    The root of the divergence is nearly linear in the ratio, so secants find it; then the exact test decides.
    Additions, divisions and roots are rounded in the same way on every machine, so equal prices buy equal
    noise everywhere.
    """

    def excess(x: float) -> float:
        return math.sqrt(float(divergence(Fraction(x), order) / amount)) - 1

    before = math.sqrt(float(2 * amount / order))
    x, last = before * 1.5, excess(before)
    for _ in range(40):
        now = excess(x)
        if now == last or abs(now) < 2e-16:
            break
        before, x, last = x, max(x / 16, min(16 * x, x - now * (x - before) / (now - last))), now
        if abs(x - before) < 1e-11 * x:
            break
    part = Fraction(1, 2**52)
    while divergence(Fraction(x), order) > amount:
        x, part = at_most(Fraction(x) * (1 - part)), 2 * part
    return x

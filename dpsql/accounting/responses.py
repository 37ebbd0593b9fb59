"""Divergences of a randomized response between two true values: less than those of anything e-private.

    D_a = ln(1 + w X) / (a-1)      X = (E^a - E) (1 - E^-a), E = e^epsilon
    direct, k values               w = 1 / (E + k - 1)        at epsilon 1: .79, .55, .32 of the charge of the
    marks                          w = 1 / (2E + 2)           coin (k = 2) for 3, 5, 10 values, .5 for marks

Claim   ``designed_divergence`` is at least D_a between the answers of two true values, at each order a > 1;
        ``designed_rho`` is at least D_a / a at all of them.
Proof   Answers are those of mechanisms/randomized_response.py for a ratio of at most E; those of a smaller
        ratio follow from them by chance alone, so that their divergence is not above (data processing).
        Direct: the answer's probability is p = w E at one value, w at every other. Between two true values
        the mean of (P/Q)^a is w E^a + w E^(1-a) + (k-2) w, and w (E + k - 1) = 1 makes it 1 + w X.
        Marks: two marks differ, of 1/2 and q = 1 / (1 + E), and the two factors are 2^-a (q^(1-a) + p^(1-a))
        and 2^(a-1) (q^a + p^a); their product is (1 + q E^a + p E^-a) / 2 = 1 + q X / 2.
        D_a is at most e, so that D_a / a is at most t from e / t on; up to there see every_order.py.
        Arithmetic has 60 digits; X loses at most 40 of them, since e is at least ``LEAST`` and steps are at
        least ``SHORTEST``. ``_SLACK`` is a thousand times as much.
Test    tests/privacy/test_every_order.py: against sums over the laws themselves; a planted error is found
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial

from dpsql.accounting.conversions import response_rho
from dpsql.accounting.divergences import response_divergence
from dpsql.accounting.every_order import CONTEXT, covered

LEAST, MOST = Fraction(1, 10**7), 40
"""Epsilons between which a design counts; others are charged as anything e-private."""

_SLACK = 1 + Decimal(10) ** -17
_ABOVE = Decimal("1.01")
_GUESSES = 16


def designed_divergence(epsilon: Fraction, values: int, order: Fraction) -> Fraction:
    """Return the divergence at an order; ``values`` of a direct answer, 0 for marks."""
    anything = response_divergence(epsilon, order)
    _check(values)
    if values == 2 or not LEAST <= epsilon <= MOST:
        return anything
    c, e = CONTEXT, _decimal(epsilon)
    return min(anything, Fraction(_divergence(e, _weight(c.exp(e), values), _decimal(order))))


@lru_cache(maxsize=4096)
def designed_rho(epsilon: Fraction, values: int) -> Fraction:
    """Return the zCDP of a response."""
    anything = response_rho(epsilon)
    _check(values)
    if values == 2 or not LEAST <= epsilon <= MOST:
        return anything
    c, e, one = CONTEXT, _decimal(epsilon), Decimal(1)
    weight = _weight(c.exp(e), values)
    # the limit at 1 is the mean of the loss; between, a few orders find nearly the greatest
    guesses = [c.multiply(c.multiply(weight, e), c.subtract(c.exp(e), one))]
    for place in range(1, _GUESSES + 1):
        order = c.add(one, c.divide(Decimal(place**2), c.multiply(e, Decimal(8))))
        guesses.append(c.divide(_divergence(e, weight, order), order))
    t = covered(partial(_divergence, e, weight), max(guesses), _ABOVE, partial(c.divide, e))
    return min(anything, Fraction(c.multiply(t, _SLACK)))


def _check(values: int) -> None:
    if values < 2 and values:
        raise ValueError(f"no response has {values} values")


def _weight(ratio: Decimal, values: int) -> Decimal:
    c, one = CONTEXT, Decimal(1)
    whole = c.add(ratio, Decimal(values - 1)) if values else c.multiply(Decimal(2), c.add(ratio, one))
    return c.divide(one, whole)


def _divergence(e: Decimal, weight: Decimal, order: Decimal) -> Decimal:
    c, one = CONTEXT, Decimal(1)
    power, less = c.exp(c.multiply(order, e)), c.subtract(order, one)
    x = c.multiply(c.subtract(power, c.exp(e)), c.subtract(one, c.divide(one, power)))
    return c.multiply(c.divide(c.ln(c.fma(weight, x, one)), less), _SLACK)


def _decimal(number: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))

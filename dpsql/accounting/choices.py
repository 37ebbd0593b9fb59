"""What zCDP charges for a choice: a little less than epsilon^2 / 8 where epsilon is large.

    epsilon 1    .1234 for .125        2    .456 for .5        4    1.45 for 2

Claim   ``choice_rho`` is at least D_a / a at every order a > 1, for a choice whose loss ranges over epsilon.
Proof   ``choice_divergence`` is the greatest D_a of such laws, and over a it falls from 2 on: see
        divergences.py. From 1 to 2 see every_order.py, which starts near the limit at 1: the greatest mean of
        a loss on two ends is ln y + 1/y - 1 at y = (E-1) / (E e), E = e^epsilon.
Test    tests/privacy/test_every_order.py
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from dpsql.accounting.divergences import choice_divergence
from dpsql.accounting.every_order import CONTEXT, covered

LEAST, MOST = Fraction(1), 64
"""Epsilons between which less than epsilon^2 / 8 is charged: below, one in a hundred is saved."""

_ABOVE = Decimal("1.001")


def choice_rho(epsilon: Fraction) -> Fraction:
    """Return the zCDP of a choice."""
    most = epsilon**2 / 8
    return min(most, _of_a_large(epsilon)) if LEAST <= epsilon <= MOST else most


@lru_cache(maxsize=4096)
def _of_a_large(epsilon: Fraction) -> Fraction:
    c, e, one = CONTEXT, CONTEXT.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)), Decimal(1)
    inverse = c.divide(e, c.subtract(one, c.exp(c.minus(e))))
    limit = c.subtract(c.subtract(inverse, c.ln(inverse)), one)

    def divergence(order: Decimal) -> Decimal:
        exact = choice_divergence(epsilon, Fraction(order))
        return c.next_plus(c.divide(Decimal(exact.numerator), Decimal(exact.denominator)))

    return Fraction(covered(divergence, limit, _ABOVE, lambda t: Decimal(2)))

"""What zCDP charges for a choice: a little less than epsilon^2 / 8.

    epsilon 1    .1233 for .125        2    .474 for .5        4    1.67 for 2

Claim   ``choice_rho`` is at least D_a / a at every order a > 1, for a choice whose loss ranges over epsilon.
Proof   ``choice_divergence`` is the greatest D_a of such laws, and D_a / a does not grow with a: see
        divergences.py. So its limit at 1 is the greatest, which is the greatest mean of such a loss under P.
        That of a loss on the two ends, s and s + e, is ln y + (1-y) e E / (E-1) with y = e^s, E = e^e, and
        greatest at 1/y = e E / (E-1), where it is the formula, 1/y - 1 - ln(1/y).
        Arithmetic has 80 digits, of which less than 40 cancel above ``SMALL``; ``_SLACK`` is relative.
Test    tests/privacy/test_every_order.py
"""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

from dpsql.accounting.divergences import LARGE, SMALL

_CONTEXT = decimal.Context(prec=80, Emin=-(10**6), Emax=10**6, traps=[])
_SLACK = 1 + Fraction(1, 10**30)


def choice_rho(epsilon: Fraction) -> Fraction:
    """Return the zCDP of a choice."""
    most = epsilon**2 / 8
    if not SMALL < epsilon <= LARGE:
        return most
    c, one = _CONTEXT, Decimal(1)
    e = c.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    inverse = c.divide(e, c.subtract(one, c.exp(c.minus(e))))
    return min(most, Fraction(c.subtract(c.subtract(inverse, one), c.ln(inverse))) * _SLACK)

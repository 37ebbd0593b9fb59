"""A bound on D_a / a at every order a > 1, by finitely many orders: what zCDP charges.

    D_a   .-'     t a goes through the steps from above: D_b <= t a at each pair of neighbours a < b
        .-'

Claim   with the returned t, D_a <= t a for every a from 1 to the end.
Proof   D_a does not fall in a (van Erven and Harremoes 2014, theorem 3), for each pair of laws and so for the
        greatest of many. So D_x <= D_b <= t a <= t x for x between a and b, which is what each step tests.
        t is only raised, for which earlier steps hold too.
Test    tests/privacy/test_every_order.py
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal

CONTEXT = decimal.Context(prec=60, Emin=-(10**6), Emax=10**6, traps=[])
SHORTEST = Decimal(2) ** -20
_STEP = Decimal(1) / 128

Divergence = Callable[[Decimal], Decimal]
"""A bound from above on a divergence, by its order."""


def covered(
    divergence: Divergence, guess: Decimal, above: Decimal, end: Callable[[Decimal], Decimal]
) -> Decimal:
    """Return a t of about ``guess`` times ``above``; ``end`` says of t where to stop."""
    c, a, step, t = CONTEXT, Decimal(1), _STEP, CONTEXT.multiply(guess, above)
    while a < end(t):
        if divergence(c.add(a, step)) <= c.multiply(t, a):
            a, step = c.add(a, step), c.add(step, step)
        elif step > SHORTEST:
            step = c.divide(step, Decimal(2))
        else:
            t = c.multiply(t, above)
    return t

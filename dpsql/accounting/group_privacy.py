"""What a whole budget says of several units at once: who is replaced is two, a family of four is four.

    epsilon 5, delta 1e-6        pure        zcdp, no threshold    rdp, approx, zcdp with thresholds
    2 units                      (10, 0)     (11.15, 8e-7)         (10, 1.5e-4)
    4 units                      (20, 0)     (26.36, 8e-7)         nothing: a delta of 3.3

Claim   databases that differ in k units satisfy ``group_privacy`` of the accountant and its budget.
Proof   pure     k times epsilon, by the triangle inequality of log-ratios.
        zcdp     an event of rho is k^2 rho over k units (Bun and Steinke 2016, proposition 1.9), and a
                 response of e is k e, whatever came before; so the sums stay within k^2 and k times their
                 caps, and k^2 rho turns into epsilon at the delta that is kept for that. Thresholds were not
                 bought.
        others   (epsilon, delta) is (k epsilon, delta (1 + e^epsilon + ... + e^((k-1) epsilon))) over k units
                 (Vadhan 2017, lemma 2.2).
Test    tests/privacy/test_group_privacy.py
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.accounting import Accountant, Budget
from dpsql.accounting.concentrated import conversion_delta
from dpsql.accounting.conversions import zcdp_eps
from dpsql.accounting.units import UNIT
from dpsql.accounting.zcdp import Zcdp

STEPS = (1, 2, 4)


def group_privacy(
    rules: Accountant, budget: Budget, units: int, thresholds: bool
) -> tuple[float, float] | None:
    """Return epsilon and delta over so many units, rounded up; None if they promise nothing."""
    if not rules.has_delta:
        return units * budget.epsilon, 0.0
    if isinstance(rules, Zcdp) and not thresholds:
        rho = Fraction(rules.total(budget).main, UNIT) * units**2
        delta = conversion_delta(budget)
        return units * budget.responses + zcdp_eps(math.nextafter(float(rho), math.inf), delta), delta
    grown = (math.exp(min(700.0, epsilon)) for epsilon in (step * budget.epsilon for step in range(units)))
    delta = budget.delta * math.fsum(grown) * (1 + 1e-12 * (units > 1))
    return None if delta >= 1 else (units * budget.epsilon, delta)

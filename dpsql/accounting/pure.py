"""Pure differential privacy: epsilons add up, and there is no delta.

Claim   queries whose charges stay within the total are together (budget.epsilon, 0)-private, even when
        each is chosen after seeing the answers of those before.
Proof   A vector of L1 sensitivity D with Laplace noise of scale b is D/b-private. Basic composition is
        adaptive (Dwork et al. 2006; Rogers et al. 2016 for adaptively chosen epsilons). A choice with a
        privacy loss in an interval of length epsilon is epsilon-private: the interval holds 0, since
        both distributions add up to one. A column of randomized responses is epsilon-private.
Test    tests/privacy/test_accountants.py
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpsql.accounting import AccountantOf, Budget
from dpsql.accounting.rounding import (
    INVERTIBLE,
    at_most,
    down,
    epsilon_of,
    price,
    ratio_of,
    shown,
    too_small,
    up,
)
from dpsql.accounting.units import UNIT, UnitAccountant, Units
from dpsql.ir.allowance import Allowance
from dpsql.ir.event import (
    AlertEvent,
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)


class Pure(UnitAccountant):
    """Basic composition: sums of epsilon."""

    name = "pure"
    has_delta = False

    def total(self, budget: Budget) -> Units:
        return Units(down(Fraction(budget.epsilon)))

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        units = down(price(epsilon) * share)
        if not units:
            raise too_small(epsilon)
        exact = Fraction(units, UNIT)
        noise = at_most(exact * INVERTIBLE)
        return Allowance(noise, at_most(exact), None, None, None, geometric=noise)

    def _charge(self, event: Event) -> Units:
        match event:
            case LaplaceEvent() | GeometricEvent():
                return Units(up(ratio_of(event)))
            case ChoiceEvent():
                return Units(up(epsilon_of(event)))
            case GaussianEvent() | ThresholdEvent():
                raise TypeError(f"pure privacy has no delta for a {type(event).__name__}")
            case ResponseEvent() | AlertEvent():
                return Units(up(epsilon_of(event)))
            case _:
                assert_never(event)

    def epsilon(self, spent: Units, budget: Budget) -> float:
        return shown(Fraction(spent.main, UNIT))


ACCOUNTANT: AccountantOf[Units] = Pure()

"""Pure differential privacy: epsilons add up, and there is no delta.

Claim   queries whose charges stay within the total are together (budget.epsilon, 0)-private, even when
        each is chosen after seeing the answers of those before.
Proof   a vector of L1 sensitivity D under Laplace noise of scale b is D/b-private; basic composition
        is adaptive (Dwork et al. 2006; Rogers et al. 2016 for adaptively chosen epsilons). A choice whose
        loss ranges over an interval of length epsilon is epsilon-private: the interval holds 0, since
        both laws add up to one. A column of randomized responses is epsilon-private.
Test    tests/privacy/test_accountants.py
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpsql.accounting import UNIT, Accountant, Allowance, Budget, Spent
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
from dpsql.ir.event import (
    ChoiceEvent,
    Event,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)


class Pure:
    """epsilon, added up."""

    name = "pure"

    def total(self, budget: Budget) -> Spent:
        return Spent(down(Fraction(budget.epsilon)))

    def allowance(self, epsilon: float, budget: Budget, share: Fraction, thresholds: bool) -> Allowance:
        units = down(price(epsilon) * share)
        if not units:
            raise too_small(epsilon)
        each = Fraction(units, UNIT)
        noise = at_most(each * INVERTIBLE)
        return Allowance(noise, at_most(each), None, None, None, geometric=noise)

    def charge(self, events: tuple[Event, ...]) -> Spent:
        return sum((self._charge(event) for event in events), Spent())

    def _charge(self, event: Event) -> Spent:
        match event:
            case LaplaceEvent() | GeometricEvent():
                return Spent(up(ratio_of(event)))
            case ChoiceEvent():
                return Spent(up(epsilon_of(event)))
            case GaussianEvent() | ThresholdEvent():
                raise TypeError(f"pure privacy has no delta for a {type(event).__name__}")
            case ResponseEvent():
                return Spent(up(epsilon_of(event)))
            case _:
                assert_never(event)

    def epsilon(self, spent: Spent, budget: Budget) -> float:
        return shown(Fraction(spent.main, UNIT))


ACCOUNTANT: Accountant = Pure()

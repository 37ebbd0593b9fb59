"""Charges of randomized responses by their design, against sums over the laws themselves."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

from dpsql.accounting import accountant, responses
from dpsql.accounting.conversions import response_rho
from dpsql.accounting.divergences import response_divergence
from dpsql.accounting.responses import designed_divergence, designed_rho
from dpsql.ir.event import ResponseEvent
from dpsql.mechanisms.randomized_response import WORDS, design
from dpsql.plan.export import MOST_VALUES

ORDERS = [1 + 10 ** (place / 8) for place in range(-40, 33)]


def laws(epsilon: float, values: int) -> list[tuple[list[mpmath.mpf], list[mpmath.mpf]]]:
    """Return the laws of independent parts of an answer at two true values, from the words of the sampler."""
    chances = design(values, epsilon)
    other = mpmath.mpf(chances.other) / WORDS
    if chances.marks:  # the marks of both values; all others have one law
        half = [mpmath.mpf(1) / 2] * 2
        return [(half, [other, 1 - other]), ([other, 1 - other], half)]
    own = 1 - (values - 1) * other
    return [([own, other, *[other] * (values - 2)], [other, own, *[other] * (values - 2)])]


def divergence(epsilon: float, values: int, order: float) -> mpmath.mpf:
    """Return the Renyi divergence, by its definition."""
    parts = [
        mpmath.log(mpmath.fsum(p**order * q ** (1 - mpmath.mpf(order)) for p, q in zip(*pair, strict=True)))
        for pair in laws(epsilon, values)
    ]
    return mpmath.fsum(parts) / (mpmath.mpf(order) - 1)


def drawn(rng: random.Random) -> tuple[float, int, int]:
    """Draw an epsilon, a number of values, and what an event says of the design."""
    epsilon, values = 10 ** rng.uniform(-3, 1.2), rng.choice([2, 3, 4, 5, 10, 40, MOST_VALUES])
    return epsilon, values, 0 if design(values, epsilon).marks else values


@pytest.mark.parametrize("seed", range(12))
def test_a_charge_is_not_below_the_divergence_of_the_laws(seed: int) -> None:
    epsilon, values, designed = drawn(random.Random(seed))
    with mpmath.workdps(60):
        rho = designed_rho(Fraction(epsilon), designed)
        exact = [divergence(epsilon, values, order) / order for order in ORDERS]
        assert max(exact) <= mpmath.mpf(rho.numerator) / rho.denominator
        assert max(exact) * 1.03 >= float(min(rho, response_rho(Fraction(epsilon)))) * 0.99
        for order in ORDERS[::6]:
            charged = designed_divergence(Fraction(epsilon), designed, Fraction(order))
            ratio = charged / Fraction(str(divergence(epsilon, values, order)))
            assert 1 - Fraction(1, 10**12) <= ratio


def test_an_error_in_the_weight_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: one value too many."""
    right = responses._weight
    monkeypatch.setattr(responses, "_weight", lambda ratio, values: right(ratio, values + 1 if values else 0))
    designed_rho.cache_clear()
    try:
        with mpmath.workdps(60):
            assert max(divergence(1.0, 5, order) / order for order in ORDERS) > float(
                designed_rho(Fraction(1), 5)
            )
    finally:
        designed_rho.cache_clear()


def test_the_parts_of_the_charge_of_anything_private_that_are_needed() -> None:
    """At epsilon 1: .79, .55 and .32 for 3, 5 and 10 values, half for marks, and 1 % of slack."""
    whole = response_rho(Fraction(1))
    parts = {values: float(designed_rho(Fraction(1), values) / whole) for values in (2, 3, 5, 10, 0)}
    assert parts == pytest.approx({2: 1, 3: 0.79, 5: 0.55, 10: 0.32, 0: 0.5}, rel=0.02)


@pytest.mark.parametrize("name", ["zcdp", "rdp"])
def test_no_response_costs_more_than_anything_as_private(name: str) -> None:
    rules = accountant(name)
    rules = rules.bound(8.0, False) if name == "rdp" else rules
    for epsilon, values in itertools.product((1e-9, 1e-3, 0.5, 1.0, 3.0, 41.0), (0, 3, 10, 1001)):
        assert rules.charge((ResponseEvent(epsilon, values),)).within(rules.charge((ResponseEvent(epsilon),)))


def test_two_values_stand_for_anything() -> None:
    for epsilon in (Fraction(1, 10), Fraction(3)):
        assert designed_rho(epsilon, 2) == response_rho(epsilon)
        assert designed_divergence(epsilon, 2, Fraction(4)) == response_divergence(epsilon, Fraction(4))
    assert designed_rho(Fraction(0), 3) == 0
    assert Decimal(1) < responses._SLACK

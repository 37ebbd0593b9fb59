"""What zCDP charges for responses and choices, against sums over the laws themselves."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.accounting import accountant, every_order, responses
from dpsql.accounting.choices import choice_rho
from dpsql.accounting.conversions import response_rho
from dpsql.accounting.divergences import LARGE, SMALL, choice_divergence, response_divergence
from dpsql.accounting.responses import designed_divergence, designed_rho
from dpsql.ir.event import ChoiceEvent, ResponseEvent
from dpsql.mechanisms.randomized_response import WORDS, design
from dpsql.plan.export import MOST_VALUES

ORDERS = [1 + 10 ** (place / 8) for place in range(-40, 33)]


def number(exact: Fraction) -> mpmath.mpf:
    return mpmath.mpf(exact.numerator) / exact.denominator


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
        assert max(exact) <= number(rho)
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


# ---- choices -------------------------------------------------------------------------------------------


def of_two_ends(epsilon: float, least: float, order: float) -> mpmath.mpf:
    """Return D_a / a of a loss of ``least`` or that and epsilon."""
    e, s, a = mpmath.mpf(epsilon), mpmath.mpf(least), mpmath.mpf(order)
    high = (mpmath.exp(-s) - 1) / (mpmath.exp(e) - 1)
    mean = high * mpmath.exp(a * (s + e)) + (1 - high) * mpmath.exp(a * s)
    return mpmath.log(mean) / (a - 1) / a


def greatest(epsilon: float) -> mpmath.mpf:
    """Return nearly the greatest D_a / a of losses on two ends, at all orders."""
    places = [mpmath.mpf(place) / 200 for place in range(1, 200)]
    return max(of_two_ends(epsilon, -epsilon * place, order) for place in places for order in ORDERS[::8])


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 1.7, 3.0, 8.0, 40.0])
def test_a_choice_costs_no_less_than_any_loss_on_two_ends(epsilon: float) -> None:
    with mpmath.workdps(40):
        found, rho = greatest(epsilon), choice_rho(Fraction(epsilon))
        assert found <= number(rho) <= found * mpmath.mpf("1.001")
    assert accountant("zcdp").charge((ChoiceEvent(epsilon),)).main == math.ceil(rho * 10**15)


def test_an_order_that_is_not_the_worst_is_found() -> None:
    """A planted error: D_2 / 2 for the limit at order 1, where it is least below it."""
    with mpmath.workdps(40):
        assert greatest(1.0) > number(choice_divergence(Fraction(1), Fraction(2)) / 2)


@settings(max_examples=200, deadline=None)
@given(st.floats(-8.9, 3.9).map(lambda power: Fraction(10.0**power)), st.floats(-9, 3))
def test_no_order_of_a_choice_is_above_its_limit_at_one(epsilon: Fraction, power: float) -> None:
    """Also near 1, where D_a / a comes within (a - 1) of the limit: the proof is of all a > 1."""
    order, rho = 1 + Fraction(10.0**power), choice_rho(epsilon)
    assert choice_divergence(epsilon, order) / order <= rho * (1 + Fraction(1, 10**28)) <= epsilon**2 / 8 * 2
    near = choice_divergence(epsilon, 1 + Fraction(1, 10**9)) / rho
    assert near >= 1 - Fraction(1 + epsilon, 10**8)


@settings(max_examples=100, deadline=None)
@given(st.floats(-8.9, 3.9).map(lambda power: Fraction(10.0**power)))
def test_digits_of_a_choice_are_enough(epsilon: Fraction) -> None:
    with mpmath.workdps(200):
        inverse = number(epsilon) / (1 - mpmath.exp(-number(epsilon)))
        exact = inverse - 1 - mpmath.log(inverse)
        assert exact <= number(choice_rho(epsilon)) <= exact * (1 + mpmath.mpf(10) ** -29)


def test_a_step_that_is_not_tested_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: the limit at order 1 is taken for all; for ten values it is not the greatest."""
    monkeypatch.setattr(responses, "covered", lambda divergence, guess, above, end: guess)
    monkeypatch.setattr(responses, "_GUESSES", 0)
    designed_rho.cache_clear()
    try:
        with mpmath.workdps(60):
            assert max(divergence(1.0, 10, order) / order for order in ORDERS) > float(
                designed_rho(Fraction(1), 10)
            )
    finally:
        designed_rho.cache_clear()


@pytest.mark.parametrize("seed", range(5))
def test_steps_cover_a_greatest_that_lies_between(seed: int) -> None:
    """Of any divergence that grows, also one with a jump: no order is above the line."""
    rng = random.Random(seed)
    jump = Decimal(1) + Decimal(rng.random()) * 5

    def divergence(order: Decimal) -> Decimal:
        return order * (Decimal("0.5") if order < jump else Decimal("0.9"))

    t = every_order.covered(divergence, Decimal("0.5"), Decimal("1.01"), lambda t: Decimal(10))
    assert Decimal("0.9") <= t <= Decimal("0.95")


def test_what_is_saved() -> None:
    """One part in a hundred at epsilon 1, a fifth at 4.5; at the ends of the formula nothing."""
    part = {e: float(choice_rho(Fraction(e)) / (Fraction(e) ** 2 / 8)) for e in (0.01, 0.5, 1.0, 2.0, 4.0)}
    assert part == pytest.approx({0.01: 1, 0.5: 0.9966, 1.0: 0.9864, 2.0: 0.949, 4.0: 0.835}, abs=1e-3)
    for epsilon in (Fraction(0), SMALL, Fraction(LARGE + 1)):
        assert choice_rho(epsilon) == epsilon**2 / 8

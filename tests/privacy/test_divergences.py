"""Divergences of events: against quadrature, dp-accounting, and wrong formulas."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.accounting import accountant
from dpsql.accounting.divergences import (
    LARGE,
    SMALL,
    Divergence,
    choice_divergence,
    gaussian_divergence,
    laplace_divergence,
    largest_within,
    response_divergence,
)
from dpsql.accounting.rdp import LEAST
from dpsql.accounting.units import UNIT
from dpsql.ir.event import ChoiceEvent, Event, GaussianEvent, GeometricEvent, LaplaceEvent, ResponseEvent

ALL = (gaussian_divergence, laplace_divergence, response_divergence, choice_divergence)
RATIOS = st.floats(-9, 2).map(lambda power: Fraction(10.0**power))
ORDERS = st.floats(0.302, 4).map(lambda power: Fraction(10.0**power))
SOME = [(0.05, 6.17638), (0.5, 2.0), (0.5, 22.3933), (1.0, 6.17638), (3.0, 2.0), (3.0, 6.17638)]


def number(exact: Fraction) -> mpmath.mpf:
    return mpmath.mpf(exact.numerator) / exact.denominator


def integrated(law: Callable, one: float, other: float, order: float, *places: float) -> mpmath.mpf:
    """ln of the integral of p^a q^(1-a), over (a - 1), for a law (its logarithm) with two centres."""
    with mpmath.workdps(30):
        a = mpmath.mpf(order)
        value = mpmath.quad(lambda x: mpmath.exp(a * law(x, one) + (1 - a) * law(x, other)), places)
        return mpmath.log(value) / (a - 1)


def gaussian_law(x: mpmath.mpf, centre: float) -> mpmath.mpf:
    return -((x - centre) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2


def laplace_law(x: mpmath.mpf, centre: float) -> mpmath.mpf:
    return -abs(x - centre) - mpmath.log(2)


def check_noise(ratio: float, order: float, gaussian: Divergence, laplace: Divergence) -> None:
    """Compare with integrals of noise of scale one, shifted by the ratio, in both directions."""
    for one, other in ((ratio, 0.0), (0.0, ratio)):
        top = order * one + (1 - order) * other
        places = (-mpmath.inf, top - 4, top, top + 4, mpmath.inf)
        exact = integrated(gaussian_law, one, other, order, *places)
        assert abs(number(gaussian(Fraction(ratio), Fraction(order))) - exact) < 1e-12
        places = (-mpmath.inf, 0.0, ratio, mpmath.inf)
        exact = integrated(laplace_law, one, other, order, *places)
        assert abs(number(laplace(Fraction(ratio), Fraction(order))) - exact) < 1e-12


def between(p: list[mpmath.mpf], q: list[mpmath.mpf], order: float) -> mpmath.mpf:
    a = mpmath.mpf(order)
    return mpmath.log(mpmath.fsum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True))) / (a - 1)


def check_geometric(ratio: float, order: float, response: Divergence) -> None:
    """Compare with sums: a shift by one unit, which is as bad as the bit, and by three, which is less bad."""
    with mpmath.workdps(60):
        bound = number(response(Fraction(ratio), Fraction(order)))
        bit = 1 / (1 + mpmath.exp(-mpmath.mpf(ratio)))
        assert abs(between([bit, 1 - bit], [1 - bit, bit], order) - bound) < mpmath.mpf(10) ** -40
        for shift in (1, 3):
            chance, around = mpmath.exp(-mpmath.mpf(ratio) / shift), range(-int(60 / ratio), int(60 / ratio))
            law = [(1 - chance) / (1 + chance) * chance ** abs(k) for k in around]
            shifted = [(1 - chance) / (1 + chance) * chance ** abs(k - shift) for k in around]
            exact = between(law, shifted, order)
            assert exact <= bound + mpmath.mpf(10) ** -40
            assert shift > 1 or exact > bound - mpmath.mpf(10) ** -8


def check_choice(ratio: float, order: float, choice: Divergence) -> None:
    """Compare with choices among weights that a unit multiplies by something from 1 to e^ratio."""
    with mpmath.workdps(40):
        rng, bound, e = random.Random(7), number(choice(Fraction(ratio), Fraction(order))), mpmath.mpf(ratio)
        for _ in range(60):
            weights = [mpmath.exp(rng.uniform(-6, 6)) for _ in range(rng.choice((2, 3, 8)))]
            moved = [w * mpmath.exp(e * rng.choice((0, 1, rng.random()))) for w in weights]
            p, q = [w / sum(weights) for w in weights], [w / sum(moved) for w in moved]
            assert max(between(p, q, order), between(q, p, order)) <= bound * (1 + mpmath.mpf(10) ** -30)

        def two(y: mpmath.mpf) -> mpmath.mpf:
            other = [1 - y, y * mpmath.exp(-e)]
            return between([1 - y, y], [each / sum(other) for each in other], order)

        best = max(two(mpmath.mpf(k) / 1000) for k in range(1, 1000))
        assert bound * (1 - mpmath.mpf(10) ** -4) <= best <= bound * (1 + mpmath.mpf(10) ** -30)


@pytest.mark.parametrize(("ratio", "order"), SOME)
def test_divergences_against_the_laws(ratio: float, order: float) -> None:
    check_noise(ratio, order, gaussian_divergence, laplace_divergence)
    check_geometric(ratio, order, response_divergence)
    check_choice(ratio, order, choice_divergence)


def test_planted_errors_are_found() -> None:
    """Formulas that are nearly right, each below the truth: every comparison above finds its own."""
    low = Fraction(1, 9)
    for ratio, order in ((1.0, 6.17638), (0.5, 3.0)):
        with pytest.raises(AssertionError):
            check_noise(ratio, order, lambda e, a: (a - 1) * e**2 / 2, laplace_divergence)
        with pytest.raises(AssertionError):
            check_noise(ratio, order, gaussian_divergence, lambda e, a: laplace_divergence(e, a - low))
        with pytest.raises(AssertionError):
            check_geometric(ratio, order, laplace_divergence)
        with pytest.raises(AssertionError):
            check_choice(ratio, order, lambda e, a: choice_divergence(e, a - low))
        with pytest.raises(AssertionError):
            check_choice(ratio, order, lambda e, a: choice_divergence(e / 2, a))  # a range of one side only


@pytest.mark.parametrize(("ratio", "order"), SOME)
def test_dp_accounting_agrees(ratio: float, order: float) -> None:
    """Of Gaussian and Laplace noise and of a response, within 1e-9."""
    added, replaced = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
    for event, ours, relation in (
        (dp_event.GaussianDpEvent(1 / ratio), gaussian_divergence, added),
        (dp_event.LaplaceDpEvent(1 / ratio), laplace_divergence, added),
        (dp_event.RandomizedResponseDpEvent(2 / (1 + math.exp(ratio)), 2), response_divergence, replaced),
    ):
        theirs = RdpAccountant([order], relation).compose(event)._rdp[0]
        exact = float(ours(Fraction(ratio), Fraction(order)))
        assert exact == pytest.approx(theirs, rel=1e-9)


@settings(max_examples=300, deadline=None)
@given(RATIOS, ORDERS | st.floats(-4, 0).map(lambda power: 1 + Fraction(10.0**power)), st.floats(0, 2))
def test_divergences_grow_with_the_ratio_and_over_the_order_fall(
    ratio: Fraction, order: Fraction, more: float
) -> None:
    higher = order * (1 + Fraction(more))
    for divergence in ALL:
        here = divergence(ratio, order)
        assert 0 < here <= divergence(ratio * (1 + Fraction(more)), order)
        assert divergence(ratio, higher) / higher <= here / order * (1 + Fraction(1, 10**12))
        assert here <= divergence(ratio, higher) * (1 + Fraction(1, 10**12))


@settings(max_examples=200, deadline=None)
@given(RATIOS, ORDERS)
def test_eighty_digits_are_enough(ratio: Fraction, order: Fraction) -> None:
    """With 300 digits a charge is never more, and less by nothing that counts."""
    with mpmath.workdps(300):
        e, a = number(ratio), number(order)
        laplace = a * mpmath.exp((a - 1) * e) + (a - 1) * mpmath.exp(-a * e)
        response = (mpmath.exp((a - 1) * e) + mpmath.exp(-a * e)) / (1 + mpmath.exp(-e))
        high, low = mpmath.exp(e), mpmath.exp(-(a - 1) * e)
        u = (a - 1) * (high - low) / (a * (1 - low))
        choice = mpmath.log(u) + mpmath.log((high - low) / (a * (high - 1))) / (a - 1)
        for ours, exact in (
            (laplace_divergence, mpmath.log(laplace / (2 * a - 1)) / (a - 1)),
            (response_divergence, mpmath.log(response) / (a - 1)),
            (choice_divergence, min(choice, a * e**2 / 8)),
        ):
            charged = number(ours(ratio, order))
            assert exact <= charged <= exact + mpmath.mpf(10) ** -50 * (1 + e)


def test_choices_are_bounded_where_their_formula_is_not_used() -> None:
    """Just inside the limits the formula is still below both bounds."""
    for order in (Fraction(2), Fraction(22), Fraction(10**4)):
        for ratio in (SMALL, SMALL * Fraction(1001, 1000), Fraction(LARGE), Fraction(LARGE + 1)):
            assert choice_divergence(ratio, order) <= min(order * ratio**2 / 8, ratio + Fraction(1, 10**60))
        assert choice_divergence(SMALL, order) == order * SMALL**2 / 8


@settings(max_examples=60, deadline=None)
@given(st.floats(-12, 3), ORDERS)
def test_the_largest_ratio_within_an_amount(power: float, order: Fraction) -> None:
    amount = Fraction(10.0**power)
    for divergence in ALL[1:]:
        ratio = Fraction(largest_within(divergence, order, amount))
        assert divergence(ratio, order) <= amount
        if ratio < LARGE:
            assert divergence(ratio * (1 + Fraction(1, 10**9)), order) > amount


def random_event(rng: random.Random) -> Event:
    size, scale = rng.randrange(1, 2**30), 10 ** rng.uniform(-1, 12)
    kind = rng.randrange(5)
    if kind > 2:
        return (ChoiceEvent, ResponseEvent)[kind - 3](10 ** round(rng.uniform(-7, 2), 2))
    return (GaussianEvent, LaplaceEvent, GeometricEvent)[kind](size, scale)


def test_no_event_costs_more_than_its_order_times_the_zcdp_charge() -> None:
    """10,000 random events, at orders from 2 to 100; and one unit of rounding."""
    rng, zcdp = random.Random(3), accountant("zcdp")
    for _ in range(10_000):
        order = round(max(LEAST, 10 ** rng.uniform(0.3, 2)), 4)
        event = random_event(rng)
        dear = Fraction(order) * zcdp.charge((event,)).main
        assert accountant("rdp").bound(order, False).charge((event,)).main <= dear + 1


def test_units() -> None:
    """alpha D^2 / 2 sigma^2 at (10, 43, 22): .5949161709, rounded up; noise far below a unit costs one."""
    rules = accountant("rdp").bound(22.0, False)
    assert rules.charge((GaussianEvent(10, 43.0),)).main == -(-22 * 100 * UNIT // (2 * 43**2))
    assert rules.charge((LaplaceEvent(1, 1e9),)).main == 1 + 11 * 10**-3 * UNIT // 10**15
    assert rules.charge((LaplaceEvent(0, 3.0),)).main == rules.charge((ResponseEvent(0.0),)).main == 0
    for order in (None, 1.0, 1.999, math.nan, math.inf, 2):
        with pytest.raises(ValueError, match="no ledger can have the order"):
            accountant("rdp").bound(order, False)
    with pytest.raises(TypeError, match="before a ledger is opened"):
        accountant("rdp").charge((LaplaceEvent(1, 3.0),))

"""Conversions against published values and other libraries; one suite for every accountant."""

import itertools
import json
import math
import random
from fractions import Fraction

import dp_accounting
import mpmath
import opendp.prelude as opendp
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.accounting import DELTA_UNIT, Accountant, Budget, accountants, concentrated, names, opened
from dpsql.accounting import accountant as on_the_shelf
from dpsql.accounting.conversions import (
    _ULPS,
    analytic_sigma,
    gaussian_delta,
    laplace_eps0,
    laplace_rho,
    rho_sigma,
    zcdp_eps,
    zcdp_rho,
)
from dpsql.accounting.rounding import at_most
from dpsql.accounting.units import UNIT, Units
from dpsql.errors import DatabaseError
from dpsql.ir.event import (
    ChoiceEvent,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)
from dpsql.mechanisms import at_least, mechanism

ONE = Budget(1.0, 1e-6)
EPSILONS = st.floats(1e-3, 30)
FIXED = 0.8e-6
"""The part of the delta of ``ONE`` that turns divergences into epsilon."""


def accountant(name: str, budget: Budget = ONE) -> Accountant:
    """The accountant of a ledger that is opened with this budget."""
    return opened(name, budget)


DELTAS = st.floats(-15, -2).map(lambda exponent: 10.0**exponent)


# -- conversions


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (0.1, 1e-6, 36.304690),
        (0.5, 1e-6, 8.057618),
        (1, 1e-5, 3.730632),
        (1, 1e-6, 4.224679),
        (1, 1e-8, 5.100309),
        (1, 1e-9, 5.495266),
        (2, 1e-6, 2.230476),
        (3, 1e-6, 1.543861),
        (5, 1e-6, 0.980049),
        (10, 1e-6, 0.541087),
    ],
)
def test_analytic_sigma(epsilon, delta, sigma):
    assert analytic_sigma(epsilon, delta) == pytest.approx(sigma, abs=6e-7)


def test_the_gaussian_curve():
    assert gaussian_delta(1.0, 1.0) == pytest.approx(0.126936738, abs=1e-9)
    assert gaussian_delta(2.0, 0.5) == pytest.approx(0.052440323, abs=1e-9)
    for sigma, epsilon in ((1, 4.886554), (4, 1.060702), (10, 0.396857)):
        assert gaussian_delta(sigma, epsilon) == pytest.approx(1e-6, rel=2e-5)


def curve(sigma, epsilon):
    """The same with 60 digits more than cancel."""
    with mpmath.workdps(60 + int(epsilon)):
        s, e = mpmath.mpf(sigma), mpmath.mpf(epsilon)

        def phi(x):
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        return phi(1 / (2 * s) - e * s) - mpmath.exp(e) * phi(-1 / (2 * s) - e * s)


@settings(max_examples=150, deadline=None)
@given(st.floats(-3, 6), st.floats(-6, 2.8))
def test_the_gaussian_curve_is_never_below_the_truth(sigma, epsilon):
    sigma, epsilon = 10.0**sigma, 10.0**epsilon
    truth = curve(sigma, epsilon)
    assert truth <= gaussian_delta(sigma, epsilon) <= truth * (1 + 1e-9 + 1e-11 * sigma) + 1e-15


@settings(max_examples=60, deadline=None)
@given(st.floats(-4, 3), DELTAS)
def test_analytic_sigma_keeps_its_delta_and_wastes_nothing(epsilon, delta):
    epsilon = 10.0**epsilon
    sigma = analytic_sigma(epsilon, delta)
    assert curve(sigma, epsilon) <= delta
    assert curve(sigma * (1 - 1e-6), epsilon) > delta or gaussian_delta(sigma * (1 - 1e-4), epsilon) > delta


def test_the_classical_sigma_would_be_wrong_above_epsilon_one():
    """sqrt(2 ln 1.25/delta)/eps at (10, 1e-6) is .5299, less than what (10, 1e-6) needs."""
    assert math.sqrt(2 * math.log(1.25e6)) / 10 < 0.531 < analytic_sigma(10.0, 1e-6)


def test_zcdp_values():
    assert zcdp_rho(1, 1e-6) == pytest.approx(0.02435597, abs=6e-9)
    assert zcdp_rho(0.5, 1e-6) == pytest.approx(0.00664152, abs=6e-9)
    assert zcdp_rho(2, 1e-8) == pytest.approx(0.06394045, abs=6e-9)
    assert rho_sigma(Fraction(zcdp_rho(1, 1e-6))) == pytest.approx(4.530877, abs=6e-7)
    assert zcdp_eps(0.5, 1e-6) == pytest.approx(5.221534, abs=1e-6)
    assert zcdp_eps(0.1, 1e-6) == pytest.approx(2.141939, abs=1e-6)
    assert zcdp_eps(0.02, 1e-9) == pytest.approx(1.163287, abs=1e-6)
    assert zcdp_eps(1, 1e-5) == pytest.approx(7.077197, abs=1e-6)
    assert zcdp_rho(1, 1e-6) > 1.39 * 0.01746890  # the older formula (Bun and Steinke)


@settings(max_examples=80, deadline=None)
@given(st.floats(-6, 2), DELTAS)
def test_zcdp_there_and_back(rho, delta):
    rho = 10.0**rho
    epsilon = zcdp_eps(rho, delta)
    if epsilon > 1e-4:
        assert zcdp_rho(epsilon, delta) == pytest.approx(rho, rel=1e-6)
    # an order is a proof: with 60 digits, some order shows delta(rho, epsilon) <= delta
    with mpmath.workdps(60):
        r, e = mpmath.mpf(rho), mpmath.mpf(epsilon) + mpmath.mpf(10) ** -300

        def log_delta(t):
            b = mpmath.exp(t)
            return b * ((b + 1) * r - e) - (b + 1) * mpmath.log1p(1 / b) - mpmath.log(b)

        low, high = mpmath.mpf(-40), mpmath.mpf(40)
        for _ in range(120):
            third = (high - low) / 3
            low, high = (
                (low + third, high)
                if log_delta(low + third) > log_delta(high - third)
                else (low, high - third)
            )
        assert log_delta(low) <= mpmath.log(mpmath.mpf(delta)) + mpmath.mpf(10) ** -12
        if epsilon > 1e-4:
            e *= 1 - mpmath.mpf(10) ** -6
            assert log_delta(low) > mpmath.log(mpmath.mpf(delta))


def test_other_libraries_agree():
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l2_distance(T=float)
    for epsilon, delta in ((1.0, 1e-6), (0.3, 1e-9), (4.0, 1e-5)):
        scale = rho_sigma(Fraction(zcdp_rho(epsilon, delta)))
        gaussian = opendp.c.make_zCDP_to_approxDP(opendp.m.make_gaussian(*space, scale=scale))
        assert gaussian.map(1.0).epsilon(delta=delta) == pytest.approx(epsilon, rel=1e-6)
        sigma = analytic_sigma(epsilon, delta)
        assert GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-6)
        assert sigma == pytest.approx(dp_accounting.get_sigma_gaussian(epsilon, delta), rel=1e-6)


@given(st.floats(-12, 3))
def test_laplace_rho_with_and_without_cancellation(exponent):
    """In float64 eps0 - 1 + exp(-eps0) is 0.0 at 3e-9."""
    eps0 = Fraction(10.0**exponent)
    with mpmath.workdps(80):
        x = mpmath.mpf(eps0.numerator) / eps0.denominator
        truth = x + mpmath.expm1(-x)
    rho = laplace_rho(eps0)
    with mpmath.workdps(80):
        ours = mpmath.mpf(rho.numerator) / rho.denominator
        assert truth * (1 - mpmath.mpf(10) ** -70) <= ours <= truth * (1 + mpmath.mpf(10) ** -40)
    assert rho <= eps0**2 / 2
    assert laplace_eps0(rho) == pytest.approx(float(eps0), rel=1e-14)
    assert laplace_rho(Fraction(laplace_eps0(rho))) <= rho


@given(st.floats(-75, 20), st.integers(1, 2**60))
def test_noise_for_a_price_is_what_halving_finds_to_the_last_bit(power: float, odd: int) -> None:
    """Newton's steps only say where to look: prices from 2^-75 to 2^20, of few bits and of many."""
    for rho in (Fraction(2.0**power), Fraction(2.0**power) * Fraction(odd, 2**60)):
        low = math.sqrt(2 * at_most(rho)) * (1 - _ULPS)
        high = at_least(rho) + low + math.ulp(low)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if laplace_rho(Fraction(middle)) <= rho else (low, middle)
        assert laplace_eps0(rho) == low


def test_laplace_rho_values():
    assert float(laplace_rho(Fraction(1))) == pytest.approx(math.exp(-1), rel=1e-15)
    assert laplace_rho(Fraction(0)) == 0
    assert laplace_rho(Fraction(10**30)) >= 10**30 - 1


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_conversions_need_a_delta(delta):
    for convert in (analytic_sigma, zcdp_eps, zcdp_rho):
        with pytest.raises(ValueError, match="no conversion"):
            convert(1.0, delta)


@given(st.fractions())
def test_at_most(number):
    assert Fraction(at_most(number)) <= number < Fraction(math.nextafter(at_most(number), math.inf))


# -- every accountant


SOME = {
    "pure": (
        LaplaceEvent(1, 3.0),
        LaplaceEvent(7, 1e3),
        LaplaceEvent(2**40, 1e13),
        ChoiceEvent(0.1),
        GeometricEvent(7, 1e3),
    ),
    "approx": (
        LaplaceEvent(1, 3.0),
        LaplaceEvent(7, 1e3),
        GaussianEvent(10, 43.0, 1.0, 1e-6),
        ThresholdEvent(1e-9),
        ThresholdEvent(1e-18),
        ChoiceEvent(1e-5),
    ),
    "zcdp": (
        LaplaceEvent(1, 3.0),
        LaplaceEvent(7, 1e9),
        GeometricEvent(7, 1e9),
        GaussianEvent(10, 43.0),
        GaussianEvent(3, 1e7),
        ThresholdEvent(1e-9),
        ThresholdEvent(1e-18),
        ChoiceEvent(1e-5),
    ),
    "rdp": (
        LaplaceEvent(1, 3.0),
        LaplaceEvent(7, 1e9),
        GeometricEvent(7, 1e9),
        GaussianEvent(10, 43.0),
        ThresholdEvent(1e-9),
        ChoiceEvent(1e-5),
        ChoiceEvent(2.0),
    ),
}


ENTRY_KEYS = {
    *("kind", "time", "analyst", "epsilon", "debit", "sha256"),
    *("sql", "digest", "version", "events", "parameters", "finds", "strength", "asker"),
    *("promise", "salt", "accounts", "place", "facts"),
}
"""What the ledger's entries hold beside an amount."""


def test_ledgers_hold_the_keys_that_they_always_held():
    """A ledger that exists is read, and goes on as it began."""
    for name in ("approx", "pure", "zcdp"):
        chosen = accountant(name)
        assert chosen.read({"main": 10**40, "delta": 7}) == Units(10**40, 7)
        assert chosen.read({"main": 10**40, "delta": 7}).written() == {"main": 10**40, "delta": 7}


def test_the_shelf():
    assert names() == ("approx", "pure", "rdp", "zcdp")
    assert [each.name for each in accountants()] == ["zcdp", "pure", "approx", "rdp"]
    assert set(SOME) == set(names())
    assert all(accountant(name).name == name for name in names())
    with pytest.raises(KeyError):
        on_the_shelf("renyi")


@pytest.mark.parametrize("name", names())
def test_an_amount_is_written_and_read_again(name):
    """Beside what an entry says otherwise: no key is taken twice."""
    chosen = accountant(name)
    spent = chosen.charge(SOME[name])
    assert chosen.read(json.loads(json.dumps({"epsilon": 1.0, **spent.written()}))) == spent
    assert [*spent.written()] == [*chosen.zero.written()]
    assert not ENTRY_KEYS & {*spent.written()}
    assert spent - spent == chosen.zero
    assert spent
    assert not chosen.zero


@pytest.mark.parametrize("name", names())
def test_charges_do_not_depend_on_order_or_grouping(name):
    charge = accountant(name).charge
    whole = charge(SOME[name])
    for events in itertools.permutations(SOME[name]):
        assert charge(events) == whole
    assert sum((charge((event,)) for event in SOME[name]), Units()) == whole
    assert charge(()) == Units()


INVERSE = 0.1 / -math.expm1(-0.1)
WORST_OF_A_CHOICE = INVERSE - 1 - math.log(INVERSE)  # a little less than 0.1**2 / 8


@pytest.mark.parametrize(("name", "cost"), [("pure", 0.1), ("approx", 0.1), ("zcdp", WORST_OF_A_CHOICE)])
def test_a_choice_costs_its_range(name, cost):
    assert accountant(name).charge((ChoiceEvent(0.1),)).main == pytest.approx(cost * UNIT, rel=1e-9)


@pytest.mark.parametrize("name", names())
def test_the_choice_that_a_price_buys_costs_no_more_than_its_share(name):
    budget = Budget(8.0, 1e-6)
    chosen = accountant(name, budget)
    for epsilon, parts in itertools.product((1e-3, 0.1, 1.0, 8.0), (1, 3, 7)):
        allowed = chosen.allowance(epsilon, budget, Fraction(1, parts), thresholds=False)
        events = (ChoiceEvent(allowed.choice),) * parts
        whole = chosen.allowance(epsilon, budget, Fraction(1), thresholds=False)
        alone = chosen.charge((ChoiceEvent(whole.choice),))
        most = max(alone.main, whole.choice**2 / 8 * UNIT) if name == "zcdp" else alone.main
        assert 0.999 * alone.main <= chosen.charge(events).main <= most + parts
        assert alone.within(chosen.total(budget))


@pytest.mark.parametrize("name", names())
def test_every_event_costs_something_and_more_sensitivity_costs_more(name):
    charge = accountant(name).charge
    for event in SOME[name]:
        cost = charge((event,))
        assert cost != Units()
        assert Units().within(cost)
        if isinstance(event, LaplaceEvent):
            assert cost.within(charge((LaplaceEvent(event.sensitivity + 1, event.scale),)))
            assert charge((LaplaceEvent(event.sensitivity, event.scale * 1.0001),)).within(cost)
            assert charge((LaplaceEvent(0, event.scale),)) == Units()
        if isinstance(event, GaussianEvent):
            assert charge((GaussianEvent(0, event.scale),)) == Units()


@pytest.mark.parametrize("name", names())
def test_unknown_events_are_refused_by_name(name):
    class DiscreteLaplaceEvent:
        def __repr__(self):
            return "DiscreteLaplaceEvent()"

    with pytest.raises((TypeError, AssertionError), match="DiscreteLaplaceEvent"):
        accountant(name).charge((DiscreteLaplaceEvent(),))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_events_that_cannot_have_happened(name, scale):
    with pytest.raises(ValueError, match="no mechanism"):
        accountant(name).charge((LaplaceEvent(1, scale),))
    with pytest.raises(ValueError, match="no mechanism"):
        accountant(name).charge((LaplaceEvent(-1, 1.0),))
    if accountant(name).has_delta:
        with pytest.raises(ValueError, match="no threshold"):
            accountant(name).charge((ThresholdEvent(-1e-9),))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan, 1e-16, 1e-300])
def test_prices_that_buy_nothing_are_refused(name, epsilon):
    with pytest.raises(DatabaseError) as refusal:
        accountant(name).allowance(epsilon, ONE, Fraction(1), False)
    assert refusal.value.code == "D503"


def plan(allowance, name, sensitivity):
    """What a planner makes of an allowance for one measure."""
    chosen = mechanism(name)
    if name == "laplace":
        scale = chosen.scale_for(sensitivity, 1 / allowance.laplace)
        noise, delta = chosen.event(sensitivity, scale), allowance.laplace_delta
    else:
        scale = chosen.scale_for(sensitivity, allowance.gaussian)
        point = allowance.gaussian_epsilon, allowance.gaussian_point_delta
        noise, delta = chosen.event(sensitivity, scale, *point), allowance.gaussian_delta
    return (noise,) if delta is None else (noise, ThresholdEvent(delta))


def noises(name):
    return ("laplace", "gaussian") if accountant(name).has_delta else ("laplace",)


def priced(name, epsilon, budget):
    """The most that a price may come to: what it buys alone, and no larger part of all than of epsilon."""
    chosen = accountant(name, budget)
    total = chosen.total(budget)
    alone = chosen.total(Budget(epsilon, budget.delta)).main
    main = min(alone, math.ceil(total.main * Fraction(epsilon) / Fraction(budget.epsilon)))
    return Units(main, total.delta * main // total.main)


@pytest.mark.parametrize("name", names())
@settings(max_examples=80, deadline=None)
@given(epsilon=EPSILONS, part=st.floats(0.001, 1), delta=DELTAS, measures=st.integers(1, 9), data=st.data())
def test_a_plan_never_costs_more_than_its_price(name, epsilon, part, delta, measures, data):
    budget, price = Budget(epsilon, delta), max(1e-4, epsilon * part)
    events, capped = (), False  # under rdp, the epsilon of Laplace noise alone is at most the price
    for _ in range(measures):
        thresholds = data.draw(st.booleans()) and accountant(name, budget).has_delta
        allowance = accountant(name, budget).allowance(price, budget, Fraction(1, measures), thresholds)
        noise = data.draw(st.sampled_from(noises(name)))
        capped = capped or (noise == "laplace" and allowance.laplace >= price * (1 - 1e-9))
        events += plan(allowance, noise, data.draw(st.integers(1, 2**40)))
    cost, most = accountant(name, budget).charge(events), priced(name, price, budget)
    assert cost.within(most)
    # and the price is used, but for a few units per measure, and what solving for noise leaves
    near = 2e-15 if accountant(name, budget).noise_power == 1 else 1e-9
    assert cost.main >= most.main * (1 - near) - 3 * measures or (capped and name == "rdp")


@pytest.mark.parametrize("name", names())
@settings(max_examples=80, deadline=None)
@given(epsilon=EPSILONS, delta=DELTAS, queries=st.integers(1, 60), sensitivity=st.integers(1, 2**40))
def test_equal_parts_of_the_budget_all_fit(name, epsilon, delta, queries, sensitivity):
    budget = Budget(epsilon, delta)
    total = accountant(name, budget).total(budget)
    for noise in noises(name):
        thresholds = accountant(name, budget).has_delta
        allowance = accountant(name, budget).allowance(epsilon / queries, budget, Fraction(1), thresholds)
        each = accountant(name, budget).charge(plan(allowance, noise, sensitivity))
        spent = sum((each for _ in range(queries)), Units())
        assert spent.within(total)
        shown = accountant(name, budget).epsilon(spent, budget)
        assert shown <= epsilon * (1 + 1e-11)
        if accountant(name, budget).noise_power == 1:
            assert shown == pytest.approx(epsilon, rel=1e-9)
            assert not (spent + each).within(total)


@pytest.mark.parametrize("name", names())
def test_what_is_shown(name):
    """Ten queries of .1 show as .1, .2 ... 1; under zcdp ten together show as less."""
    chosen = accountant(name)
    assert chosen.epsilon(Units(), ONE) == 0
    each = chosen.charge(plan(chosen.allowance(0.1, ONE, Fraction(1), False), "laplace", 1000))
    shown = [chosen.epsilon(Units(k * each.main, k * each.delta), ONE) for k in range(11)]
    assert shown == sorted(shown)
    assert shown[1] == pytest.approx(0.1, rel=1e-8)
    assert shown[10] == (1.0 if chosen.noise_power == 1 else pytest.approx(0.3437, abs=0.01))
    assert chosen.epsilon(chosen.total(ONE), ONE) == pytest.approx(1.0, rel=1e-9)
    assert chosen.epsilon(chosen.total(ONE), ONE) <= 1.0


def test_totals():
    """zcdp: rho(1, .8e-6) and .2e-6; deltas are counted in 1e-24, and rounded down."""
    assert accountant("pure").total(ONE) == Units(UNIT, 0)
    assert accountant("approx").total(ONE) == Units(UNIT, math.floor(Fraction(1e-6) * DELTA_UNIT))
    total = accountant("zcdp").total(ONE)
    assert total.main / UNIT == pytest.approx(zcdp_rho(1.0, 0.8e-6), rel=1e-12)
    assert total.delta == math.floor(Fraction(1e-6) / 5 * DELTA_UNIT)
    assert accountant("approx").total(Budget(1.0, 0.0)) == Units(UNIT, 0)


def test_thresholds_run_out_together_with_the_rest():
    for name in ("approx", "rdp", "zcdp"):
        budget = Budget(2.0, 1e-5)
        chosen = accountant(name, budget)
        half = chosen.allowance(2.0, budget, Fraction(1, 2), True)
        full = chosen.allowance(2.0, budget, Fraction(1), True)
        all_of_it = chosen.delta(chosen.total(budget)) / DELTA_UNIT
        assert full.laplace_delta == pytest.approx(all_of_it, rel=1e-9)
        assert half.laplace_delta == pytest.approx(full.laplace_delta / 2, rel=1e-9)
        assert half.gaussian_delta == pytest.approx(full.gaussian_delta / 2, rel=1e-9)


# -- each accountant


def test_rdp_opens_at_the_order_that_is_best_for_its_budget():
    """r(a)/a at the order, and beside it less: .53478 for (1, 1e-6), 2.81630 for (5, 1e-6)."""
    for budget, order, cap in ((ONE, 22.3933, 0.534781), (Budget(5.0, 1e-6), 6.17638, 2.816305)):
        chosen = accountant("rdp", budget)

        def conversion(a, epsilon=budget.epsilon):
            with mpmath.workdps(40):
                a, d = mpmath.mpf(a), mpmath.mpf(FIXED)
                return epsilon - mpmath.log(1 - 1 / a) + mpmath.log(d * a) / (a - 1)

        assert chosen.order == order
        assert chosen.total(budget).main / UNIT == pytest.approx(cap, abs=1e-6)
        exact = conversion(order) * UNIT
        assert abs(exact - chosen.total(budget).main) <= exact * 1e-10  # the order has six digits
        for other in (order * 0.99, order * 1.01):
            assert conversion(other) / other < conversion(order) / order
    # where the best order is below 2, it is 2; a ledger for a larger budget has the order of that one
    assert accountant("rdp", Budget(60.0, 1e-6)).order == 2.0
    assert accountant("rdp", Budget(1.0, 1e-6, up_to=5.0)) == accountant("rdp", Budget(5.0, 1e-6))
    assert accountant("rdp", Budget(5.0, 1e-6, 1.2)).order == accountant("rdp", Budget(3.8, 1e-6)).order


@settings(max_examples=100, deadline=None)
@given(EPSILONS, EPSILONS, DELTAS)
def test_rdp_of_another_epsilon_than_the_ledger_was_opened_with(opening, epsilon, delta):
    """An analyst's cap, a price, or a later grant: it is (epsilon, .8 delta)-private at a higher order."""
    chosen, budget = accountant("rdp", Budget(opening, delta)), Budget(epsilon, delta)
    amount, zcdp = chosen.total(budget).main, accountant("zcdp", budget).total(budget).main
    with mpmath.workdps(60):
        d, least = mpmath.mpf(delta) * 4 / 5, mpmath.mpf(chosen.order)
        rho = mpmath.mpf(amount) / UNIT / least

        def epsilon_at(a):
            return a * rho + mpmath.log(1 - 1 / a) - mpmath.log(d * a) / (a - 1)

        low, high = mpmath.mpf(0), mpmath.mpf(40)  # of the logarithm of the order over the least one
        for _ in range(100):
            one, other = (2 * low + high) / 3, (low + 2 * high) / 3
            worse = epsilon_at(least * mpmath.exp(one)) > epsilon_at(least * mpmath.exp(other))
            low, high = (one, high) if worse else (low, other)
        assert amount == 0 or epsilon_at(least * mpmath.exp(low)) <= epsilon * (1 + mpmath.mpf(10) ** -14)
    assert amount <= Fraction(chosen.order) * zcdp * (1 + Fraction(1, 10**12)) + chosen.order
    if epsilon <= opening and amount and chosen.order > 2:
        assert amount >= Fraction(chosen.order) * zcdp * (1 - Fraction(1, 10**8)) - chosen.order
    shown = chosen.epsilon(chosen.charge((GaussianEvent(1, 30.0),)), budget)
    assert shown >= accountant("zcdp", budget).epsilon(Units(UNIT // 1800), budget) * (1 - 1e-9)


@pytest.mark.parametrize("name", names())
def test_random_events_add_up_in_any_order(name):
    """500 lists: order-free, monotone, and never below the exact curve of their Gaussians alone."""
    rng, budget = random.Random(5), Budget(30.0, 1e-6)
    chosen = accountant(name, budget)
    for _ in range(500):
        scales = [10 ** rng.uniform(0.5, 3) for _ in range(rng.randrange(1, 6))]
        events = [GaussianEvent(1, scale) for scale in scales] if name in ("zcdp", "rdp") else []
        events += [
            rng.choice((ChoiceEvent(0.3), LaplaceEvent(3, 8.0), ResponseEvent(0.2), GeometricEvent(2, 9.0)))
            for _ in range(rng.randrange(4))
        ]
        whole = chosen.charge(tuple(events))
        rng.shuffle(events)
        assert chosen.charge(tuple(events)) == whole == sum(map(chosen.charge, zip(events)), Units())
        for place in range(len(events)):
            assert chosen.charge((*events[:place], *events[place + 1 :])).within(whole)
        if name in ("zcdp", "rdp"):
            together = 1 / math.sqrt(sum(scale**-2 for scale in scales))
            assert gaussian_delta(together, chosen.epsilon(whole, budget)) <= FIXED


def test_rdp_is_never_below_the_exact_composition():
    """100 Laplaces of b = 20, and 20 of b = 2, by privacy loss distributions; within a third of them."""
    budget = Budget(9.0, 1e-6)
    chosen = accountant("rdp", budget)
    for scale, many in ((20.0, 100), (2.0, 20)):
        spent = sum((chosen.charge((LaplaceEvent(1, scale),)) for _ in range(many)), Units())
        exact = pld.from_laplace_mechanism(scale, value_discretization_interval=1e-3).self_compose(many)
        exact = exact.get_epsilon_for_delta(FIXED)
        assert exact <= chosen.epsilon(spent, budget) <= 1.34 * exact


def test_a_wrong_order_or_cap_is_found(monkeypatch):
    """Planted: the order of a smaller budget's optimum kept as if it were best; a cap of the whole delta."""
    budget = Budget(5.0, 1e-6)
    chosen = accountant("rdp", budget)
    assert (
        on_the_shelf("rdp").bound(22.3933, False).total(budget).main / 22.3933
        < chosen.total(budget).main / 6.17
    )
    monkeypatch.setattr(concentrated, "conversion_delta", lambda budget: budget.delta)
    concentrated._total.cache_clear()
    with mpmath.workdps(40):
        a = mpmath.mpf(chosen.order)
        exact = 5 - mpmath.log(1 - 1 / a) + mpmath.log(mpmath.mpf(FIXED) * a) / (a - 1)
    assert chosen.total(budget).main > exact * UNIT
    concentrated._total.cache_clear()


def test_pure():
    chosen = accountant("pure")
    allowance = chosen.allowance(1.0, ONE, Fraction(1, 4), True)
    assert allowance.laplace == pytest.approx(0.25)
    assert (allowance.gaussian, allowance.laplace_delta, allowance.gaussian_delta) == (None, None, None)
    assert chosen.charge((LaplaceEvent(1, 3.0),)).main == 333_333_333_333_334  # 1/3, rounded up
    for event in (GaussianEvent(1, 1.0), GaussianEvent(1, 4.3, 1.0, 1e-6), ThresholdEvent(1e-9)):
        with pytest.raises(TypeError, match=type(event).__name__):
            chosen.charge((event,))


def test_approx_verifies_the_planned_point():
    """sigma 4.2247 is (1, 1e-6) but not (1, 9.9e-7), nor with sensitivity 1.01."""
    chosen, scale = accountant("approx"), 42246.9
    assert chosen.charge((GaussianEvent(10_000, scale, 1.0, 1e-6),)) == Units(
        UNIT, math.ceil(Fraction(1e-6) * DELTA_UNIT)
    )
    for wrong in (
        GaussianEvent(10_000, scale, 1.0, 9.9e-7),
        GaussianEvent(10_100, scale, 1.0, 1e-6),
        GaussianEvent(10_000, scale, 0.99, 1e-6),
        GaussianEvent(10_000, scale, -1.0, 1.0),
        GaussianEvent(10_000, scale, math.nan, 1.0),
        GaussianEvent(10_000, scale, 1.0, math.nan),
    ):
        with pytest.raises(ValueError, match="not on the curve"):
            chosen.charge((wrong,))
    with pytest.raises(TypeError, match="no point"):
        chosen.charge((GaussianEvent(10_000, scale),))


def test_approx_splits_delta():
    """55 : 45 beside a threshold; all of it without; none where the budget has none."""
    chosen = accountant("approx")
    allowance = chosen.allowance(1.0, ONE, Fraction(1), True)
    assert allowance.gaussian == pytest.approx(4.346044, abs=1e-6)
    assert allowance.gaussian_point_delta == pytest.approx(0.55e-6)
    assert allowance.gaussian_delta == pytest.approx(0.45e-6)
    allowance = chosen.allowance(1.0, ONE, Fraction(1), False)
    assert allowance.gaussian == pytest.approx(4.224679, abs=1e-6)
    assert (allowance.laplace_delta, allowance.gaussian_delta) == (None, None)
    allowance = chosen.allowance(1.0, Budget(1.0, 0.0), Fraction(1), True)
    assert (allowance.gaussian, allowance.laplace_delta, allowance.gaussian_delta) == (None, None, None)


def test_zcdp_charges():
    """10^2 / (2 * 43^2) = .0270416441, rounded up; Laplace of eps0 = 1 costs 1/e; 1e-9 is not free."""
    chosen = accountant("zcdp")
    assert chosen.charge((GaussianEvent(10, 43.0),)).main == -(-100 * UNIT // (2 * 43**2))
    assert chosen.charge((LaplaceEvent(5, 5.0),)).main == math.ceil(math.exp(-1) * UNIT)
    assert chosen.charge((LaplaceEvent(1, 1e9),)).main == 1
    assert chosen.charge((GaussianEvent(1, 1e30),)).main == 1
    assert chosen.charge((ThresholdEvent(1e-30),)) == Units(0, 1)
    rng = random.Random(1)
    for _ in range(200):
        event = LaplaceEvent(rng.randrange(1, 2**30), 10 ** rng.uniform(-1, 15))
        eps0 = Fraction(event.sensitivity) / Fraction(event.scale)
        with mpmath.workdps(60):
            x = mpmath.mpf(eps0.numerator) / eps0.denominator
            units = (x + mpmath.expm1(-x)) * UNIT
            assert units <= chosen.charge((event,)).main <= units + 1 + mpmath.mpf(10) ** -20


def test_zcdp_is_never_below_the_exact_composition():
    """100 Gaussians of sigma 50 are one of sigma 5; 300 Laplaces of b = 100 by privacy loss distributions."""
    chosen, delta = accountant("zcdp"), 0.8e-6
    spent = sum((chosen.charge((GaussianEvent(1000, 50_000.0),)) for _ in range(100)), Units())
    shown = chosen.epsilon(spent, Budget(9.0, 1e-6))
    assert gaussian_delta(5.0, shown) <= delta
    assert gaussian_delta(5.0, shown / 1.1) > delta
    spent = sum((chosen.charge((LaplaceEvent(10, 1000.0),)) for _ in range(300)), Units())
    shown = chosen.epsilon(spent, Budget(9.0, 1e-6))
    exact = pld.from_laplace_mechanism(100.0, value_discretization_interval=1e-3).self_compose(300)
    assert exact.get_epsilon_for_delta(delta) <= shown <= 1.15 * exact.get_epsilon_for_delta(delta)


def test_approx_and_pure_are_never_below_the_exact_composition():
    pure = accountant("pure").charge((LaplaceEvent(1, 10.0),) * 30)
    exact = pld.from_laplace_mechanism(10.0, value_discretization_interval=1e-3).self_compose(30)
    assert exact.get_epsilon_for_delta(1e-12) <= pure.main / UNIT + 1e-9
    sigma = analytic_sigma(0.2, 1e-7)
    spent = accountant("approx").charge((GaussianEvent(1, sigma * (1 + 1e-15), 0.2, 1e-7),) * 9)
    assert gaussian_delta(sigma / 3, spent.main / UNIT) <= spent.delta / DELTA_UNIT


@pytest.mark.parametrize(("sigma", "queries"), [(10, 4), (20, 19), (50, 121), (100, 487)])
def test_how_many_gaussian_queries_a_budget_holds(sigma, queries):
    """At rho(1, 1e-6) = .02435597: floor(.02435597 * 2 sigma^2); all of 1e-6 here, so 1.25e-6 is granted."""
    chosen = accountant("zcdp")
    total, each = chosen.total(Budget(1.0, 1.25e-6)), chosen.charge((GaussianEvent(1, float(sigma)),))
    assert total.main // each.main == queries

"""Geometric noise: its law, its reach, its price, and where the plan takes it."""

import math
import os
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpsql
from dpsql.accounting import accountant
from dpsql.accounting.units import UNIT
from dpsql.audit import owners_session, plan_of
from dpsql.ir.event import GeometricEvent
from dpsql.mechanisms import geometric, mechanism, sampler
from dpsql.rewrite.statistics import GRID

STEP = geometric.UNIT


def chance(k, t):
    """(1 - q) / (1 + q) q^|k|, q = exp(-1/t)."""
    return math.tanh(0.5 / t) * math.exp(-abs(k) / t)


def test_a_unit_is_what_a_row_counts():
    assert STEP == GRID


@pytest.mark.parametrize("t", [0.25, 1.0, 3.7, 40.0])
def test_law(t):
    """Chi-square over the values that are expected 20 times. The bytes are seeded: nothing fails by chance.

    A fresh seed would fail once in a million: 4.9 deviations.
    """
    size = 200_000
    drawn = geometric.draw(t * STEP, size, random.Random(f"law {t}").randbytes)
    assert not (drawn % STEP).any()
    units = drawn // STEP
    most = next(k for k in range(10_000) if size * chance(k + 1, t) < 20)
    observed = np.array([(units == k).sum() for k in range(-most, most + 1)])
    expected = size * np.array([chance(k, t) for k in range(-most, most + 1)])
    rest = size - expected.sum()
    chi = ((observed - expected) ** 2 / expected).sum() + ((size - observed.sum() - rest) ** 2 / max(rest, 1))
    freedom = 2 * most + 1
    assert chi < freedom + 4.9 * math.sqrt(2 * freedom) + 24


@pytest.mark.parametrize(("t", "variance"), [(1, 1.841347), (2, 7.835396), (10, 199.833417)])
def test_deviation(t, variance):
    assert (geometric.deviation(t * STEP) / STEP) ** 2 == pytest.approx(variance, rel=1e-6)


def test_at_any_price_there_is_a_deviation():
    for price in (1e3, 1.5e3, 1e4, 1e300):
        assert 0 < geometric.deviation(geometric.scale_for(STEP, 1 / price)) < 1e-100


@pytest.mark.parametrize(
    ("t", "width", "coverage"),
    [(1, 3, 0.97322), (2, 6, 0.962407), (5, 15, 0.955175), (10, 30, 0.9527), (100, 300, 0.950462)],
)
def test_half_width_is_the_least_that_covers(t, width, coverage):
    assert geometric.half_width(t * STEP) == width * STEP
    assert sum(chance(k, t) for k in range(-width, width + 1)) == pytest.approx(coverage, abs=1e-5)
    assert sum(chance(k, t) for k in range(1 - width, width)) < 0.95


def test_neighbours_differ_by_epsilon_and_no_more():
    """Counts that one unit moves by 2, at epsilon 0.8: every chance differs by e^0.8 at most."""
    t = geometric.scale_for(2 * STEP, 1 / 0.8) / STEP
    ratios = [chance(k - 2, t) / chance(k, t) for k in range(-50, 50)]
    assert max(ratios) == pytest.approx(math.exp(0.8))
    assert min(ratios) == pytest.approx(math.exp(-0.8))


def test_reach_is_exceeded_as_seldom_as_asked_and_above_says_how_seldom():
    for t in (0.3, 1.0, 7.0):
        for probability in (0.4, 1e-3, 1e-9):
            units = geometric.reach(t * STEP, probability) / STEP
            tail = math.exp(-(units + 1) / t) / (1 + math.exp(-1 / t))
            assert tail <= probability * (1 + 1e-9)
            assert tail * math.exp(1 / t) > probability * (1 - 1e-9) or units == 0
            assert geometric.above(t * STEP, units * STEP) == pytest.approx(tail)


def test_word_zero_takes_the_exact_path():
    """All bits of U are 0 for a while: e is beyond 44.36, however far the float interval reaches."""
    given = iter((bytes(8), b"\xff" * 8))  # the words of both; then one that goes on at random

    def words(size):
        return b"".join(next(given, os.urandom(8)) for _ in range(size // 8))

    (drawn,) = sampler.geometric(100.0, 1, words).tolist()
    assert drawn >= 4_436  # floor(100 * 64 ln 2)


def test_prices():
    event = GeometricEvent(3 * STEP, 6.0 * STEP)
    assert accountant("pure").charge((event,)).main == UNIT // 2
    assert accountant("approx").charge((event,)).main == UNIT // 2
    rho = accountant("zcdp").charge((event,)).main / UNIT
    assert rho == pytest.approx(0.5 * math.tanh(0.25))
    assert geometric.scale_for(3 * STEP, 2.0) == 6.0 * STEP
    assert Fraction(geometric.scale_for(3, 0.1)) >= 3 * Fraction(0.1)


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT COUNT(*) FROM patients", "geometric"),
        ("SELECT ward, COUNT(*), COUNT(age) FROM patients GROUP BY ward", "geometric"),
        ("SELECT COUNT(*), AVG(age) FROM patients", "laplace"),  # a sum as well
        ("SELECT COUNT(*) FROM visits", "laplace"),  # a unit's rows are scaled
        ("SELECT city, COUNT(*) FROM patients GROUP BY city", "laplace"),  # a threshold
    ],
)
def test_the_plan_takes_it_for_counts_alone(clinic: Path, sql: str, name: str):
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"approx"'))
    with dpsql.connect(clinic) as db:
        noise = plan_of(owners_session(db), sql, 1.0).stages[0].measures[0].noise
        assert noise.mechanism == name
        if name == "geometric":
            assert mechanism(name).deviation(noise.scale) < mechanism("laplace").deviation(noise.scale)
            assert all(isinstance(number, int) for number in db.execute(sql).rows[0][-1:])


def test_where_noise_is_nearly_never_felt_the_half_width_is_zero_without_a_sign(clinic: Path):
    """q = exp(-20): another number than the count comes with 2 q / (1 + q) = 4e-9."""
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"approx"'))
    with dpsql.connect(clinic) as db:
        ((margin,),) = db.execute("SELECT COUNT(*) FROM patients", epsilon=20.0).margins
    assert str(margin) == "0.0"

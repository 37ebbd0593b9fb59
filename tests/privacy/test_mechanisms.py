"""Every mechanism keeps its claim and the shelf's interface."""

import inspect
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.accounting.conversions import gaussian_delta, laplace_rho
from dpsql.ir.event import GaussianEvent, LaplaceEvent
from dpsql.ir.plan import Norm
from dpsql.mechanisms import Mechanism, at_least, mechanism, shelf

NAMES = ("gaussian", "laplace")


def below(name, scale, x):
    """P(y <= x) of the continuous law."""
    if name == "gaussian":
        return math.erfc(-x / scale / math.sqrt(2)) / 2
    return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2


def law(name, scale, integer):
    """P(floor(y + 1/2) = integer), from the tail that does not cancel."""
    near = abs(integer)
    return below(name, scale, 0.5 - near) - below(name, scale, -0.5 - near)


def test_the_shelf():
    assert sorted(shelf()) == sorted((*NAMES, "geometric"))  # which has tests of its own
    with pytest.raises(KeyError):
        mechanism("discrete laplace")


@pytest.mark.parametrize("name", [*NAMES, "geometric"])
def test_the_interface(name):
    """A module cannot be held against a Protocol by mypy when it is discovered; so here."""
    module = mechanism(name)
    assert name == module.NAME
    assert isinstance(module.NORM, Norm)
    for method, declared in inspect.getmembers(Mechanism, inspect.isfunction):
        if not method.startswith("_"):
            wanted = list(inspect.signature(declared).parameters.values())[1:]
            found = inspect.signature(getattr(module, method)).parameters.values()
            assert [(p.name, p.default) for p in found] == [(p.name, p.default) for p in wanted]


@given(st.integers(0, 2**60), st.floats(1e-12, 1e12))
def test_scales_are_rounded_up_by_less_than_one_float(sensitivity, ratio):
    for name in NAMES:
        scale = mechanism(name).scale_for(sensitivity, ratio)
        exact = sensitivity * Fraction(ratio)
        assert Fraction(scale) >= exact
        assert not sensitivity or Fraction(math.nextafter(scale, 0)) < exact


@given(st.fractions())
def test_at_least(number):
    assert Fraction(at_least(number)) >= number > Fraction(math.nextafter(at_least(number), -math.inf))


def test_events():
    assert mechanism("laplace").event(3, 4.0, 1.0, 1e-6) == LaplaceEvent(3, 4.0)
    assert mechanism("gaussian").event(3, 4.0) == GaussianEvent(3, 4.0)
    assert mechanism("gaussian").event(3, 4.0, 1.0, 1e-6) == GaussianEvent(3, 4.0, 1.0, 1e-6)


def test_half_widths():
    """b ln(1/.05) = 2.9957 b; sigma 4.224679 gives 8.280219; and half a step for rounding."""
    assert mechanism("laplace").half_width(10.0) == pytest.approx(10 * math.log(20) + 0.5)
    assert mechanism("gaussian").half_width(4.224679) == pytest.approx(8.780219, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("scale", [0.2, 3.0, 40.0])
def test_half_widths_cover(name, confidence, scale):
    width = math.floor(mechanism(name).half_width(scale, confidence))
    assert sum(law(name, scale, n) for n in range(-width, width + 1)) >= confidence


@pytest.mark.parametrize("name", NAMES)
def test_deviations(name):
    """40,000 draws: the sample's deviation is within 4 %, nine of its own (Laplace kurtosis 6)."""
    values = mechanism(name).draw(100.0, 40_000, random.Random(name).randbytes)
    assert np.std(values) == pytest.approx(mechanism(name).deviation(100.0), rel=0.04)


@pytest.mark.parametrize("exponent", [*range(-1, -20, -1), -24, -32, -60, -200])
def test_reach_is_never_short_and_hardly_long(exponent):
    for digit in (1.0, 2.3, 4.9999999):
        probability = digit * 10.0**exponent
        r = mechanism("laplace").reach(7.0, probability) / 7
        assert probability * (1 - 1e-9) < math.exp(-r) / 2 <= probability
        r = mechanism("gaussian").reach(7.0, probability) / 7
        assert probability * (1 - 1e-7) < math.erfc(r / math.sqrt(2)) / 2 <= probability
    for name in NAMES:
        assert mechanism(name).reach(7.0, 0.7) == 0


@pytest.mark.parametrize(("sensitivity", "scale"), [(1, 1.0), (1, 10.0), (7, 3.5), (20, 100.0)])
def test_rounded_laplace_loses_at_most_eps0(sensitivity, scale):
    for n in range(-200, 200):
        loss = math.log(law("laplace", scale, n) / law("laplace", scale, n + sensitivity))
        assert abs(loss) <= sensitivity / scale * (1 + 1e-9)


@pytest.mark.parametrize("eps0", [0.01, 0.3, 1.0, 4.0])
def test_laplace_renyi_divergence_is_below_rho_alpha(eps0):
    """Closed form of the continuous mechanism (Mironov 2017, table II); the supremum is at alpha -> 1."""
    rho = float(laplace_rho(Fraction(eps0)))
    for alpha in (1.001, 1.01, 1.5, 2, 5, 30, 200):
        first = math.log(alpha / (2 * alpha - 1)) + (alpha - 1) * eps0
        second = math.log((alpha - 1) / (2 * alpha - 1)) - alpha * eps0
        divergence = (first + math.log1p(math.exp(second - first))) / (alpha - 1)
        assert divergence <= rho * alpha * (1 + 1e-6)
    assert 1.001 * rho == pytest.approx(eps0 - 1 + math.exp(-eps0), rel=2e-3)


def test_discrete_laplace_would_cost_more():
    """Its mean loss at eps0 = 1 is tanh(1/2) = .46212, more than the .36788 that is charged here."""
    assert float(laplace_rho(Fraction(1))) == pytest.approx(0.36788, abs=1e-5)
    assert math.tanh(0.5) > 0.46


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1.0), (4, 1.0), (1, 0.2), (64, 3.0)])
def test_rounded_gaussian_is_below_its_curve_and_discrete_gaussian_is_not(sensitivity, epsilon):
    """The exact delta of integers: the sum of what P exceeds e^eps Q by."""
    ratio = {1.0: 4.224679, 0.2: 18.8, 3.0: 1.543861}[epsilon]
    scale = ratio * sensitivity
    reach = range(-int(9 * scale) - sensitivity, int(9 * scale) + 1)
    rounded = math.fsum(
        max(
            0.0,
            law("gaussian", scale, n) - math.exp(epsilon) * law("gaussian", scale, n + sensitivity),
        )
        for n in reach
    )
    assert rounded <= gaussian_delta(ratio, epsilon)
    if (sensitivity, epsilon) == (1, 1.0):
        whole = math.fsum(math.exp(-n * n / 2 / scale**2) for n in reach)
        discrete = math.fsum(
            max(
                0.0,
                math.exp(-n * n / 2 / scale**2) - math.exp(epsilon - (n + 1) ** 2 / 2 / scale**2),
            )
            for n in reach
        )
        assert discrete / whole == pytest.approx(1.0197e-6, rel=1e-4)
        assert discrete / whole > gaussian_delta(ratio, epsilon)

"""One unit's new groups are shown with probability delta at most, however many there are."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.accounting.conversions import analytic_sigma
from dpsql.ir.plan import Norm
from dpsql.mechanisms.threshold import steps_for

S = 2**20
SIGMA = analytic_sigma(1.0, 0.55e-6)  # 4.346044: 55 % of delta 1e-6 for noise, 45 % for the threshold


def tail(mechanism, x):
    """P(y >= x), y of scale 1."""
    if mechanism == "gaussian":
        return math.erfc(x / math.sqrt(2)) / 2
    return math.exp(-x) / 2 if x > 0 else 1 - math.exp(x) / 2


def shown(mechanism, scale, steps, value, groups):
    """P(some group shows) when each of the unit's new groups holds ``value`` steps."""
    each = tail(mechanism, (steps - value - 0.5) / scale)
    return -math.expm1(groups * math.log1p(-each)) if each < 1 else 1.0


def most(one, clip, norm, groups):
    """The largest value that the clip leaves in each of so many groups."""
    return min(one, clip // groups if norm is Norm.L1 else math.isqrt(clip**2 // groups))


@pytest.mark.parametrize(
    ("groups", "laplace", "gaussian"),
    [(1, 14.12, 22.35), (5, 14.93, 23.13), (100, 17.74, 25.08), (1000, 20.03, 26.66)],
)
def test_norm_clipped_thresholds(groups, laplace, gaussian):
    """Laplace: max of 1/t + ln(1/(2 (1 - (1 - 1e-6)^(1/t)))); at t = 100: .01 + 17.73. Gaussian: 1/sqrt t."""
    steps = steps_for("laplace", 1.0 * S, S, S, Norm.L1, groups, 1e-6)
    assert steps / S == pytest.approx(laplace, abs=0.006)
    steps = steps_for("gaussian", SIGMA * S, S, S, Norm.L2, groups, 0.45e-6)
    assert steps / S == pytest.approx(gaussian, abs=0.006)


def test_whole_units():
    """One step to a unit and at most L groups (so no unit is scaled): the textbook thresholds."""
    assert steps_for("laplace", 1.0, 1, 1, Norm.L1, 1, 1e-6) == 15
    assert steps_for("laplace", 3.0, 1, 3, Norm.L1, 3, 1e-6) == 45
    assert steps_for("gaussian", 4.346044, 1, 1, Norm.L2, 1, 0.45e-6) == 23
    assert steps_for("gaussian", 9.718050, 1, 5, Norm.L2, 5, 0.45e-6) == 53
    assert shown("laplace", 1.0, 15, 1, 1) == pytest.approx(6.855e-7, rel=1e-3)
    assert shown("laplace", 3.0, 45, 1, 1) == pytest.approx(2.522e-7, rel=1e-3)


def test_a_unit_in_a_thousand_groups_would_defeat_the_threshold_for_one():
    """The mistake: tau for one group, and 1,000 new groups under a clip of 1."""
    steps = steps_for("laplace", 1.0 * S, S, S, Norm.L1, 1, 1e-6)
    assert shown("laplace", 1.0 * S, steps, S // 1000, 1000) == pytest.approx(3.7e-4, rel=0.02)
    steps = steps_for("gaussian", SIGMA * S, S, S, Norm.L2, 1, 0.45e-6)
    value = most(S, S, Norm.L2, 1000)
    assert shown("gaussian", SIGMA * S, steps, value, 1000) == pytest.approx(1.4e-4, rel=0.03)
    for mechanism, scale, norm in (("laplace", 1.0, Norm.L1), ("gaussian", SIGMA, Norm.L2)):
        steps = steps_for(mechanism, scale * S, S, S, norm, None, 0.45e-6)
        assert shown(mechanism, scale * S, steps, most(S, S, norm, 1000), 1000) <= 0.45e-6


COMBINATIONS = st.sampled_from([("laplace", Norm.L1), ("gaussian", Norm.L2), ("laplace", Norm.L2)])


@settings(max_examples=60, deadline=None)
@given(COMBINATIONS, st.floats(0.1, 50), st.integers(1, 200), st.integers(1, 60), st.floats(-18, -2))
def test_sound_for_every_number_of_groups(combination, ratio, one, clip, exponent):
    """All t that leave a group with a step at all, one by one; and T is not larger than it need be."""
    (mechanism, norm), delta, scale = combination, 10.0**exponent, ratio * one
    steps = steps_for(mechanism, scale, one, clip, norm, None, delta)
    largest = clip**norm.value
    every = [shown(mechanism, scale, steps, most(one, clip, norm, t), t) for t in range(1, largest + 1)]
    assert max(every) <= delta * (1 + 1e-9)
    less = steps - math.ceil(scale / 64 + scale * 1e-6) - 1
    assert (
        max(shown(mechanism, scale, less, most(one, clip, norm, t), t) for t in (*range(1, largest + 1),))
        > delta
    )


@settings(max_examples=40, deadline=None)
@given(COMBINATIONS, st.floats(0.1, 1000), st.integers(0, 10), st.floats(-18, -2), st.data())
def test_sound_for_a_hundred_million_million_groups(combination, ratio, factor, exponent, data):
    """Clips of up to 10 units of 2^20 steps: at most 1.1e14 groups (L2), of which some are tried."""
    (mechanism, norm), delta, scale, clip = combination, 10.0**exponent, ratio * S, max(S // 3, factor * S)
    steps = steps_for(mechanism, scale, S, clip, norm, None, delta)
    largest = clip**norm.value
    tried = [2**i for i in range(largest.bit_length())] + [largest, max(1, (clip // S) ** norm.value)]
    tried += data.draw(st.lists(st.integers(1, largest), max_size=30))
    tried += [min(largest, int(64 * 1.0157**i)) for i in range(0, 400, 7)]
    for groups in tried:
        assert shown(mechanism, scale, steps, most(S, clip, norm, groups), groups) <= delta * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(COMBINATIONS, st.integers(1, 500), st.floats(-12, -2))
def test_more_groups_and_smaller_deltas_need_more(combination, groups, exponent):
    mechanism, norm = combination

    def steps(groups, delta):
        return steps_for(mechanism, 2.0 * S, S, 2 * S, norm, groups, delta)

    assert steps(1, 10.0**exponent) <= steps(groups, 10.0**exponent) <= steps(groups, 10.0**exponent / 3)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, math.nan])
def test_no_threshold_without_a_delta(delta):
    with pytest.raises(ValueError, match="no threshold"):
        steps_for("laplace", 1.0, 1, 1, Norm.L1, 1, delta)

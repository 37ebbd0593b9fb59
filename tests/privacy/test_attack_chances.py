"""What a guess may win: reached by the best mechanism there is, and judged by exact tails."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpsql.attacks.chances import at_least, beats, interval, right


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("steps", "of"), [(1, 2), (2, 2), (2, 10)])
def test_randomized_responses_reach_the_bound(epsilon: float, steps: int, of: int) -> None:
    """The truth with odds of e^(steps epsilon) against each other value is private, and right so often."""
    odds = math.exp(steps * epsilon)
    assert right(epsilon, steps=steps, of=of) == pytest.approx(odds / (odds + of - 1))


def test_delta_adds_what_it_may_fail() -> None:
    """A mechanism that tells all with probability delta, and else answers by randomized response."""
    epsilon, delta = 1.0, 0.01
    told = delta + (1 - delta) * math.e / (1 + math.e)
    assert told <= right(epsilon, delta)
    assert right(epsilon, delta) == pytest.approx((math.e + delta) / (1 + math.e))
    # two steps fail with delta (1 + e^epsilon)
    odds = math.exp(2 * epsilon)
    assert right(epsilon, delta, steps=2) == pytest.approx((odds + delta * (1 + math.e)) / (1 + odds))
    assert right(1000.0, delta) == 1.0


def test_tails_are_exact() -> None:
    chance = Fraction(3, 7)
    for won in (0, 1, 9, 20):
        exact = sum(math.comb(20, k) * chance**k * (1 - chance) ** (20 - k) for k in range(won, 21))
        assert at_least(won, 20, float(chance)) == pytest.approx(float(exact), rel=1e-12)
    assert at_least(1, 20, 0.0) == 0.0
    assert at_least(20, 20, 1.0) == 1.0


def test_what_may_not_happen_beats_at_once_and_chance_does_not() -> None:
    assert beats(1, 1000, 0.0, 1e-7)
    assert not beats(0, 1000, 0.0, 1e-7)
    assert not beats(1000, 1000, 1.0, 1e-7)
    assert not beats(76, 100, 0.731, 1e-7)
    assert beats(97, 100, 0.731, 1e-7)


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    """Where they have a closed form: none of n, and all of n."""
    low, high = interval(0, 50)
    assert (low, high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 50)))
    assert interval(50, 50) == (pytest.approx(0.025 ** (1 / 50)), 1.0)
    low, high = interval(30, 50)
    assert at_least(30, 50, low) == pytest.approx(0.025)
    assert 1 - at_least(31, 50, high) == pytest.approx(0.025)

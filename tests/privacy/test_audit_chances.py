"""Chances of choices on two neighbours, held against sums over all candidates one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpsql.audit.chances as audited
from dpsql.audit import noise_tests
from dpsql.mechanisms.exponential import Choices


def choices(*each: list[tuple[int, int]]) -> Choices:
    """Of every choice its runs: how many candidates, and their loss."""
    runs = [run for one in each for run in one]
    sizes, losses = (np.array(column, np.int64) for column in zip(*runs, strict=True))
    starts = np.cumsum([0, *map(len, each)])
    return Choices(starts, sizes, losses, np.zeros(len(runs), np.int64))


def chances(one: list[tuple[int, int]], rate: float) -> list[float]:
    weights = [math.exp(-rate * loss) for size, loss in one for _ in range(size)]
    return [each / sum(weights) for each in weights]


OURS = [[(2, 0), (1, 3), (0, 9), (4, 5)], [(1, 7), (2, 6)]]
THEIRS = [[(1, 1), (3, 2), (3, 4)], [(2, 6), (1, 5)]]


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 7)])
def test_the_worst_candidate_of_every_choice(rate: Fraction) -> None:
    expected = [0.0, 0.0]
    for one, other in zip(OURS, THEIRS, strict=True):
        pairs = zip(chances(one, float(rate)), chances(other, float(rate)), strict=True)
        logs = [math.log(p / q) for p, q in pairs]
        expected[0] += max(logs)
        expected[1] += max(-each for each in logs)
    assert audited._losses(choices(*OURS), choices(*THEIRS), rate) == pytest.approx(expected)


def test_a_candidate_keeps_its_place_in_other_runs() -> None:
    """Numbers 5 and 2 of the two choices: the third of the last four, and the second of the last two."""
    step = audited._Step(choices(*OURS), Fraction(1), (np.array([3, 5]), np.array([2, 1])))
    runs, inside = audited._same(step, choices(*THEIRS))
    assert (runs.tolist(), inside.tolist()) == ([2, 4], [1, 0])


def test_uniform_numbers_are_known() -> None:
    """10,000 draws, found odd once in a billion; those that avoid a tenth are odd."""
    drawn = np.random.default_rng().random(10_000)
    assert noise_tests.uniform(drawn)
    assert not noise_tests.uniform(drawn * 0.9)

"""Margins by formula: quantiles of linear forms of noise, and intervals of means."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dpsql.aggregates import Floats
from dpsql.ir.plan import Noise
from dpsql.mechanisms import mechanism
from dpsql.post.closed_margins import quantile_of, quotient_ends
from dpsql.post.margins import PRECISE, simulated

ROW = 2**20
DRAWS = 4_000
PAIR = np.array([0.0, 1.0]), np.array([1.0, 1.0])
"""The weights of a pair (rest, value) in the total and in the rows."""


def noise(name: str, scale: float) -> Noise:
    chosen = mechanism(name)
    return Noise(name, chosen.NORM, ROW, scale, chosen.event(ROW, scale))


def mean(sums: Floats) -> Floats:
    """A mean of a pair, without clamp: the formula has none either."""
    return sums[..., 1] / (sums[..., 0] + sums[..., 1])


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("rows", [40, 200, 20_000])
@pytest.mark.parametrize("part", [0.02, 0.5, 0.9])
def test_ends_hold_the_truth(name: str, rows: int, part: float) -> None:
    """In .95 of 4,000 draws, +- 5.8 deviations of that binomial."""
    law, words = noise(name, 2.0 * ROW), random.Random(f"{name} {rows} {part}")
    exact = np.array([rows * (1 - part), rows * part]) * ROW
    drawn = np.array(mechanism(name).draw(law.scale, 2 * DRAWS, words.randbytes)).reshape(DRAWS, 2)
    sums = exact + drawn
    quantile = quantile_of(law, 2, 0.95)
    assert quantile is not None
    low, high = quotient_ends(sums[:, 1], sums.sum(axis=1), *PAIR, quantile, np.full(DRAWS, law.scale))
    there = np.isfinite(low)
    assert there.mean() > (0.9 if rows == 40 else 1 - 1e-9)
    held = (low[there] <= part) & (part <= high[there])
    assert 0.93 < held.mean() < 0.97


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_the_bootstrap_finds_the_same_ends(name: str, confidence: float) -> None:
    law = noise(name, 3.0 * ROW)
    sums = np.array([[60.0, 20.0], [900.0, 10.0], [5.0, 70.0], [1e5, 1e5]]) * ROW
    quantile = quantile_of(law, 2, confidence)
    assert quantile is not None
    low, high = quotient_ends(sums[:, 1], sums.sum(axis=1), *PAIR, quantile, np.full(4, law.scale))
    reach = simulated(mean, sums, np.eye(2), law, np.ones(4), confidence, PRECISE)
    assert mean(sums) - low == pytest.approx(reach.below, rel=0.05)
    assert high - mean(sums) == pytest.approx(reach.above, rel=0.05)


def test_few_rows_have_no_ends() -> None:
    law = noise("gaussian", 3.0 * ROW)
    sums = np.array([[10.0, 20.0], [-40.0, 20.0], [0.0, 0.0], [30.0, 20.0]]) * ROW
    quantile = quantile_of(law, 2, 0.95)
    assert quantile is not None
    low, high = quotient_ends(sums[:, 1], sums.sum(axis=1), *PAIR, quantile, np.full(4, law.scale))
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, True, True, False]


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("weights", [(1.0, 0.0), (1.0, -0.3), (2.0, 2.0), (0.1, -7.0), (0.0, 0.0)])
def test_quantiles_of_linear_forms(name: str, weights: tuple[float, float]) -> None:
    """Beside 400,000 draws: 2.5 % of them lie above, +- 5 deviations."""
    generator = np.random.default_rng(3)
    cells = (generator.laplace if name == "laplace" else generator.normal)(0, 1, (400_000, 2))
    quantile = quantile_of(noise(name, 1.0 * ROW), 2, 0.95)
    assert quantile is not None
    reach = float(quantile(np.array([weights]))[0])
    if weights == (0.0, 0.0):
        assert reach == 0
    else:
        assert abs((cells @ np.array(weights) > reach).mean() - 0.025) < 5 * (0.025 * 0.975 / 400_000) ** 0.5


def test_three_laplace_numbers_have_no_formula() -> None:
    assert quantile_of(noise("laplace", 1.0 * ROW), 3, 0.95) is None
    assert quantile_of(noise("gaussian", 1.0 * ROW), 9, 0.95) is not None

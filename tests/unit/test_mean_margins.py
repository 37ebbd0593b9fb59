"""Margins of means: the bootstrap of total and rows is that of the cells; with many rows the formula's."""

from __future__ import annotations

import numpy as np
import pytest

from dpsql.aggregates import Floats
from dpsql.aggregates.avg import mean_of
from dpsql.ir.column import Interval
from dpsql.ir.plan import Noise
from dpsql.mechanisms import mechanism
from dpsql.post.margins import simulated
from dpsql.post.mean_margins import margins_of_means

ROW = 2**20
PAIR = np.array([0.0, 1.0]), np.array([1 / ROW, 1 / ROW])
"""The weights of a pair (rest, value) of numbers from 0 to ROW, in the total and in the rows."""


def mean(sums: Floats) -> Floats:
    return mean_of(sums[..., 1], sums.sum(axis=-1) / ROW, Interval(0, ROW))


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_few_rows_are_simulated_as_before(name: str, confidence: float) -> None:
    """Some means are NULL in no draw, in some, and in most: those have no interval."""
    chosen = mechanism(name)
    law = Noise(name, chosen.NORM, ROW, 3.0 * ROW, chosen.event(ROW, 3.0 * ROW))
    sums = np.rint(np.random.default_rng(1).normal(6.0, 6.0, (200, 2)) * ROW)
    spread = np.sqrt(1 + np.arange(200) % 3)
    rows = sums.sum(axis=1) / ROW
    found = margins_of_means(sums[:, 1], rows, Interval(0, ROW), PAIR, law, spread, confidence)
    told = simulated(mean, sums, np.eye(2), law, spread, confidence)
    few = rows < 27  # nine times the noise's scale, and more
    assert 100 < few.sum() < 200
    assert np.isnan(told.below[few]).any()
    for one, other in ((found.below, told.below), (found.above, told.above)):
        assert one[few] == pytest.approx(other[few], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_many_rows_have_about_the_simulated_margins(name: str) -> None:
    """Kept within the range, as the mean is."""
    chosen = mechanism(name)
    law = Noise(name, chosen.NORM, ROW, 2.0 * ROW, chosen.event(ROW, 2.0 * ROW))
    sums = np.array([[900.0, 100.0], [50.0, 50.0], [300.0, 0.5], [0.5, 300.0]]) * ROW
    args = sums[:, 1], sums.sum(axis=1) / ROW, Interval(0, ROW), PAIR, law, np.ones(4), 0.95
    found, told = margins_of_means(*args), simulated(mean, sums, np.eye(2), law, np.ones(4))
    assert found.below == pytest.approx(told.below, rel=0.06)
    assert found.above == pytest.approx(told.above, rel=0.06)
    assert found.below[2] == pytest.approx(mean(sums)[2])
    assert found.above[3] == pytest.approx(ROW - mean(sums)[3])

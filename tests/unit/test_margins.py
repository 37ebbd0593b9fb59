"""How far the noise reaches: intervals of ratios, and of counts that are shown because they are large.

All noise is seeded here, so no test fails by chance; a fresh seed would fail one once in a million.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsql.aggregates import Floats
from dpsql.ir.plan import Noise
from dpsql.ir.statistic import Part, Statistic
from dpsql.mechanisms import mechanism
from dpsql.post.margins import Reach, above_threshold, plain, simulated, unit_draws

ROW = 2**20
DRAWS = 4_000
NEAR_95 = (0.93, 0.97)
"""0.95 +- 5.8 deviations of a binomial of 4,000; what the method itself may miss is within that."""


def noise(name: str, scale: float) -> Noise:
    chosen = mechanism(name)
    return Noise(name, chosen.NORM, ROW, scale, chosen.event(ROW, scale))


def drawn(law: Noise, size: int, words: random.Random) -> NDArray[np.int64]:
    return mechanism(law.mechanism).draw(law.scale, size, words.randbytes)


def share_of(reach: Reach, values: Floats, truth: float) -> float:
    with np.errstate(invalid="ignore"):
        held = (values - reach.below <= truth) & (truth <= values + reach.above)
    return float(held[np.isfinite(reach.below)].mean())


def mean(sums: Floats) -> Floats:
    """A mean in [0, 1] of a pair, NULL where less than half a row is left."""
    rows = sums[..., 0] + sums[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows >= ROW / 2, np.clip(sums[..., 1] / rows, 0, 1), np.nan)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("rows", [20, 200, 20_000])
@pytest.mark.parametrize("part", [0.1, 0.5])
def test_intervals_of_a_ratio_hold_the_truth(name: str, rows: int, part: float) -> None:
    law = noise(name, 2.0 * ROW)
    exact = np.array([rows * (1 - part), rows * part]) * ROW
    sums = exact + drawn(law, DRAWS * 2, random.Random(f"{name} {rows} {part}")).reshape(DRAWS, 2)
    reach = simulated(mean, sums, np.eye(2), law, np.ones(DRAWS))
    assert NEAR_95[0] < share_of(reach, mean(sums), part) < NEAR_95[1]


def test_a_ratio_of_few_rows_has_more_room_on_one_side() -> None:
    """One in twenty rows: the mean cannot be below 0."""
    reach = simulated(mean, np.array([[19.0, 1.0]]) * ROW, np.eye(2), noise("laplace", 1.0 * ROW), np.ones(1))
    assert reach.below[0] == pytest.approx(0.05)
    assert reach.above[0] > 1.2 * reach.below[0]


def test_what_is_mostly_null_has_no_interval() -> None:
    reach = simulated(
        mean, np.array([[0.0, 0.0], [50.0, 50.0]]) * ROW, np.eye(2), noise("laplace", 9.0 * ROW), np.ones(2)
    )
    assert [math.isnan(each) for each in reach.below] == [True, False]


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_the_even_draws_have_the_law(name: str) -> None:
    """Of 1,024 even points no quantile is further off than one."""
    for width in (1, 2, 3, 9):
        draws = unit_draws(name, width)
        assert draws.shape == (1_024, width)
        for column in draws.T:
            for place in (-2.0, -0.5, 0.0, 1.0, 2.5):
                assert abs(np.mean(column > place) - mechanism(name).above(1.0, place)) < 0.001
        rows = np.abs(np.corrcoef(draws.T)) if width > 1 else np.eye(1)
        assert (rows - np.eye(width)).max() < 0.1


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("far", [-4.0, -1.0, 0.0, 1.0, 3.0, 8.0])
def test_counts_near_a_threshold_are_held(name: str, far: float) -> None:
    """Among the draws that show the group; the mechanism's own half-width fails there.

    A count far below is shown once in a thousand draws: so many are drawn that 4,000 are left.
    """
    law = noise(name, 3.0 * ROW)
    least = 40 * ROW
    true = (40 + 3 * far) * ROW
    words = random.Random(f"{name} {far}")
    seen = np.empty(0)
    while len(seen) < DRAWS:
        noisy = true + drawn(law, 500_000, words)
        seen = np.concatenate((seen, noisy[noisy >= least]))
    seen = seen[:DRAWS]
    single = Statistic(Part.UNITS, None, None, step=1, most=ROW)  # type: ignore[arg-type]  # steps
    usual = plain(1.0, law, np.ones(DRAWS))
    reach = above_threshold(usual, seen, [True] * DRAWS, least, single, law)
    assert NEAR_95[0] < share_of(reach, seen, true) < NEAR_95[1]
    if far == -4.0:
        assert share_of(usual, seen, true) < 0.5
    kept = above_threshold(usual, seen, [False] * DRAWS, least, single, law)
    assert kept.below.tolist() == usual.below.tolist()


def test_a_count_just_above_its_threshold_may_be_anything_smaller() -> None:
    law = noise("laplace", 3.0 * ROW)
    single = Statistic(Part.UNITS, None, None, step=1, most=ROW)  # type: ignore[arg-type]  # steps
    at = np.array([40.0 * ROW, 40.5 * ROW, 200.0 * ROW])
    usual = plain(1.0, law, np.ones(3))
    reach = above_threshold(usual, at, [True] * 3, 40 * ROW, single, law)
    low, high = (at - reach.below) / ROW, (at + reach.above) / ROW
    assert low[:2].tolist() == [0.0, 0.0]
    assert 1 <= high[0] <= high[1] < 45
    assert low[2] == pytest.approx(200 - 3 * math.log(20), abs=1e-5)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_margins_are_quantiles_of_the_moved_numbers_to_the_last_bit(name: str, confidence: float) -> None:
    """Some of the means are NULL in no draw, in some, and in most."""
    law, tail = noise(name, 3.0 * ROW), (1 - confidence) / 2
    sums = np.rint(np.random.default_rng(1).normal(8.0, 9.0, (200, 2)) * ROW)
    spread = np.sqrt(1 + np.arange(200) % 3)
    reach = simulated(mean, sums, np.eye(2), law, spread, confidence)
    draws = law.scale * unit_draws(name, 2)
    kinds = set[str]()
    for row in range(200):
        moved = mean(sums[row] - draws * spread[row]) - mean(sums[row])
        known = moved[np.isfinite(moved)]
        kinds.add("all" if len(known) == len(moved) else "some" if 2 * len(known) > len(moved) else "few")
        if 2 * len(known) > len(moved):
            low, high = np.quantile(known, (tail, 1 - tail), method="inverted_cdf")
            assert (reach.below[row], reach.above[row]) == (-low, high)
        else:
            assert math.isnan(reach.below[row])
            assert math.isnan(reach.above[row])
    assert kinds == {"all", "some", "few"}

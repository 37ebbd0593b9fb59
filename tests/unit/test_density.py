"""Distances for margins: where they reach, what they cost, and how often a margin holds."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dpsql.ir.column import DATE, DOUBLE, INTEGER, Fact, Interval, type_named
from dpsql.ir.grid import BINS, End, Grid, Spacing, grid_of
from dpsql.mechanisms.density import (
    SHARE,
    _share,
    chosen_distances,
    distances,
    errors,
    reached,
    reaches,
    rows_wanted,
)
from dpsql.mechanisms.exponential import choose
from dpsql.mechanisms.quantiles import Histograms, answers

HALF = Fraction(1, 2)
ROW = 2**20
GRIDS = [
    grid_of(Fact(INTEGER), Interval(-3, 120)),
    grid_of(Fact(DATE), Interval(0, 400_000)),
    grid_of(Fact(DOUBLE), Interval(0.0, 5000.0)),
    grid_of(Fact(DOUBLE), Interval(-1e9, 1e6)),
    grid_of(Fact(INTEGER), Interval(0, 10**9)),
    grid_of(Fact(type_named("DECIMAL(5,2)")), Interval(0.0, 230.0)),
    grid_of(Fact(DOUBLE), Interval(7.0, 7.0)),
]


def drawn(seed):
    words = random.Random(seed).randbytes
    return lambda choices, rate: choose(choices, rate, words)


def histograms(lists):
    found = [np.unique(each, return_counts=True) for each in lists]
    starts = np.cumsum([0, *(len(bins) for bins, _ in found)])
    bins = np.concatenate([each[0] for each in found]).astype(np.int64)
    return Histograms(starts, bins, np.concatenate([each[1] for each in found]).astype(np.int64) * ROW)


def test_which_grid():
    assert [each.spacing for each in GRIDS] == [
        Spacing.WHOLE,
        Spacing.WHOLE,
        Spacing.EVEN,
        Spacing.LOG,
        Spacing.LOG,
        Spacing.WHOLE,
        Spacing.EVEN,
    ]
    assert [each.size for each in GRIDS] == [124, 100_001, BINS, BINS, BINS, 23_001, 1]
    assert GRIDS[1].step == 4


@pytest.mark.parametrize("grid", GRIDS)
def test_values_of_bins_are_in_the_range_and_ascend(grid):
    places = sorted(
        {0, 1, grid.size // 3, grid.size // 2, grid.size - 2, grid.size - 1} & set(range(grid.size))
    )
    values = [grid.value(place) for place in places]
    assert values == sorted(set(values))
    unit = grid.unit if grid.spacing is Spacing.WHOLE else 1
    assert grid.low / unit <= values[0] <= values[-1] <= grid.high / unit


@pytest.mark.parametrize("grid", GRIDS)
def test_distances_reach_what_lies_within_them(grid):
    """By the values of bins, but for the bin at the very end of a distance."""
    places = np.array(sorted({0, grid.size // 3, grid.size - 1}))
    first, last = reached(grid, places)
    away = distances(grid)
    assert all(a > b for a, b in itertools.pairwise(away))
    for i, j in itertools.product(range(len(places)), range(len(away))):
        middle, low, high = (float(grid.value(int(b))) for b in (places[i], first[i, j], last[i, j]))
        slack = away[j] * 1e-9 + 2 * grid.width * (1 if grid.spacing is Spacing.LOG else 0.5)
        assert middle - low <= away[j] + slack
        assert high - middle <= away[j] + slack
        if first[i, j] > 0:
            assert middle - float(grid.value(int(first[i, j]) - 1)) >= away[j] - slack
    assert (first[:, 0] == 0).all()
    assert (last[:, 0] == grid.size - 1).all()


def test_few_rows_have_no_margin():
    grid = GRIDS[2]
    found = chosen_distances(
        *(histograms([[5000] * 3] * 50), grid, (HALF,), np.full((50, 1), 5000)),
        *(1.0, ROW, drawn("few"), 9.0, ROW),
    )
    assert (found == 2 * len(distances(grid))).mean() > 0.9


def test_extremes_have_none():
    targets = (End.LEAST, HALF, End.GREATEST)
    found = chosen_distances(
        histograms([range(2000)]),
        GRIDS[2],
        targets,
        np.array([[1, 900, 1900]]),
        1.0,
        ROW,
        drawn("ends"),
        9.0,
        ROW,
    )
    none = 2 * len(distances(GRIDS[2]))
    assert found[0, 0] == found[0, 2] == none > found[0, 1]
    factors = errors(targets, 1.0, 0.1, ROW, ROW)
    assert math.isnan(factors[0])
    assert factors[1] > 0


@pytest.mark.parametrize(
    ("targets", "places"),
    [
        ((Fraction(1, 4), Fraction(3, 4)), [2, 7]),
        ((Fraction(1, 4), Fraction(3, 4)), [4, 4]),
        ((Fraction(1, 4), HALF, Fraction(3, 4)), [4, 4, 4]),
        ((Fraction(1, 4), HALF, Fraction(3, 4)), [1, 1, 2]),
        ((Fraction(1, 9), Fraction(2, 9), HALF, Fraction(7, 9), Fraction(8, 9)), [0, 5, 5, 5, 9]),
        ((Fraction(1, 3),), [3]),
        ((HALF,), [5]),
    ],
)
def test_one_unit_with_its_weight_split(targets, places):
    """The chance of all distances together moves by at most epsilon, however a unit splits its weight."""
    rng = np.random.default_rng(2)
    grid = Grid(Spacing.WHOLE, 0, 9, 10)
    placed = np.array([places])
    epsilon, worst = 1.0, 0.0
    for round_ in range(400):
        weights = rng.integers(0, 30, 10) if round_ % 2 else rng.permutation([90, 80, *[0] * 8])
        parts = rng.multinomial(12, rng.dirichlet([0.3] * 10))  # a unit's 12 steps
        laws = []
        for held in (weights + 1, weights + 1 + parts):
            law = []

            def record(choices, rate, law=law):
                chance = choices.sizes * np.exp(-choices.whole * float(rate))
                law.append(np.log(chance / chance.sum()))
                return choices.starts[:-1], np.zeros(1, np.int64)

            given = Histograms(np.array([0, 10]), np.arange(10), held.astype(np.int64))
            chosen_distances(given, grid, targets, placed, epsilon, 12, record, 9.0, 1)
            laws.append(law)
        moved = [np.abs(a - b).max() for a, b in zip(*laws, strict=True)]
        worst = max(worst, sum(moved))
    assert 0.3 < worst <= epsilon


@pytest.mark.parametrize("target", [HALF, Fraction("0.333333333"), Fraction("0.999999999")])
def test_shares_of_large_weights_are_exact(target):
    weights = [0, 7, 2**45 + 12345, 2**61 - 1]
    assert _share(target, np.array(weights, dtype=np.int64)).tolist() == [int(target * w) for w in weights]


def reach_and_error(lists, target, epsilon, grid, seed, most=ROW):
    """Return the margins of one quantile of each list of bins, and how far each is from the truth."""
    given = histograms(lists)
    first, dense = epsilon * float(1 - SHARE), epsilon * float(SHARE)
    places = answers(given, grid.size, (target,), Fraction(first), most, ROW, drawn(f"first {seed}"))
    away = chosen_distances(given, grid, (target,), places, dense, most, drawn(f"dense {seed}"), first, ROW)
    (factor,) = errors((target,), first, dense, most, ROW)
    reach = reaches(grid, away[:, 0], factor) + 0.475 * grid.width  # as in details.quantiles.finish
    values = [np.array([float(grid.value(int(place))) for place in rows]) for rows in (places[:, 0], *lists)]
    truth = [np.quantile(each, float(target), method="averaged_inverted_cdf") for each in values[1:]]
    assert rows_wanted(dense, most) > 0
    return reach, np.abs(values[0] - np.array(truth))


@pytest.mark.parametrize(
    ("size", "epsilon", "least"), [(20, 20.0, 0.93), (200, 1.0, 0.91), (5000, 1.0, 0.93)]
)
def test_coverage(size, epsilon, least):
    """Of 500 medians of normal rows, so many lie within their margin; those without one count as held."""
    rng = np.random.default_rng(size)
    grid = Grid(Spacing.EVEN, 0.0, 1000.0, BINS)
    rows = np.clip(rng.normal(500, 100, (500, size)), 0, 999.99)
    reach, apart = reach_and_error(list((rows / 1000 * BINS).astype(int)), HALF, epsilon, grid, size)
    assert least <= (~(apart > reach)).mean()
    assert np.nanmedian(reach) < 10 * np.quantile(apart, 0.95)


PRICES = np.array([9.99, 14.99, 19.99, 24.99, 29.99, 39.99, 49.99, 59.99, 79.99, 99.99, 149.99, 199.99])


@pytest.mark.parametrize(
    ("values", "target", "least"),
    [
        (lambda rng: rng.choice(PRICES, 12_000), Fraction(1, 4), 0.93),  # the quarter ends where a price does
        (lambda rng: rng.choice(PRICES, 12_000), Fraction(9, 20), 0.93),
        (lambda rng: np.where(rng.random(12_000) < 0.5, 0.0, rng.exponential(60, 12_000)), HALF, 0.93),
        (lambda rng: np.round(rng.lognormal(4, 0.5, 12_000), -1), HALF, 0.93),
        (lambda rng: rng.choice([30.0, 170.0], 12_000) + rng.normal(0, 5, 12_000), HALF, 0.85),
    ],
    ids=["the edge of a price", "a price", "half zeros", "tens", "two heaps"],
)
@pytest.mark.parametrize("most", [1, 10])
def test_coverage_where_rows_are_heaped(values, target, least, most):
    rng = np.random.default_rng(11)
    grid = Grid(Spacing.EVEN, 0.0, 250.0, BINS)
    lists = [np.clip(values(rng) / 250 * BINS, 0, BINS - 1).astype(int) for _ in range(150)]
    reach, apart = reach_and_error(lists, target, 1.0, grid, most, most * ROW)
    assert least <= (apart <= reach).mean()

"""Strategies that are never multiplied out: what a unit moves, the way back, and how near to the best."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpsql.ir.plan import Norm
from dpsql.ir.strategy import Strategy
from dpsql.mechanisms.strategies import exchangeable, gaussian, gram, laplace, marginals, products, symmetric
from dpsql.mechanisms.strategies.dense import RankError
from dpsql.mechanisms.strategies.exchangeable import Exchangeable
from dpsql.mechanisms.strategies.kronecker import whole_numbered_product
from dpsql.mechanisms.strategies.marginals import Marginals
from dpsql.mechanisms.strategies.rows import Crossed, Listed
from dpsql.mechanisms.strategies.strategy import column
from dpsql.mechanisms.strategies.symmetric import Symmetric
from dpsql.mechanisms.strategies.whole_cells import whole, whole_for

Floats = NDArray[np.float64]

GRID = 2**20
SIZES = (4, 3, 2)


def tables(sizes: Sequence[int], kept: Sequence[Sequence[int]]) -> Crossed:
    """Return the numbers of these marginals."""
    patterns = tuple(np.concatenate((np.eye(n, dtype=np.int64), np.ones((1, n), np.int64))) for n in sizes)
    chosen = [
        each
        for keys in kept
        for each in itertools.product(*(range(n) if k in keys else [n] for k, n in enumerate(sizes)))
    ]
    return Crossed(patterns, np.array(chosen, dtype=np.int64))


def of_order(sizes: Sequence[int], order: int) -> Crossed:
    return tables(sizes, list(itertools.combinations(range(len(sizes)), order)))


def cube(sizes: Sequence[int]) -> Crossed:
    return tables(
        sizes,
        [
            keys
            for order in range(len(sizes) + 1)
            for keys in itertools.combinations(range(len(sizes)), order)
        ],
    )


def drawn(sizes: Sequence[int], numbers: int, seed: int = 0) -> Crossed:
    """Draw numbers that count about half of the values of each column."""
    chosen = np.random.default_rng(seed)
    patterns = tuple(
        np.concatenate((chosen.integers(0, 2, (5, n)), np.eye(1, n, dtype=np.int64))) for n in sizes
    )
    return Crossed(patterns, chosen.integers(0, 6, (numbers, len(sizes))))


def even(rows: Crossed, ridge: float = gram.RIDGE) -> Exchangeable:
    return exchangeable.asked([(np.ones(len(rows)), rows)], ridge)


@functools.cache
def examples() -> dict[str, Strategy]:
    found: dict[str, Strategy | None] = {
        "symmetric": symmetric.whole_numbered(even(cube(SIZES)), GRID, 1.0),
        "symmetric of pairs": symmetric.whole_numbered(even(of_order((2,) * 5, 2)), GRID, 1.0),
        "marginals": Marginals(
            SIZES, exchangeable.whole_numbers(np.arange(8.0).reshape(2, 2, 2) * 100 + 7), 10
        ),
        "marginals of pairs": marginals.whole_numbered(even(of_order((5, 4, 3), 1)), GRID, 1.0),
    }
    return {name: strategy for name, strategy in found.items() if strategy is not None}


NAMES = ("symmetric", "symmetric of pairs", "marginals", "marginals of pairs")


def multiplied_out(strategy: Strategy) -> NDArray[np.object_]:
    """Return the matrix, column by column: from the entries and weights alone, in Python's integers."""
    assert isinstance(strategy, Symmetric | Marginals)
    places = list(itertools.product(*map(range, strategy.sizes)))
    if isinstance(strategy, Symmetric):
        shared = [[tuple(int(i == j) for i, j in zip(a, b, strict=True)) for b in places] for a in places]
        return np.array([[strategy.entries[each] for each in row] for row in shared], dtype=object)
    rows = []
    for kept in np.ndindex(strategy.weights.shape):
        weight = strategy.weights[kept]
        for own in itertools.product(
            *(range(n if k else 1) for n, k in zip(strategy.sizes, kept, strict=True))
        ):
            counts = [all(i == j or not k for i, j, k in zip(own, at, kept, strict=True)) for at in places]
            rows += [[weight * each for each in counts]] if weight else []
    return np.array(rows, dtype=object)


# ---- what a unit moves ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_columns_bound_what_a_unit_moves(name: str) -> None:
    """A x is what Python's integers say, up to the largest cells, and the norms are those of its columns."""
    strategy, chosen = examples()[name], np.random.default_rng(7)
    matrix = multiplied_out(strategy)
    assert matrix.shape == (strategy.numbers, strategy.cells)
    for power in (1, 20, 40, 62):
        x = chosen.integers(-(2**power), 2**power, strategy.cells)
        assert strategy.measured(x.tolist()) == [int(n) for n in matrix @ x.astype(object)]
    assert strategy.l1 == max(sum(abs(n) for n in column) for column in matrix.T)
    square = max(sum(n * n for n in column) for column in matrix.T)
    assert (strategy.l2 - 1) ** 2 < square <= strategy.l2**2
    for x in (np.full(strategy.cells, 2**62), np.full(strategy.cells, -(2**62))):
        assert strategy.measured(x) == [int(n) for n in matrix @ x.astype(object)]


def too_far(strategy: Strategy) -> list[str]:
    """Say in which norm a unit with one in one cell moves more than the claim allows."""
    moved = [strategy.measured([int(i == j) for j in range(strategy.cells)]) for i in range(strategy.cells)]
    return [
        name
        for name, far, bound in (
            ("l1", max(sum(map(abs, each)) for each in moved), strategy.l1),
            ("l2", max(sum(n * n for n in each) for each in moved), strategy.l2**2),
        )
        if far > bound
    ]


@pytest.mark.parametrize("name", NAMES)
def test_planted_norms_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell itself is forgotten; a table weighs one less."""
    strategy = examples()[name]
    assert too_far(strategy) == []
    others = exchangeable.others
    if isinstance(strategy, Symmetric):
        monkeypatch.setattr(exchangeable, "others", lambda sizes: _less(others(sizes)))
        found: Strategy = Symmetric(strategy.sizes, strategy.entries, strategy.shift)
    else:
        assert isinstance(strategy, Marginals)
        found = _OneLess(strategy.sizes, strategy.weights, strategy.shift)
    assert too_far(found) == ["l1", "l2"]


def _less(others: NDArray[np.object_]) -> NDArray[np.object_]:
    others[(1,) * others.ndim] = 0
    return others


class _OneLess(Marginals):
    """Norms without one table."""

    @property
    def l1(self) -> int:
        return super().l1 - 1

    @property
    def l2(self) -> int:
        return super().l2 - 1


@pytest.mark.parametrize("name", ["symmetric", "marginals of pairs"])
def test_no_column_is_longer_than_is_declared(name: str) -> None:
    found = examples()[name]
    norm = Norm.L2 if name == "symmetric" else Norm.L1
    assert 2**found.shift * 0.99 < column(found, norm) <= 2**found.shift


@pytest.mark.parametrize("entry", [1.0, np.int64(1), True])
def test_what_is_no_whole_number_is_refused(entry: object) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        Symmetric((3,), np.array([0, entry], dtype=object))
    with pytest.raises(ValueError, match="whole numbers"):
        Marginals((3,), np.array([0, entry], dtype=object))


def test_cells_that_cannot_be_recovered_are_refused() -> None:
    with pytest.raises(RankError):
        Symmetric((3,), np.array([1, 1], dtype=object))  # all ones
    with pytest.raises(RankError):
        Symmetric((3,), np.array([1, -2], dtype=object))  # rows add up to 0
    with pytest.raises(RankError):
        Marginals((3, 2), np.array([[1, 1], [1, 0]], dtype=object))
    with pytest.raises(ValueError, match="not negative"):
        Marginals((3,), np.array([-1, 1], dtype=object))


def test_the_matrix_in_use_cannot_change() -> None:
    entries = np.array([0, 1], dtype=object)
    found = Symmetric((3,), entries)
    entries[0] = 5
    assert found.is_identity
    with pytest.raises(ValueError, match="read-only"):
        found.entries[0] = 5


# ---- back to the cells ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_way_back_is_least_squares(name: str) -> None:
    strategy = examples()[name]
    matrix = multiplied_out(strategy).astype(np.float64)
    numbers = np.random.default_rng(3).normal(0, 1, (strategy.numbers, 3))
    expected = np.linalg.pinv(matrix) @ numbers
    assert strategy.solve(numbers) == pytest.approx(expected, rel=1e-5, abs=1e-9 * np.abs(expected).max())
    assert strategy.solve(numbers[:, 0]) == pytest.approx(strategy.solve(numbers)[:, 0])
    covariance = np.linalg.inv(matrix.T @ matrix)
    assert strategy.variances() == pytest.approx(np.diagonal(covariance), rel=1e-5)
    weights = np.random.default_rng(4).integers(-1, 2, (9, strategy.cells)).astype(np.float64)
    expected = np.diagonal(weights @ covariance @ weights.T)
    assert strategy.variances_of(Listed(weights)) == pytest.approx(expected, rel=1e-5)
    assert isinstance(strategy, Symmetric | Marginals)
    rows = drawn(strategy.sizes, 20)
    assert strategy.variances_of(rows) == pytest.approx(strategy.variances_of(Listed(rows.dense())), rel=1e-9)
    precision, largest = strategy.precision()
    assert precision.times(weights[0]) == pytest.approx(
        (matrix.T @ matrix @ weights[0]) * largest / np.linalg.eigvalsh(matrix.T @ matrix)[-1],
        rel=1e-6,
        abs=1e-9,
    )


@pytest.mark.parametrize("name", NAMES)
def test_without_noise_the_cells_come_back(name: str) -> None:
    strategy = examples()[name]
    x = np.random.default_rng(5).integers(-100, 100_000, strategy.cells) * GRID
    assert np.rint(strategy.solve(strategy.measured(x)) / 64).tolist() == (x // 64).tolist()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.integers(0, 2**20), st.integers(0, 62))
def test_sums_of_patterns_are_those_of_the_matrix(sizes: list[int], seed: int, power: int) -> None:
    rows = drawn(sizes, 12, seed)
    listed = Listed(rows.dense().astype(np.int64))
    cells = np.random.default_rng(seed).integers(-(2**power), 2**power, math.prod(sizes))
    assert rows.exact_sums(cells.tolist()) == listed.exact_sums(cells.tolist())
    noise = cells[:, np.newaxis] * np.array([1.0, 0.5])
    assert rows.sums(noise) == pytest.approx(listed.sums(noise), abs=2.0 ** (power - 40))
    assert rows.part(3, 7).exact_sums(cells.tolist()) == listed.exact_sums(cells.tolist())[3:7]


# ---- matrices that treat values alike ------------------------------------------------------------------


def test_the_gram_matrix_of_marginals() -> None:
    rows = cube(SIZES)
    square = gram.gram(rows.dense())
    found, x = even(rows), np.random.default_rng(6).normal(0, 1, math.prod(SIZES))
    assert found.times(x) == pytest.approx(square @ x)
    assert found.diagonal() == pytest.approx(np.diagonal(square))
    assert found.column(7) == pytest.approx(square[7])
    cells = np.random.default_rng(7).normal(40, 9, len(x))
    assert whole_for(cells, found)[0].tolist() == whole(cells, square)[0].tolist()


def test_other_questions_are_made_even() -> None:
    """The mean over all orders of the values of each column."""
    sizes = (3, 2)
    rows = drawn(sizes, 5)
    square = rows.dense().T @ rows.dense()
    places = np.arange(6).reshape(sizes)
    orders = [
        places[np.ix_(first, second)].ravel()
        for first in itertools.permutations(range(3))
        for second in itertools.permutations(range(2))
    ]
    mean = sum(square[np.ix_(order, order)] for order in orders) / len(orders)
    found = even(rows, 0.0)
    assert np.stack([found.column(cell) for cell in range(6)]) == pytest.approx(mean)


# ---- how near to the best ------------------------------------------------------------------------------


def error(strategy: Strategy | None, norm: Norm, rows: Crossed) -> float:
    assert strategy is not None
    return float(column(strategy, norm) ** 2 * strategy.variances_of(rows).sum())


@pytest.mark.parametrize(
    ("sizes", "order", "expected"),
    [
        ((3, 4, 2), 2, 50.850421),  # as ResidualPlanner's
        ((2,) * 10, 2, 45 * 9.27 * 4),
        ((2,) * 10, 3, 120 * 13.19 * 8),
    ],
)
def test_symmetric_is_as_good_as_residual_planner(sizes: Sequence[int], order: int, expected: float) -> None:
    """Within 3 %: cells that no table reads are measured a little, and entries are cut to 14 bits."""
    rows = of_order(sizes, order)
    found = error(symmetric.whole_numbered(even(rows), GRID, 1.0), Norm.L2, rows)
    assert 0.999 * expected <= found <= 1.03 * expected


@pytest.mark.parametrize(
    "rows", [cube((6, 3, 3)), of_order((4, 3, 5), 2), tables((4, 3, 5), [(), (0,), (0, 1)])]
)
def test_symmetric_is_as_good_as_the_best_matrix(rows: Crossed) -> None:
    bound = gaussian.optimal(gram.gram(rows.dense())).bound
    assert bound is not None
    assert error(symmetric.whole_numbered(even(rows), GRID, 1.0), Norm.L2, rows) <= 1.01 * bound


@pytest.mark.parametrize("rows", [cube((6, 3, 3)), of_order((4, 3, 5), 2), tables((9, 8), [(), (0,), (1,)])])
def test_marginals_are_nearly_as_good_as_the_best_matrix(rows: Crossed) -> None:
    square = gram.gram(rows.dense())
    best = min(found for _, found in laplace._candidates(square))
    found = error(marginals.whole_numbered(even(rows), GRID, 1.0), Norm.L1, rows)
    assert found <= 1.1 * best
    apart = (rows.dense().sum(axis=0).max()) ** 2 * len(rows)
    assert found <= apart


def test_the_slope_is_that_of_the_error() -> None:
    function = marginals._error_of(even(of_order((4, 3, 5), 2)))
    weights = np.random.default_rng(9).random((2, 2, 2)) + 0.1
    _, slope = function(weights)
    for place in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[place] = 1e-6
        change = (function(weights + step)[0] - function(weights - step)[0]) / 2e-6
        assert slope[place] == pytest.approx(change, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("norm", list(Norm))
def test_a_product_is_made_for_what_the_other_columns_leave(norm: Norm) -> None:
    """Ranges of one column, by another and in all: better than the cells, and than even values."""
    sizes = (24, 3)
    patterns = (
        np.tri(24, dtype=np.int64),
        np.concatenate((np.eye(3, dtype=np.int64), np.ones((1, 3), np.int64))),
    )
    rows = Crossed(patterns, np.array(list(itertools.product(range(24), range(4)))))
    search = laplace.optimal if norm is Norm.L1 else gaussian.optimal
    found = whole_numbered_product(products.optimal([(np.ones(len(rows)), rows)], search), GRID, 1.0)
    closed = (marginals.whole_numbered if norm is Norm.L1 else symmetric.whole_numbered)(
        even(rows), GRID, 1.0
    )
    on_cells = float(rows.dense().sum())
    assert error(found, norm, rows) < 0.85 * min(on_cells, error(closed, norm, rows))
    assert found is not None
    assert found.variances_of(rows) == pytest.approx(found.variances_of(Listed(rows.dense())))
    assert found.cells == math.prod(sizes)

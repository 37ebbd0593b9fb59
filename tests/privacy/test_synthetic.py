"""Synthetic rows: what a unit moves, what is paid, and how near they are.

All bytes are seeded, so no test fails by chance.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.synthetic import EIGHT, GRID, MOST, allow, counts_of, made, made_up, off
from dpsql.accounting import Budget, accountant
from dpsql.ir.event import ChoiceEvent, Event, GaussianEvent
from dpsql.ir.synthetic import SyntheticPlan as Plan
from dpsql.mechanisms.synthetic import consistent, counts, draws, measured, mst, mwem, systematic
from dpsql.mechanisms.synthetic.counts import RowCounts
from dpsql.mechanisms.synthetic.draws import Draws
from dpsql.mechanisms.synthetic.measured import Marginal, Measured
from dpsql.mechanisms.synthetic.methods import METHODS
from dpsql.mechanisms.synthetic.plan import Shape
from dpsql.mechanisms.synthetic.whole_rows import whole_rows

SIZES = (2, 3, 4, 5)
CLIP = 8 * GRID


def seeded(seed: object) -> Callable[[int], bytes]:
    return random.Random(str(seed)).randbytes


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


# ---- systematic sampling -------------------------------------------------------------------------------


def test_counts_are_shares_rounded_up_or_down() -> None:
    generator = np.random.default_rng(1)
    for rows in (0, 1, 7, 1_000, 123_457):
        weights = generator.dirichlet(np.full(50, 0.2)) * (generator.random(50) > 0.5)
        found = systematic.counts(weights, rows, seeded(rows))
        shares = rows * weights / weights.sum()
        assert found.sum() == rows
        assert (np.abs(found - shares) < 1 + 1e-9 * rows).all()
        assert not found[weights == 0].any()


def test_counts_are_shares_on_average() -> None:
    """4,000 draws of 3 rows; a count is 0 or 1 more, so 6 deviations are at most 6 * .5 / sqrt(4,000)."""
    weights, words = np.array([5.0, 3.0, 2.0, 0.0, 1.5]), seeded("mean")
    drawn = np.array([systematic.counts(weights, 3, words) for _ in range(4_000)])
    assert drawn.mean(axis=0) == pytest.approx(3 * weights / weights.sum(), abs=0.05)
    assert len({tuple(each) for each in drawn.tolist()}) > 5


def test_the_order_is_secret() -> None:
    """Equal weights and half as many rows: without an order of their own, every second one would be taken."""
    words = seeded("order")
    taken = {tuple(systematic.counts(np.ones(8), 4, words).tolist()) for _ in range(2_000)}
    assert len(taken) == math.comb(8, 4)


def test_no_weights_no_rows() -> None:
    for weights in (np.zeros(3), np.array([1.0, -1e-9]), np.array([1.0, np.nan])):
        with pytest.raises(ValueError, match="not negative"):
            systematic.counts(weights, 4, seeded(0))


def test_whole_rows_of_noisy_cells() -> None:
    found = whole_rows(np.array([2.6, -0.4, 7.1]), 9.0, 4, seeded("cells"))
    assert found.tolist() == [1, 0, 3]
    generator = np.random.default_rng(2)
    for rows in (1, 999, 20_000):
        cells = generator.integers(-(10**6), 10**7, 5_000)
        found = whole_rows(cells, float(cells.sum()), rows, seeded(rows))
        assert found.dtype == np.int64
        assert found.sum() == rows
        assert found.min() >= 0


@pytest.mark.parametrize("total", [-50.0, 0.0, 0.2])
def test_rows_of_a_table_that_noise_emptied(total: float) -> None:
    assert whole_rows(np.array([-3.0, -2.0, -9.0]), total, 11, seeded(total)).sum() == 11


# ---- exact marginals -----------------------------------------------------------------------------------


def test_marginals_are_exact() -> None:
    """Beyond 2^53, where floats would round."""
    generator = np.random.default_rng(3)
    codes = np.stack([generator.integers(0, size, 100) for size in SIZES], axis=1)
    weights = generator.integers(2**52, 2**53, 100)
    rows = RowCounts(codes, weights, SIZES, GRID)
    for columns in ((), (2,), (0, 3), (3, 0), (1, 2, 3)):
        expected = dict.fromkeys(itertools.product(*(range(SIZES[column]) for column in columns)), 0)
        for code, weight in zip(codes.tolist(), weights.tolist(), strict=True):
            expected[tuple(code[column] for column in columns)] += weight
        assert rows.marginal(columns).tolist() == list(expected.values())


def test_what_would_wrap_is_cut() -> None:
    """A sum, and a distance, whatever the weights: no number of rows makes anything fail."""
    codes = np.zeros((4, 1), dtype=np.int64)
    for weight, total in ((2**58 - 1, 2**60 - 4), (2**58, 2**60), (2**58 + 1, 2**60), (2**62, 2**60)):
        rows = RowCounts(codes, np.full(4, weight), (1,), GRID)
        assert rows.marginal(()).tolist() == [total]
    many = np.full(100, 2**60)
    assert counts.distance(many, np.zeros(100)) == 2**61
    assert Draws.from_bytes((ChoiceEvent(1.0),), seeded("far")).choose(
        [2**61, -(2**60)], GRID, ChoiceEvent(1.0)
    ) in (0, 1)


def test_what_falls_outside_is_no_table_of_counts() -> None:
    codes = np.zeros((4, 1), dtype=np.int64)
    for wrong in (codes - 1, codes + 1, np.zeros((4, 2), dtype=np.int64), np.zeros((4, 1))):
        with pytest.raises(ValueError, match="code"):
            RowCounts(wrong, np.ones(4, dtype=np.int64), (1,), GRID)
    with pytest.raises(ValueError, match="none negative"):
        RowCounts(codes, np.full(4, -1), (1,), GRID)
    plan = shaped("mst", (1, 1))
    others = RowCounts(codes, np.ones(4, dtype=np.int64), (1,), GRID)
    with pytest.raises(ValueError, match="not those that were planned"):
        mst.measured(plan, others, Draws.from_bytes(plan.events, bytes))


def test_the_largest_distance_fits() -> None:
    far = counts.distance(ints(2**60, 0), np.array([0.0, 1e300]))
    assert far == 2**60 + 2**59


def test_exact_counts_have_no_words() -> None:
    assert "weights" not in repr(RowCounts(ints(0).reshape(1, 1), ints(77), (1,), GRID))


# ---- the price -----------------------------------------------------------------------------------------


def shaped(method: str, sizes: tuple[int, ...] = SIZES, clip: int = CLIP) -> Plan:
    return METHODS[method].plan(Shape(sizes, clip, GRID), allow)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(4,), (2, 3), SIZES, EIGHT, (2,) * 12])
@pytest.mark.parametrize("name", ["zcdp", "approx"])
def test_events_cost_the_price_and_no_more(method: str, sizes: tuple[int, ...], name: str) -> None:
    rules, budget = accountant(name), Budget(2.0, 1e-6)
    plan = METHODS[method].plan(
        Shape(sizes, CLIP, GRID), lambda share: rules.allowance(0.7, budget, share, thresholds=False)
    )
    spent, more = rules.charge(plan.events), rules.charge((*plan.events, *plan.events[:1]))
    most = rules.most(0.7, budget)
    assert spent.within(most)
    assert 0.699 < rules.price_of(spent, budget) <= 0.7  # a choice is charged a little less
    assert not more.within(most)


@pytest.mark.parametrize("method", METHODS)
def test_the_shares(method: str) -> None:
    """Of rho: 2 % total, the rest 30 / 70 % (mwem) or 20 / 15 / 65 % (mst)."""
    plan = shaped(method, EIGHT)

    def rho(events: Sequence[Event]) -> float:
        return sum(
            each.epsilon**2 / 8 if isinstance(each, ChoiceEvent) else (each.sensitivity / each.scale) ** 2 / 2
            for each in events
            if isinstance(each, (ChoiceEvent, GaussianEvent))
        )

    whole = rho(plan.events)
    parts = [rho(each) / whole for each in ((plan.total,), plan.one_column, plan.choices, plan.two_columns)]
    expected = {"mwem": [0, 0.3, 0.7], "mst": [0.2, 0.15, 0.65]}[method]
    assert parts == pytest.approx([0.02, *(0.98 * share for share in expected)], rel=1e-4)
    numbers = len(plan.one_column), len(plan.choices), len(plan.two_columns)
    assert numbers == {"mwem": (0, 28, 28), "mst": (8, 7, 7)}[method]
    assert len(shaped("mwem", (2,) * 12).choices) == mwem.ROUNDS


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="262144 cells"):
        shaped("mwem", (2,) * 18)
    with pytest.raises(ValueError, match="250000 cells"):
        shaped("mst", (500, 2, 500))
    with pytest.raises(ValueError, match="too small"):
        shaped("mwem", SIZES, 2**53)
    pure, budget = accountant("pure"), Budget(1.0, 0.0)
    with pytest.raises(ValueError, match="Gaussian"):
        mst.plan(Shape(SIZES, CLIP, GRID), lambda share: pure.allowance(1.0, budget, share, thresholds=False))
    for wrong in ((), (2, 0)):
        with pytest.raises(ValueError, match="columns with values"):
            shaped("mst", wrong)


def test_only_what_was_paid_is_spent_and_once() -> None:
    noise, choice = GaussianEvent(GRID, 4.0 * GRID), ChoiceEvent(0.5)
    spending = Draws.from_bytes((noise, choice, noise), seeded("once"))
    exact = ints(GRID, 0)
    for _ in range(2):
        assert (spending.noisy(exact, noise) != exact).all()
    assert spending.choose([5, 0], GRID, choice) in (0, 1)
    for event in (noise, GaussianEvent(GRID, 5.0 * GRID)):
        with pytest.raises(RuntimeError, match="never paid"):
            spending.noisy(exact, event)
    with pytest.raises(RuntimeError, match="never paid"):
        spending.choose([5, 0], GRID, choice)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(4,), (1,), (1, 3), SIZES])
def test_all_that_was_paid_is_spent(method: str, sizes: tuple[int, ...]) -> None:
    """And a table without rows, or with one value in a column, is a table like others."""
    plan = shaped(method, sizes)
    for rows in (0, 300):
        recorder = Recorder(Draws.from_bytes(plan.events, seeded("spent")))
        fitted = METHODS[method].fitted(
            METHODS[method].measured(plan, counts_of(made_up(sizes, rows, 4), sizes), recorder)
        )
        assert sorted(map(repr, recorder.events)) == sorted(map(repr, plan.events))
        assert fitted.total >= 1
        assert np.isfinite(fitted.marginal((0,))).all()
        assert fitted.rows(50, seeded("rows")).shape == (50, len(sizes))
        assert fitted.rows(0, seeded("none")).shape == (0, len(sizes))


def test_the_law_of_a_choice() -> None:
    """Scores M apart at epsilon: chances are exp(epsilon / 2) to 1; 6 deviations of 4,000 draws are .047."""
    event = ChoiceEvent(1.4)
    words = seeded("law")
    first = [Draws.from_bytes((event,), words).choose([GRID, 0], GRID, event) == 0 for _ in range(4_000)]
    assert sum(first) / 4_000 == pytest.approx(1 / (1 + math.exp(-0.7)), abs=0.047)


# ---- one unit more or less -----------------------------------------------------------------------------


@dataclass
class Recorder:
    """Remembers what was measured, what was released of it, and the event."""

    draws: Draws
    steps: list[tuple[np.ndarray, Event, np.ndarray | int]] = field(default_factory=list)

    @property
    def events(self) -> list[Event]:
        return [event for _, event, _ in self.steps]

    def noisy(self, exact: np.ndarray, event: GaussianEvent) -> np.ndarray:
        released = self.draws.noisy(exact, event)
        self.steps.append((exact, event, released))
        return released

    def choose(self, scores: Sequence[int], clip: int, event: ChoiceEvent) -> int:
        chosen = self.draws.choose(scores, clip, event)
        self.steps.append((np.array(scores), event, chosen))
        return chosen


@dataclass
class Replay:
    """Releases what was recorded, and compares what is measured now with what was measured then.

    Losses are parts of what was paid: of the rho of noise, of the epsilon that bounds a choice's range.
    """

    recorder: Recorder
    at: int = 0
    noise: float = 0.0
    choices: float = 0.0

    def noisy(self, exact: np.ndarray, event: GaussianEvent) -> np.ndarray:
        before, paid, released = self._next(event)
        moved = math.sqrt(sum(int(each) ** 2 for each in exact - before))
        self.noise = max(self.noise, (moved / event.scale) ** 2 / (paid.sensitivity / paid.scale) ** 2)
        return released

    def choose(self, scores: Sequence[int], clip: int, event: ChoiceEvent) -> int:
        before, paid, chosen = self._next(event)
        moved = np.array(scores) - before
        loss = float(draws.rate(event, clip) * int(moved.max() - moved.min())) if len(moved) > 1 else 0.0
        self.choices = max(self.choices, loss / paid.epsilon)
        assert (np.abs(moved) <= clip).all()
        return chosen

    def _next(self, event: Event) -> tuple[np.ndarray, Event, np.ndarray | int]:
        step = self.recorder.steps[self.at]
        self.at += 1
        assert step[1] == event
        return step


def losses(method: str, plan: Plan) -> tuple[float, float]:
    """Leave out one unit after the other, of at most 8 rows each; return the largest losses found.

    Some have all rows in one cell, others in different ones, one has a row too small to count in full.
    """
    generator = np.random.default_rng(5)
    codes = made_up(SIZES, 400, 6)
    units = np.arange(400) // 8
    codes[:160] = codes[:160:8].repeat(8, axis=0)
    weights = np.full(400, GRID)
    weights[-1] = 12_345
    chosen = METHODS[method]
    recorder = Recorder(Draws.from_bytes(plan.events, seeded("units")))
    chosen.measured(plan, RowCounts(codes, weights, SIZES, GRID), recorder)
    found = Replay(recorder)
    for unit in (*range(20), *generator.choice(range(20, 49), 5, replace=False), 49):
        others = units != unit
        found.at = 0
        chosen.measured(plan, RowCounts(codes[others], weights[others], SIZES, GRID), found)
        assert found.at == len(recorder.steps)
    return found.noise, found.choices


@pytest.mark.parametrize("method", METHODS)
def test_one_unit_costs_what_was_paid(method: str) -> None:
    """No event loses more than it was charged for; the worst ones lose nearly that."""
    noise, choices = losses(method, shaped(method))
    assert noise == pytest.approx(1)
    assert 0.6 < choices <= 1 + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_a_rate_twice_too_high_is_found(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "rate", lambda event, clip: Fraction(event.epsilon) / clip)
    assert losses(method, shaped(method))[1] > 1.2


@pytest.mark.parametrize("method", METHODS)
def test_noise_for_half_the_norm_is_found(method: str) -> None:
    """As if a unit had half of its rows in each marginal."""
    plan = shaped(method)
    half = shaped(method, clip=CLIP // 2)
    wrong = replace(plan, two_columns=half.two_columns)
    assert losses(method, wrong)[0] == pytest.approx(4)


def test_scores_from_exact_marginals_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were independent columns those of the true marginals, a unit would move more than the distance."""

    def exactly(plan: Plan, released: object, counts: RowCounts, spending: draws.Spending) -> list:
        numbers = [counts.marginal((column,)).astype(float) for column in range(len(plan.sizes))]
        return found(plan, consistent.Estimates(numbers[0].sum(), tuple(numbers), {}), counts, spending)

    found = mst._chosen
    monkeypatch.setattr(mst, "_chosen", exactly)
    with pytest.raises(AssertionError):
        assert losses("mst", shaped("mst"))[1] <= 1


# ---- estimates and fits --------------------------------------------------------------------------------


def test_estimates_are_least_squares() -> None:
    """Against the whole matrix, with the marginals of a table as unknowns of its cells."""
    generator = np.random.default_rng(7)
    sizes = (2, 3, 4)
    asked = [((), 3.0), ((1,), 2.0), ((0, 1), 5.0), ((0, 1), 1.0), ((1, 2), 4.0), ((0,), 7.0)]
    codes = np.array(list(itertools.product(*map(range, sizes))))
    marginals, rows, numbers = [], [], []
    for columns, scale in asked:
        cells = math.prod(sizes[column] for column in columns)
        noisy = generator.integers(-100, 1_000, cells)
        marginals.append(Marginal(columns, tuple(noisy.tolist()), scale))
        place = counts.index(codes.T, sizes, columns)
        rows.append((place[None, :] == np.arange(cells)[:, None]) / scale)
        numbers.append(noisy / scale)
    cells, *_ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(numbers), rcond=None)
    table = cells.reshape(sizes)
    found = consistent.estimates(sizes, marginals)
    assert found.total == pytest.approx(table.sum())
    for column, numbers in enumerate(found.one_column):
        rest = tuple(each for each in range(3) if each != column)
        assert numbers == pytest.approx(table.sum(axis=rest))
    assert found.two_columns.keys() == {(0, 1), (1, 2)}
    assert found.two_columns[0, 1] == pytest.approx(table.sum(axis=2))
    assert found.two_columns[1, 2] == pytest.approx(table.sum(axis=0))


def without_noise(method: str, sizes: tuple[int, ...], pairs: Sequence[tuple[int, int]]) -> Measured:
    """Marginals of a table that is a tree of its own, nearly exactly."""
    counted = counts_of(made_up(sizes, 20_000, 8), sizes)
    columns = [(), *((column,) for column in range(len(sizes))), *pairs]
    return Measured(
        method,
        sizes,
        GRID,
        tuple(Marginal(each, tuple(counted.marginal(each).tolist()), 1.0) for each in columns),
    )


@pytest.mark.parametrize("method", METHODS)
def test_measured_marginals_are_those_of_the_fit(method: str) -> None:
    pairs = [(1, 2), (0, 2), (2, 3)]
    exact = without_noise(method, SIZES, pairs)
    fitted = METHODS[method].fitted(exact)
    assert fitted.total == pytest.approx(20_000)
    for each in exact.marginals:
        found = fitted.marginal(each.columns)
        assert np.abs(found - np.array(each.numbers) / GRID).sum() < 5


def test_the_tree_is_the_table_of_the_same_marginals() -> None:
    """Where nothing else is measured, both hold columns to be independent given those between them."""
    exact = without_noise("mst", SIZES, [(1, 2), (0, 2), (2, 3)])
    tree, table = mst.fitted(exact), mwem.fitted(exact)
    for columns in ((0, 1), (1, 0), (3, 0), (0, 1, 3), (3, 2, 1, 0), ()):
        assert np.abs(tree.marginal(columns) - table.marginal(columns)).sum() < 20  # of 20,000


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_those_of_the_fit(method: str) -> None:
    """As many as asked for, and each marginal as fitted, but for what sampling moves."""
    fitted = made(method, made_up(SIZES, 3_000, 9), SIZES, "rows")
    for rows in (1, 2_999, 40_000):
        codes = fitted.rows(rows, seeded(rows))
        assert codes.shape == (rows, len(SIZES))
        assert codes.dtype == np.int64
    drawn = counts_of(codes, SIZES).marginal
    assert off(drawn, fitted.marginal, len(SIZES), 1) < 0.01
    assert off(drawn, fitted.marginal, len(SIZES), 2) < 0.02
    assert len({tuple(row) for row in codes[:100].tolist()}) > 20  # in no order of cells


# ---- what is stored ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_what_is_stored_gives_the_same_bits(method: str) -> None:
    fitted = made(method, made_up(SIZES, 2_000, 10), SIZES, "stored")
    text = json.dumps(fitted.measured.written())
    again = METHODS[method].fitted(measured.read(json.loads(text)))
    assert again.measured == fitted.measured
    assert again.total == fitted.total
    for columns in itertools.combinations(range(len(SIZES)), 2):
        assert (again.marginal(columns) == fitted.marginal(columns)).all()
    assert (again.rows(500, seeded("same")) == fitted.rows(500, seeded("same"))).all()


def test_a_marginal_of_another_size_is_refused() -> None:
    written = made("mst", made_up(SIZES, 100, 11), SIZES, "size").measured.written()
    written["sizes"] = [2, 3, 4, 6]
    with pytest.raises(ValueError, match="not as many numbers"):
        measured.read(written)


# ---- accuracy ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "rows"), MOST)
def test_marginals_of_two_columns_are_near(method: str, rows: int) -> None:
    """Eight columns of 2 to 6 values, epsilon 1, delta 1e-6: fitted, and of as many whole rows."""
    codes = made_up(EIGHT, rows, 0)
    true = counts_of(codes, EIGHT).marginal
    fitted = made(method, codes, EIGHT, "near")
    drawn = counts_of(fitted.rows(rows, seeded("drawn")), EIGHT).marginal
    independent = METHODS["mst"].fitted(without_pairs(true, EIGHT))
    assert off(fitted.marginal, true, 8, 2) <= MOST[method, rows]
    assert off(drawn, true, 8, 2) <= MOST[method, rows]
    assert off(fitted.marginal, true, 8, 1) <= 0.01
    assert off(independent.marginal, true, 8, 2) > 0.08  # there is something to find


def without_pairs(true: Callable[[tuple[int, ...]], np.ndarray], sizes: tuple[int, ...]) -> Measured:
    """Columns in a line that are independent of each other."""
    ones = [true((column,)) for column in range(len(sizes))]
    total = int(ones[0].sum())
    pairs = {
        (0, column): np.rint(np.multiply.outer(ones[0] / total, ones[column])).astype(np.int64).ravel()
        for column in range(1, len(sizes))
    }
    return Measured("mst", sizes, GRID, tuple(Marginal(c, tuple(n.tolist()), 1.0) for c, n in pairs.items()))

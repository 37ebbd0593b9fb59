"""The steps of a linear fit: no unit moves one by more than declared, and planted errors are found."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from privacy import test_logistic
from privacy.test_logistic import a_clip_of_each_row, at, planted
from privacy.test_logistic import many as many  # a fixture
from privacy.test_models import noisy, steps_of

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.model import LARGEST_WEIGHT, lengths_of
from dpsql.ir.plan import MeasurePlan, Norm, Shape
from dpsql.plan import clips
from dpsql.post.linear import LinearSteps, _are_many, begun_of, few_are_longer, place_of
from dpsql.post.models import Sums

VISITS = "SELECT * FROM DP_LINEAR((SELECT paid, x, kind, late FROM visits))"
ALONE = "SELECT * FROM DP_LINEAR((SELECT bmi, age, late FROM people))"


def steps_at(session: Any, sql: str, seed: int) -> list[MeasurePlan]:
    """The three steps: the last two at random weights and lengths, and at the ends of what is handed down."""
    first, *others = plan_of(session, sql, 1.0).measures
    terms = len(first.measure.model.terms) - 1 if first.measure.model is not None else 0
    generator = np.random.default_rng(seed)
    drawn = [[*generator.normal(0, 1, terms).tolist(), 2.0 ** generator.uniform(-3, 6)] for _ in range(3)]
    drawn += [[far, *[0.0] * (terms - 1), scale] for far, scale in ((LARGEST_WEIGHT, 0.0), (0.0, 2.0**20))]
    return [first, *(at(step, row, "begun") for step in others for row in drawn)]


moved, in_any_order = (
    partial(test_logistic.moved, steps_of=steps_at),
    partial(test_logistic.in_any_order, steps_of=steps_at),
)


@pytest.mark.parametrize("sql", [VISITS, ALONE])
def test_nobody_moves_a_step_by_more_than_declared(many: Path, tmp_path: Path, sql: str) -> None:
    """One has 2,000 rows, one NaN, 1e300 and NULL, one is at the ends of all ranges."""
    assert moved(many, tmp_path, sql) == []


@pytest.mark.parametrize("sql", [VISITS, ALONE])
def test_the_last_step_is_clipped_to_the_length_of_its_rows(many: Path, sql: str) -> None:
    """Of four and of two terms beside 1: one step of the grid is 2^-20, and each number may round by one."""
    with dpsql.connect(str(many)) as db:
        first, counts, last = plan_of(db._open(), sql, 1.0).measures
    rows, numbers = (3, 4) if sql == VISITS else (1, 3)
    assert last.shape is Shape.UNIT
    assert last.bound == (Norm.L2, rows * (2**20 + 2))
    assert counts.noise.sensitivity == rows * 2**20
    assert len(last.measure.statistics) == numbers
    assert first.noise.sensitivity > 2 * last.noise.sensitivity


def longer_rows(sql: str) -> str:
    """Residuals twice as long as they are cut to."""
    return re.sub(r"\* 1048576\.0::DOUBLE", "* 2097152.0::DOUBLE", sql)


@pytest.mark.parametrize("change", [a_clip_of_each_row, lambda sql: longer_rows(a_clip_of_each_row(sql))])
def test_a_unit_that_is_not_clipped_is_found(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]
) -> None:
    """A unit with 2,000 rows would add all of them, and rows may be longer than they are said to be."""
    planted(monkeypatch, change, must=False)
    assert any("moves by" in problem for problem in moved(many, tmp_path, VISITS))


def test_a_clip_that_is_said_too_short_is_found(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the clip is said to be of half a row, while the engine is told to clip nobody."""
    own = clips._short

    def short(most: list[int], rows: int) -> tuple[clips.Clip, clips.Clip]:
        half = [step // 2 for step in most]
        return tuple(clips.Clip(each.norm, each.steps, Shape.ROWS) for each in own(half, rows))  # type: ignore[return-value]  # two

    monkeypatch.setattr(clips, "_short", short)
    assert any("moves by" in problem for problem in moved(many, tmp_path, ALONE))


def test_no_row_moves_the_last_bit_of_others(many: Path, tmp_path: Path) -> None:
    """A sum of floats is found in test_logistic.py: the engine adds up both alike."""
    assert in_any_order(many, tmp_path, ALONE)


def test_rows_are_counted_by_their_length(many: Path) -> None:
    """As numpy has it, of those with known values: the longest cell has all that are longer too."""
    with dpsql.connect(str(many)) as db:
        session = db._open()
        counts = plan_of(session, ALONE, 1.0).measures[1]
        weights = [0.25, -0.5, 0.125]
        found = session.engine.measure(at(counts, [*weights, 1.0], "begun")).sums[0] / 2**20
    with duckdb.connect(str(many), read_only=True) as plain:
        bmi, age, late = np.array(plain.execute("SELECT bmi, age, late FROM people").fetchall(), float).T
    terms = np.column_stack((np.ones(len(age)), (age - 54) / 36, late))
    residuals = (bmi - 35) / 25 - terms @ weights
    lengths = np.linalg.norm(terms, axis=1) * np.abs(residuals)
    ends = np.array(lengths_of(3))
    assert found[0] == np.count_nonzero(lengths > ends[0])
    for place in range(1, len(ends)):
        assert found[place] == np.count_nonzero((lengths > ends[place]) & (lengths <= ends[place - 1]))


@pytest.mark.parametrize(("longest", "few"), [(0, 40), (4, 20), (8, 20), (35, 20)])
def test_the_length_is_the_first_that_more_than_few_exceed(longest: int, few: int) -> None:
    """One row more than the noise may hide is too many; of no rows it is the shortest but one."""
    counts = np.zeros(36)
    assert few_are_longer(counts, 10.0) == 34
    counts[longest] = few
    assert few_are_longer(counts, 10.0) == 34
    counts[longest] = few + 1
    assert few_are_longer(counts, 10.0) == max(0, longest - 1)
    counts[: max(0, longest - 1)] -= 1000  # noise below 0 hides nothing
    assert few_are_longer(counts, 10.0) == max(0, longest - 1)


def test_rows_that_are_more_than_1_off_have_to_be_more() -> None:
    """Fewer are cut to the length of those that are 1 off."""
    counts = np.zeros(36)
    counts[3] = 40
    assert few_are_longer(counts, 10.0) == 3
    counts[3] = 41
    assert few_are_longer(counts, 10.0) == 2


def test_rows_of_many_cells_are_many() -> None:
    """None has more than the noise of one may hide; nine have more than the noise of nine may."""
    counts = np.zeros(36)
    counts[10:19] = 6
    assert few_are_longer(counts, 10.0) == 34
    counts[10:19] = 7
    assert few_are_longer(counts, 10.0) == 17


def test_what_was_handed_down_is_what_the_fit_is_computed_from(many: Path) -> None:
    """Of noise as large as all that is measured, too: eigenvalues are lifted alike, the length is one."""
    generator = np.random.default_rng(4)
    with dpsql.connect(str(many)) as db:
        plan = plan_of(db._open(), ALONE, 1.0)
        for _ in range(10):
            rows = list[list[Any]]()
            done = steps_of(db, plan, partial(noisy, generator), handed=rows)
            weights, (*others, scale) = begun_of(done).tolist(), rows[-1]
            assert others == weights == rows[0][:-1]
            assert scale == 1 / lengths_of(len(weights))[place_of(done)]


# ---- what is fitted ------------------------------------------------------------------------------------

FAR = """
[budget]
epsilon = 1e7
accountant = "pure"
[query]
epsilon = 1.0
max_epsilon = 1e5
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
y = { range = [-1, 1] }
x = { range = [-1, 1] }
up = {}
age = { range = [0, 100] }
smoker = {}
"""


@pytest.mark.parametrize(("fit", "half"), [("y, x", 1.0), ("up, x", 1.0), ("smoker, age", 50.0)])
def test_a_law_that_is_not_linear_has_the_least_squares_of_numpy(
    tmp_path: Path, fit: str, half: float
) -> None:
    """Predictions beyond what can be predicted are no reason to be off: of a step, and of a skewed number."""
    generator = np.random.default_rng(4)
    x, age = generator.uniform(-1, 1, 20_000), np.clip(generator.gamma(2, 12, 20_000), 0, 100)
    smoker = generator.random(20_000) < 1 / (1 + np.exp((20 - age) / 6))
    columns = {"y": np.sign(x), "x": x, "up": x > 0, "age": age, "smoker": smoker}
    path = tmp_path / "far.duckdb"
    with duckdb.connect(str(path)) as plain:
        listed = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
        values = {name: column.tolist() for name, column in columns.items()}
        plain.execute(f"CREATE TABLE people AS SELECT unnest(range(20000)) AS id, {listed}", values)
    path.with_suffix(".toml").write_text(FAR, encoding="utf-8")
    target, term = fit.split(", ")
    terms = np.column_stack((np.ones(20_000), columns[term]))
    best = np.linalg.lstsq(terms, columns[target].astype(float), rcond=None)[0]
    with dpsql.connect(str(path)) as db:
        asked = f"SELECT coefficient FROM DP_LINEAR((SELECT {fit} FROM people))"
        found = np.array(db.execute(asked, epsilon=1e4).fetchall(), dtype=float)[:, 0]
    assert found * [1, half] == pytest.approx(best * [1, half], abs=1e-3)


def linear_release(seed: int) -> tuple[LinearSteps, float]:
    """Steps at an epsilon of 1 where 40 of 10,000 are far off, and the residual variance of all."""
    generator = np.random.default_rng(seed)
    x, errors = generator.uniform(-1, 1, 10_000), generator.normal(0, 0.01, 10_000)
    errors[:40] = 1.0
    terms = np.column_stack((np.ones(10_000), x))
    y = np.clip(0.2 * x - 0.3 + errors, -1, 1)
    every, best = np.column_stack((terms, y)), np.linalg.lstsq(terms, y, rcond=None)[0]

    def noisy_sums(exact: Any, noise: Any) -> Any:
        return exact + noise[0] - np.concatenate((np.zeros_like(noise[:1]), noise[1:]))

    noise = np.triu(generator.laplace(0, 6 / 0.2, (129, 3, 3)))
    sums = Sums(noisy_sums(every.T @ every, noise + np.triu(noise, 1).transpose(0, 2, 1)))
    begun = sums.solved(2)[0]
    lengths = np.linalg.norm(terms, axis=1) * np.abs(y - terms @ begun)
    exact = np.histogram(lengths, [0, *lengths_of(2)[::-1], np.inf])[0][:0:-1].astype(float)
    noise = generator.laplace(0, 1 / 0.06, (129, len(exact)))
    counts = noisy_sums(exact, noise)
    place = few_are_longer(counts[0], float(noise.std()))
    length = lengths_of(2)[place]
    scale = np.minimum(1 / length, 1 / np.maximum(lengths, 1e-9))
    ends = terms.T @ ((y - terms @ begun) * scale)
    ends = noisy_sums(ends, generator.laplace(0, 2 / 0.74, (129, 2)))
    return LinearSteps(sums, counts, ends, begun, place), float(np.square(y - terms @ best).sum() / 9_998)


def test_rows_that_are_cut_are_not_forgotten_in_the_residual_variance() -> None:
    """Of 20 releases under fixed seeds. Where the variance is not told from 0, there is no error at all."""
    found = []
    for seed in range(20):
        steps, truth = linear_release(seed)
        variance = steps.variance()
        assert not variance <= 0
        found.append(math.sqrt(variance / truth))
    assert sum(each >= 0.5 for each in found) >= 12


def test_where_many_rows_are_longer_than_any_length_there_are_no_errors() -> None:
    """No length holds them, so they are cut: as many as noise may hide are not seen."""
    counts = np.zeros(len(lengths_of(2)))
    counts[0] = 40
    assert not _are_many(counts, 10.0)
    counts[0] = 41
    assert _are_many(counts, 10.0)
    assert few_are_longer(counts, 10.0) == 0

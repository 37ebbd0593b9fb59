"""The steps of a linear fit: no unit moves one by more than declared, and planted errors are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from privacy.test_logistic import a_clip_of_each_row, at, planted
from privacy.test_logistic import many as many  # a fixture
from privacy.test_models import noisy, steps_of

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import shuffled, without
from dpsql.audit.oracles import violations
from dpsql.ir.model import LARGEST_WEIGHT, lengths_of
from dpsql.ir.plan import MeasurePlan, Norm, Shape
from dpsql.plan import clips
from dpsql.post.linear import begun_of, few_are_longer, place_of

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


def moved(path: Path, folder: Path, sql: str) -> list[str]:
    """Where a step moves by more than declared when a person is left out."""
    problems = []
    with dpsql.connect(str(path)) as db:
        session = db._open()
        steps = steps_at(session, sql, 11)
        exact = [session.engine.measure(step) for step in steps]
        for unit in (1, 2, 3, 11):
            lacking = folder / f"without-{unit}.duckdb"
            without(path, lacking, session.known, unit)
            lacking.with_suffix(".toml").write_text(path.with_suffix(".toml").read_text())
            with dpsql.connect(str(lacking)) as other:
                engine = other._open().engine
                for step, ours in zip(steps, exact, strict=True):
                    problems += violations(step, ours, engine.measure(step))
    return problems


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
    with dpsql.connect(str(many)) as db:
        session = db._open()
        steps = steps_at(session, ALONE, 12)
        for salt in range(2):
            other = tmp_path / f"shuffled-{salt}.duckdb"
            shuffled(many, other, session.known, salt)
            other.with_suffix(".toml").write_text(many.with_suffix(".toml").read_text())
            with dpsql.connect(str(other)) as again:
                engine = again._open().engine
                for step in steps:
                    assert (engine.measure(step).sums == session.engine.measure(step).sums).all()


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
    residuals = (bmi - 35) / 25 - np.clip(terms @ weights, -1, 1)
    lengths = np.linalg.norm(terms, axis=1) * np.abs(residuals)
    ends = np.array(lengths_of(3))
    assert found[0] == np.count_nonzero(lengths > ends[0])
    for place in range(1, len(ends)):
        assert found[place] == np.count_nonzero((lengths > ends[place]) & (lengths <= ends[place - 1]))


@pytest.mark.parametrize("longest", [0, 8, 35])
def test_the_length_is_the_first_that_more_than_few_exceed(longest: int) -> None:
    """One row more than two deviations of the noise is too many; of no rows it is the shortest but one."""
    counts = np.zeros(36)
    assert few_are_longer(counts, 10.0) == 34
    counts[longest] = 20
    assert few_are_longer(counts, 10.0) == 34
    counts[longest] = 21
    assert few_are_longer(counts, 10.0) == max(0, longest - 1)


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

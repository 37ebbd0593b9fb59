"""Logistic fits: without noise they are those of Newton's method, with noise their margins hold."""

from __future__ import annotations

import math
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray
from privacy.test_models import POLICY, built

import dpsql
from dpsql.accounting.units import Units
from dpsql.aggregates import Floats
from dpsql.audit import plan_of
from dpsql.audit.neighbours import shuffled, without
from dpsql.audit.oracles import violations, without_noise
from dpsql.engines import fast_sums
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.row_cells import Row
from dpsql.ir.model import LARGEST_WEIGHT, Fit
from dpsql.ir.plan import MeasurePlan, Noise, Plan, Shape
from dpsql.ir.relation import with_rows
from dpsql.ir.table import ReleasedTable
from dpsql.post.logistic import Steps, effect_of, fitted, handed_down, note, replicas, steps_of
from dpsql.post.models import noises_of
from dpsql.releasing import from_system

COLUMNS = "smoker, age, sex, ward, bmi"
LOGISTIC = f"SELECT * FROM DP_LOGISTIC((SELECT {COLUMNS} FROM people))"
NAMES = ["(intercept)", "age", "sex = 'M'", "ward = 'B'", "ward = 'C'", "bmi"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("logistic"), 10_000)


@pytest.fixture(scope="module")
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(str(data)) as db:
        yield db


@pytest.fixture(scope="module")
def plain(data: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(data.with_name("plain.duckdb")), read_only=True) as plain:
        yield plain


def chances(terms: Floats, weights: Floats) -> Floats:
    p: Floats = 1 / (1 + np.exp(-np.clip(terms @ weights, -30, 30)))
    return p


def by_newton(terms: Floats, truth: Floats) -> Floats:
    weights = np.zeros(terms.shape[1])
    for _ in range(30):
        p = chances(terms, weights)
        curvature = (terms * (p * (1 - p))[:, np.newaxis]).T @ terms
        weights -= np.linalg.solve(curvature, terms.T @ (p - truth))
    return weights


def terms_of(plain: duckdb.DuckDBPyConnection, sql: str) -> tuple[Floats, Floats]:
    rows = np.array(plain.execute(sql).fetchall(), dtype=np.float64)
    return np.column_stack((np.ones(len(rows)), rows[:, 1:])), rows[:, 0]


# ---- without noise -------------------------------------------------------------------------------------


def test_a_fit_is_that_of_newtons_method(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    rows = without_noise(db, LOGISTIC, 1.0)
    terms, truth = terms_of(plain, "SELECT smoker, age, sex = 'M', ward = 'B', ward = 'C', bmi FROM people")
    assert [row[0] for row in rows] == NAMES
    assert [row[1] for row in rows] == pytest.approx(by_newton(terms, truth).tolist(), rel=2e-2, abs=2e-4)


def test_standard_errors_are_the_textbooks(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    rows = without_noise(db, LOGISTIC, 1.0)
    terms, truth = terms_of(plain, "SELECT smoker, age, sex = 'M', ward = 'B', ward = 'C', bmi FROM people")
    p = chances(terms, by_newton(terms, truth))
    expected = np.sqrt(np.diagonal(np.linalg.inv((terms * (p * (1 - p))[:, np.newaxis]).T @ terms)))
    assert [row[2] for row in rows] == pytest.approx(expected.tolist(), rel=1e-2)


def test_whole_numbers_and_truth_are_predicted_alike(db: dpsql.Connection) -> None:
    of_numbers = LOGISTIC.replace("smoker,", "CASE WHEN smoker THEN 1 ELSE 0 END AS y,")
    assert without_noise(db, of_numbers, 1.0) == without_noise(db, LOGISTIC, 1.0)


def test_rows_with_null_and_nan_are_in_no_step(db: dpsql.Connection) -> None:
    """Of eight rows one is NULL and one NaN; infinity and 1e300 count as the ends of the range do."""
    plan = plan_of(db._open(), "SELECT * FROM DP_LOGISTIC((SELECT smoker, odd FROM people))", 1.0)
    for planned, rows in ((plan.measures[0], 7_500), (at(plan.measures[1], [30.0, 0.0]), 6_000)):
        exact = db._open().engine.measure(planned)
        steps = float(exact.sums[0, 0] * planned.measure.statistics[0].step)
        assert steps == pytest.approx(rows, abs=40)  # where everybody's chance is 1, a fifth smokes


def at(planned: MeasurePlan, weights: list[float], name: str = "weights") -> MeasurePlan:
    """The step at these weights."""
    relation = with_rows(planned.measure.relation, {name: (tuple(weights),)})
    assert relation is not planned.measure.relation, "the step reads no weights"
    return replace(planned, measure=replace(planned.measure, relation=relation))


# ---- neighbours ----------------------------------------------------------------------------------------

VISITS = "SELECT * FROM DP_LOGISTIC((SELECT late, x, paid, kind FROM visits))"
ALONE = "SELECT * FROM DP_LOGISTIC((SELECT late, age, bmi FROM people))"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One person with 2,000 rows, one with NaN, 1e300 and NULL, one at the ends of all ranges, and others."""
    folder = tmp_path_factory.mktemp("visits")
    path = folder / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""
            CREATE TABLE people AS
            SELECT i AS id, CASE WHEN i = 3 THEN 90 ELSE 20 + i END AS age, NULL::VARCHAR AS sex,
                NULL::VARCHAR AS ward, true AS smoker, CASE WHEN i = 3 THEN 60.0 ELSE 20.0 + i END AS bmi,
                1 AS cost, 1.0::DOUBLE AS odd, i > 3 AND i % 2 = 0 AS late FROM range(1, 12) AS r(i);
            CREATE TABLE visits AS
            SELECT 1 AS id, 1.0::DOUBLE AS x, 1000 AS paid, false AS late, 'a' AS kind FROM range(2000)
            UNION ALL SELECT 2, unnest(['nan', '1e300', '-1e300', 'inf', NULL]::DOUBLE[]), 0, true, 'b'
            UNION ALL
            SELECT id, (id * k * 0.0917) % 1, (id * 97 * k) % 1000, id * k % 3 = 0,
                CASE WHEN k % 2 = 0 THEN 'a' ELSE 'b' END
            FROM people, range(1, 8) AS r(k) WHERE id > 2""")
    policy = POLICY.format(accountant="zcdp", delta="delta = 1e-6").replace("odd = {", "late = {}\nodd = {")
    policy += 'x = { range = [-1.0, 1.0] }\nkind = { values = ["a", "b"] }\n'
    path.with_suffix(".toml").write_text(policy, encoding="utf-8")
    return path


def steps_at(session: Any, sql: str, seed: int) -> list[MeasurePlan]:
    """The gradient and the curvature at random weights, and where all chances are 0 or 1."""
    plan = plan_of(session, sql, 1.0)
    gradient, curvature = plan.measures[1], plan.measures[-1]
    terms = len(gradient.measure.model.terms) - 1 if gradient.measure.model is not None else 0
    generator = np.random.default_rng(seed)
    drawn = [generator.normal(0, 2, terms).tolist() for _ in range(3)]
    drawn += [[far, *[0.0] * (terms - 1)] for far in (LARGEST_WEIGHT, -LARGEST_WEIGHT)]
    return [plan.measures[0], *(at(step, weights) for step in (gradient, curvature) for weights in drawn)]


StepsOf = Callable[[Any, str, int], list[MeasurePlan]]
"""(session, SQL, seed) -> the steps of a fit, at random numbers in place of what is handed down."""


def moved(path: Path, folder: Path, sql: str, steps_of: StepsOf = steps_at) -> list[str]:
    """Where a step moves by more than declared when a person is left out."""
    problems = []
    with dpsql.connect(str(path)) as db:
        session = db._open()
        steps = steps_of(session, sql, 11)
        exact = [session.engine.measure(step) for step in steps]
        for unit in (1, 2, 3, 4, 11):
            lacking = folder / f"without-{unit}.duckdb"
            if not lacking.exists():
                without(path, lacking, session.known, unit)
                lacking.with_suffix(".toml").write_text(path.with_suffix(".toml").read_text())
            with dpsql.connect(str(lacking)) as other:
                engine = other._open().engine
                for step, ours in zip(steps, exact, strict=True):
                    problems += violations(step, ours, engine.measure(step))
    return problems


@pytest.mark.parametrize("sql", [VISITS, ALONE])
def test_nobody_moves_a_step_by_more_than_declared(many: Path, tmp_path: Path, sql: str) -> None:
    assert moved(many, tmp_path, sql) == []


def planted(patch: pytest.MonkeyPatch, change: Callable[[str], str], must: bool = True) -> None:
    """Change the SQL of every step of which the engine reads rows; it ``must`` be another then."""

    def changed(
        planned: MeasurePlan, few: bool = False, dialect: Dialect = DUCKDB, row: Row | None = None
    ) -> str:
        sql = measure_sql(planned, few, dialect, row)
        assert change(sql) != sql or not must
        return change(sql)

    patch.setattr(fast_sums, "measure_sql", changed)


def a_clip_of_each_row(sql: str) -> str:
    return re.sub(r"CASE WHEN n > \d+::HUGEINT THEN .*? END AS f", "CAST(NULL AS DOUBLE) AS f", sql)


def a_row_of_norm_1_01(sql: str) -> str:
    return sql.replace("* 1048576.0::DOUBLE", "* 1059061.76::DOUBLE").replace("* 4194304.0", "* 4236247.04")


def a_sum_of_floats(sql: str) -> str:
    sql = re.sub(r"CAST\((CASE WHEN x\d+ < .*?\* \d+\.0::DOUBLE) AS BIGINT\)", r"(\1)", sql)
    floats = r"CAST(CAST(sum(\1 / 3.0) * 1e9 AS HUGEINT) % 1099511627776 AS BIGINT) AS"
    return re.sub(r"CAST\(coalesce\(sum\((g\d+)\), 0\) AS BIGINT\) AS", floats, sql)


def test_a_clip_of_each_row_is_found(many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit with 2,000 rows would add all of them."""
    planted(monkeypatch, a_clip_of_each_row)
    assert any("moves by" in problem for problem in moved(many, tmp_path, VISITS))


def test_a_row_of_norm_1_01_is_found(many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is at the ends of all ranges, and not late where all chances are 1, moves each sum by 1."""
    planted(monkeypatch, a_row_of_norm_1_01)
    assert any("moves by" in problem for problem in moved(many, tmp_path, ALONE))


def in_any_order(path: Path, folder: Path, sql: str = ALONE, steps_of: StepsOf = steps_at) -> bool:
    """Whether the sums of steps are the same, to the last bit, in tables with other orders of rows."""
    with dpsql.connect(str(path)) as db:
        session = db._open()
        steps = steps_of(session, sql, 12)
        for salt in range(3):
            other = folder / f"shuffled-{salt}.duckdb"
            shuffled(path, other, session.known, salt)
            other.with_suffix(".toml").write_text(path.with_suffix(".toml").read_text())
            with dpsql.connect(str(other)) as again:
                engine = again._open().engine
                for step in steps:
                    if (engine.measure(step).sums != session.engine.measure(step).sums).any():
                        return False
    return True


def test_no_row_moves_the_last_bit_of_others(many: Path, tmp_path: Path) -> None:
    assert in_any_order(many, tmp_path)


def test_a_sum_of_floats_is_found(many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, a_sum_of_floats)
    assert not in_any_order(many, tmp_path)


def test_a_unit_of_many_rows_is_clipped_as_a_whole(many: Path) -> None:
    with dpsql.connect(str(many)) as db:
        shapes = {planned.shape for planned in plan_of(db._open(), VISITS, 1.0).measures}
    assert shapes == {Shape.UNIT}


# ---- with noise ----------------------------------------------------------------------------------------


def drawn(generator: np.random.Generator, exact: Floats, deviation: float, draws: int) -> Floats:
    """A sum with noise, and what it would be without each of so many simulated noises."""
    symmetric = exact.shape[0] == exact.shape[-1] and exact.ndim == 2
    noise = generator.normal(0, deviation, (draws + 1, *exact.shape))
    if symmetric:
        noise = np.triu(noise) + np.swapaxes(np.triu(noise, 1), -1, -2)
    released = exact + noise[0]
    return np.concatenate((released[np.newaxis], released - noise[1:]))


@pytest.mark.parametrize("deviation", [12.0, pytest.param(4.0, marks=pytest.mark.sweep)])
def test_margins_hold(deviation: float) -> None:
    """Of 150 data sets under a fixed seed: of the fit without noise, and from low to high of the law."""
    generator, law = np.random.default_rng(5), np.array([-1.0, 0.8, -0.5, 0.3])
    held, kept = list[NDArray[np.bool_]](), list[NDArray[np.bool_]]()
    for _ in range(150):
        terms = np.column_stack((np.ones(4_000), generator.uniform(-1, 1, (4_000, 3))))
        truth = (generator.random(4_000) < chances(terms, law)).astype(np.float64)
        products = drawn(generator, terms.T @ terms, 2 * deviation, 300)
        least = effect_of(products)
        gradients: tuple[Floats, ...] = ()
        for _ in range(8):
            weights = Steps(products, gradients, None, least).weights()[-1]
            gradient = terms.T @ (chances(terms, weights) - truth)
            gradients = (*gradients, drawn(generator, gradient, deviation, 300))
        p = chances(terms, np.mean(Steps(products, gradients, None, least).weights()[3:], axis=0))
        curvature = (terms * (p * (1 - p))[:, np.newaxis]).T @ terms
        steps = Steps(products, gradients, drawn(generator, curvature, deviation / 2, 300), least)
        assert steps.clear() > 1
        solution, best = steps.solution(), by_newton(terms, truth)
        ends = np.quantile(steps.moved(solution), (0.025, 0.975), axis=0)
        margin = np.abs(ends).max(axis=0)
        errors = np.sqrt(np.diagonal(np.linalg.inv(steps.curved())))
        held.append(np.abs(solution - best) <= margin)
        kept.append(np.abs(solution - law) <= np.hypot(margin, 1.96 * errors))
    assert 0.92 <= np.mean(held) <= 0.985
    assert 0.92 <= np.mean(kept) <= 0.985


def test_few_people_have_coefficients_without_errors(tmp_path: Path) -> None:
    with dpsql.connect(str(built(tmp_path, 300))) as db:
        answer = db.execute(LOGISTIC)
        assert "nobody knows how far the coefficients are off" in answer.note
        rows = answer.fetchall()
    assert [row[0] for row in rows] == NAMES
    assert all(math.isfinite(row[1]) and row[2:] == (None,) * 4 for row in rows)


def test_a_chance_that_is_predicted_has_a_margin(tmp_path: Path) -> None:
    """At the mean age it is more exact than the coefficients alone would say: they move together."""
    fit = "DP_LOGISTIC((SELECT smoker, age FROM people)) AS fit"
    log_odds = "SUM(coefficient * CASE term WHEN 'age' THEN 54 ELSE 1 END)"
    with dpsql.connect(str(built(tmp_path, 20_000))) as db:
        coefficients = db.execute(f"SELECT coefficient FROM {fit}")
        predicted = db.execute(f"SELECT {log_odds} AS odds FROM {fit}")
        ((margin,),), ((odds,),) = predicted.margins, predicted.fetchall()
        start, slope = (row[0] for row in coefficients.margins)
    assert predicted.cost == 0
    assert 0 < margin < math.hypot(start, 54 * slope) / 2
    assert margin < 0.02
    assert (
        abs(odds - math.log(0.2 / 0.8)) < 0.12
    )  # one in five smokes: six deviations of .0177, chance and noise


def of_nobody(
    db: dpsql.Connection, sql: str, factor: float, seed: int
) -> list[tuple[MeasurePlan, ReleasedTable]]:
    """The steps of a fit to nobody: so many times their noise."""
    generator = np.random.default_rng(seed)
    made = []
    for planned in plan_of(db._open(), sql, 1.0).measures:
        numbers = generator.normal(0, planned.noise.scale, (1, len(planned.measure.statistics)))
        made.append((planned, ReleasedTable([()], np.rint(factor * numbers).astype(np.int64))))
    return made


@pytest.mark.parametrize("factor", [0.0, 1.0, -1.0, 1e6])
def test_what_was_released_of_nobody_is_finite(db: dpsql.Connection, factor: float) -> None:
    """Noise alone, however large: no number of it makes a step fail, or a weight leave its range."""
    made = of_nobody(db, LOGISTIC, factor, 3)
    for upto in range(1, len(made)):
        model = made[upto - 1][0].measure.model
        assert model is not None
        weights = [column.values[0] for column in handed_down(made[:upto], model)]
        assert all(isinstance(weight, float) and abs(weight) <= LARGEST_WEIGHT for weight in weights)
    model = made[-1][0].measure.model
    assert model is not None
    for column in fitted(made, model, 0.95)[1:]:
        assert all(value is None or math.isfinite(float(str(value))) for value in column.values)
    noises = [np.ones((64, len(planned.measure.statistics))) for planned, _ in made]
    assert replicas(made, model, noises).shape == (len(NAMES), 64)
    assert "nobody knows" in note(made, "person")


@pytest.mark.parametrize("draws", [64, 1_024])
def test_what_was_handed_down_is_what_the_fit_is_computed_from(db: dpsql.Connection, draws: int) -> None:
    """Of nobody, where noise decides what eigenvalues are lifted to: it is the same at every step."""
    for seed in range(3):
        made = of_nobody(db, LOGISTIC, 1.0, seed)
        weights = steps_of(made, noises_of(made, draws)).weights()
        for upto in range(1, len(made) - 1):
            model = made[upto - 1][0].measure.model
            assert model is not None
            if not model.mean:
                handed = [column.values[0] for column in handed_down(made[:upto], model)]
                assert handed == weights[upto - 1].tolist()


# ---- what it costs, and what it rests on ---------------------------------------------------------------


def plan_and_price(db: dpsql.Connection, sql: str) -> tuple[Plan, Units, Units]:
    session = db._open()
    plan, terms = plan_of(session, sql, 1.0), session.terms(1.0)
    return plan, terms.accountant.charge(plan.events), terms.accountant.most(1.0, terms.budget)


@pytest.mark.parametrize("steps", [4, 8, 30])
def test_all_steps_together_cost_the_price(db: dpsql.Connection, steps: int) -> None:
    """Each has an event of its own; gradients cost the same, and all of them nearly three quarters."""
    sql = LOGISTIC.replace("SELECT smoker", f"SELECT OPTIONS(steps = {steps}) smoker")
    plan, charge, price = plan_and_price(db, sql)
    assert len(plan.events) == len(plan.measures) == steps + 2
    assert len(plan.stages) == steps + 2
    assert charge.within(price)
    assert charge.main > 0.999 * price.main
    fits = [planned.measure.model.fit for planned in plan.measures if planned.measure.model is not None]
    assert fits == [Fit.WEIGHTS] * (steps + 1) + [Fit.LOGISTIC]
    assert len({planned.noise for planned in plan.measures[1:-1]}) == 1


def test_a_repeat_and_another_reading_are_free(tmp_path: Path) -> None:
    with dpsql.connect(str(built(tmp_path, 1_000))) as db:
        first = db.execute(LOGISTIC)
        again = db.execute(f"SELECT term, coefficient FROM DP_LOGISTIC((SELECT {COLUMNS} FROM people)) AS m")
        assert (first.cost, again.cost) == (1.0, 0.0)
        assert again.fetchall() == [row[:2] for row in first.fetchall()]
        fewer = LOGISTIC.replace("SELECT smoker", "SELECT OPTIONS(steps = 5) smoker")
        assert db.execute(fewer).cost == 1.0


KILLED = """
import os, signal, sys
import dpsql
from dpsql.engines.duckdb import DuckDB

measure, left = DuckDB.measure, [int(sys.argv[2])]

def killed(self, planned):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return measure(self, planned)

DuckDB.measure = killed
with dpsql.connect(sys.argv[1]) as db:
    db.execute(sys.argv[3])
"""


@pytest.mark.parametrize("done", [3, *(pytest.param(done, marks=pytest.mark.sweep) for done in (0, 1, 5))])
def test_kill_between_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    """What was released stays as it was: only the other steps draw noise, and nothing is paid again."""
    path, sql = built(tmp_path, 1_000), LOGISTIC.replace("SELECT smoker", "SELECT OPTIONS(steps = 4) smoker")
    child = subprocess.run([sys.executable, "-c", KILLED, str(path), str(done), sql], check=False)
    assert child.returncode == -signal.SIGKILL
    asked = list[Noise]()

    def counted(noise: Noise, size: int) -> NDArray[np.int64]:
        asked.append(noise)
        return from_system(noise, size)

    monkeypatch.setattr("dpsql.releasing.from_system", counted)
    with dpsql.connect(str(path)) as db:
        spent = db.budget.spent
        rows = db.execute(sql).fetchall()
        assert db.budget.spent == spent > 0
        assert len(asked) == 6 - done
        assert db.execute(sql).fetchall() == rows
        assert len(asked) == 6 - done


def test_an_explanation_names_the_steps(db: dpsql.Connection) -> None:
    explanation = db.explain("SELECT * FROM DP_LOGISTIC((SELECT smoker, age, bmi FROM people))")
    said = " ".join(str(explanation).split())
    assert "logistic fit of smoker on (intercept), age, bmi, step 1: 6 sums of products" in said
    assert "step 2: the gradient, 3 sums of terms times (chance - smoker)" in said
    assert said.count("as before, with noise of its own") == 7
    assert "the last of 10 steps of the logistic fit" in said
    assert said.count("sensitivity of") == 3

"""Fits to private rows: without noise they are numpy's and DuckDB's, with noise their margins hold."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import without_noise
from dpsql.ir.model import Fit
from dpsql.ir.plan import MeasurePlan, Noise, Plan, Shape
from dpsql.ir.relation import with_rows
from dpsql.mechanisms import mechanism
from dpsql.post import models
from dpsql.post.finish import followed
from dpsql.post.linear import fitted, handed_down, note
from dpsql.post.logistic import Released
from dpsql.post.models import matrices_of
from dpsql.release.release import release

POLICY = """
[budget]
epsilon = 1000
{delta}
accountant = "{accountant}"

[query]
epsilon = 1.0

[unit]
name = "person"
table = "people"
key = "id"

[tables.people.columns]
id = {{}}
age = {{ range = [18, 90] }}
sex = {{ values = ["F", "M"] }}
ward = {{ values = ["A", "B", "C"] }}
smoker = {{}}
bmi = {{ range = [10.0, 60.0] }}
cost = {{ range = [0, 2000] }}
odd = {{ range = [-5.0, 5.0] }}

[tables.visits]
unit = {{ column = "id" }}
rows_per_unit = 3

[tables.visits.columns]
id = {{}}
paid = {{ range = [0, 1000] }}
late = {{}}
"""
DAYS = """
[tables.days.columns]
id = { }
cost = { range = [0, 2000] }
born = { range = [1930-01-01, 2010-12-31] }
seen = { range = [2020-01-01T00:00:00, 2024-12-31T23:59:59] }

[tables.days]
unit = { column = "id" }
rows_per_unit = 1
"""
COLUMNS = "cost, age, sex, ward, smoker, bmi"
LINEAR = f"SELECT * FROM DP_LINEAR((SELECT {COLUMNS} FROM people))"


def built(folder: Path, people: int, accountant: str = "zcdp", seed: int = 1) -> Path:
    """People of whom a linear law holds, and rows that no law holds for."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as plain:
        plain.execute(f"SELECT setseed({seed / 1000})")
        plain.execute(f"""
            CREATE TABLE people AS
            SELECT i AS id, age, sex, ward, smoker, bmi,
                   LEAST(2000, GREATEST(0, 200 + 6 * age + CASE sex WHEN 'M' THEN 80 ELSE 0 END
                       - CASE ward WHEN 'B' THEN 50 ELSE 0 END + CASE WHEN smoker THEN 300 ELSE 0 END
                       + 4 * bmi + 600 * (random() - 0.5))) AS cost,
                   [NULL, 'nan', 'inf', '-inf', '1e300', '0.5', '2', '-3'][1 + i % 8]::DOUBLE AS odd
            FROM (SELECT i, 18 + floor(random() * 72)::INTEGER AS age, CASE WHEN random() < 0.5 THEN 'F' ELSE
                  'M' END AS sex, ['A', 'B', 'C'][1 + floor(random() * 3)::INTEGER] AS ward,
                  random() < 0.2 AS smoker, 16 + 24 * random() AS bmi FROM range({people}) AS r(i))""")
        plain.execute("""
            CREATE TABLE days AS
            SELECT id, cost, CASE WHEN id % 11 > 0
                                  THEN TIMESTAMP '2020-01-01' + to_minutes(id * 7919 % 2600000) END AS seen,
                   CASE WHEN id % 7 > 0 THEN DATE '2024-06-01' - (365 * age + id % 365)::INTEGER
                        ELSE DATE 'infinity' END AS born
            FROM people""")
        plain.execute("""
            CREATE TABLE visits AS SELECT id, cost / 2 AS paid, id % 3 = k AS late
            FROM people, range(3) AS r(k) WHERE k <= id % 3""")
    shutil.copy(path, path.with_name("plain.duckdb"))
    delta = "" if accountant == "pure" else "delta = 1e-6"
    policy = POLICY.format(accountant=accountant, delta=delta) + DAYS
    path.with_suffix(".toml").write_text(policy, encoding="utf-8")
    return path


def nothing(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("models"), 10_000)


@pytest.fixture(scope="module")
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(str(data)) as db:
        yield db


@pytest.fixture(scope="module")
def plain(data: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(data.with_name("plain.duckdb")), read_only=True) as plain:
        yield plain


def planned_of(db: dpsql.Connection, sql: str) -> MeasurePlan:
    """Return the plan of the sums of products: all of a covariance, the first step of a linear fit."""
    return plan_of(db._open(), sql, 1.0).measures[0]


Draw = Callable[[Noise, int], NDArray[np.int64]]


def steps_of(
    db: dpsql.Connection, plan: Plan, draw: Draw, scale: float = 1.0, handed: list[Any] | None = None
) -> list[Released]:
    """Return the releases of a linear fit with this noise; what is computed from them knows of ``scale``.

    What is ``handed`` down is added there.
    """
    engine, done, rows = db._open().engine, list[Released](), dict[str, Any]()
    for stage in plan.stages:
        (planned,) = stage.measures
        relation = with_rows(planned.measure.relation, rows) if rows else planned.measure.relation
        asked = replace(planned, measure=replace(planned.measure, relation=relation))
        done.append((less_noise(planned, scale), release(engine.measure(asked), planned, draw)))
        model = planned.measure.model
        if stage.awaited is not None and model is not None:
            row = tuple(column.values[0] for column in handed_down(done, model))
            rows = {stage.awaited.name: (row,)}
            if handed is not None:
                handed.append([*row])
    return done


def columns_of_steps(done: list[Released]) -> list[Any]:
    model = done[-1][0].measure.model
    assert model is not None
    return fitted(done, model, 0.95)


def by_numpy(plain: duckdb.DuckDBPyConnection, where: str = "") -> Any:
    rows = plain.execute(f"SELECT {COLUMNS} FROM people {where}").fetchall()
    terms = [
        [1, age, sex == "M", ward == "B", ward == "C", smoker, bmi] for _, age, sex, ward, smoker, bmi in rows
    ]
    return np.linalg.lstsq(np.array(terms, dtype=float), np.array([row[0] for row in rows]), rcond=None)[0]


# ---- without noise -------------------------------------------------------------------------------------


def test_least_squares(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    rows = without_noise(db, LINEAR, 1.0)
    names = ["(intercept)", "age", "sex = 'M'", "ward = 'B'", "ward = 'C'", "smoker", "bmi"]
    assert [row[0] for row in rows] == names
    assert [row[1] for row in rows] == pytest.approx(by_numpy(plain), rel=1e-4, abs=0.01)


@pytest.mark.parametrize(
    ("fit", "theirs"),
    [
        ("SELECT paid, late FROM visits", "SELECT paid AS y, late::INTEGER AS x FROM visits"),
        (
            "SELECT paid, age FROM visits JOIN people USING (id)",
            "SELECT paid AS y, age AS x FROM visits JOIN people USING (id)",
        ),
        (
            "SELECT age, odd FROM people WHERE odd BETWEEN -4 AND 4",
            "SELECT age AS y, odd AS x FROM people WHERE odd BETWEEN -4 AND 4",
        ),
    ],
)
def test_one_predictor_is_as_in_duckdb(
    db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, fit: str, theirs: str
) -> None:
    first, second = without_noise(db, f"SELECT * FROM DP_LINEAR(({fit}))", 1.0)
    expected = plain.execute(f"SELECT regr_intercept(y, x), regr_slope(y, x) FROM ({theirs})").fetchone()
    assert expected is not None
    for ours, own in zip((first, second), expected, strict=True):
        assert ours[1] == pytest.approx(own, rel=1e-3, abs=ours[5] / 4)  # the longest rows are cut


def test_days_and_moments_predict(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    """Their coefficients are for each day; what has no end, or is NULL, is in no row of a model."""
    rows = without_noise(db, "SELECT * FROM DP_LINEAR((SELECT cost, born, seen FROM days))", 1.0)
    read = "date_diff('day', DATE '1970-01-01', born), epoch_us(seen) / 86400e6, cost"
    found = plain.execute(f"SELECT {read} FROM days WHERE isfinite(born) AND isfinite(seen)").fetchall()
    days = np.array(found, dtype=float)
    terms = np.column_stack((np.ones(len(days)), days[:, :2]))
    expected = np.linalg.lstsq(terms, days[:, 2], rcond=None)[0]
    assert 5_000 < len(days) < 10_000
    assert [row[0] for row in rows] == ["(intercept)", "born", "seen"]
    for row, own in zip(rows, expected, strict=True):
        assert row[1] == pytest.approx(own, rel=1e-3, abs=row[5] / 4)  # the longest rows are cut


def test_as_many_sums_as_a_norm_has_parts(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    """561 sums of units of several rows: their norm is a sum of sums (and 5,151 of 100 terms, as a sweep)."""
    check_cosines(db, plain, 31)


@pytest.mark.sweep
def test_a_hundred_terms(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    check_cosines(db, plain, 99)


def check_cosines(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, number: int) -> None:
    """Compare the sums of products of cosines of what was paid, and of what is predicted, with numpy's."""
    said = [f"cos({place} * paid)" for place in range(1, number + 1)]
    columns = ", ".join(f"{each} AS c{place}" for place, each in enumerate(said))
    planned = planned_of(db, f"SELECT * FROM DP_LINEAR((SELECT paid, {columns} FROM visits))")
    model, exact = planned.measure.model, db._open().engine.measure(planned)
    assert model is not None
    silent = release(exact, planned, nothing)
    found = matrices_of(silent, planned, model, np.zeros((0, silent.sums.shape[1])))[0]
    rows = plain.execute(f"SELECT {', '.join(said)}, (paid - 500) / 500 FROM visits").fetchall()
    terms = np.column_stack((np.ones(len(rows)), np.array(rows, dtype=float)))
    assert planned.shape is Shape.UNIT
    assert found == pytest.approx(terms.T @ terms, rel=1e-4, abs=0.02)


def test_values_that_no_range_holds(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    """NULL and NaN are in no row of a model; infinity and 1e300 count as the ends of the range do."""
    planned = planned_of(db, "SELECT * FROM DP_LINEAR((SELECT odd, smoker FROM people))")
    silent = release(db._open().engine.measure(planned), planned, nothing)
    counted, *_ = (
        followed(planned, finish, silent.sums[0].astype(float)) for finish in planned.measure.finishes
    )
    assert float(counted) == 7_500
    assert all(abs(float(total)) <= 7_501 * 2**20 for total in silent.sums[0])


def test_covariances_are_as_in_duckdb(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    rows = without_noise(db, "SELECT * FROM DP_COVARIANCE((SELECT cost, age, smoker FROM people))", 1.0)
    columns = ["cost", "age", "smoker::INTEGER"]
    pairs = [(a, b) for place, a in enumerate(columns) for b in columns[place:]]
    asked = ", ".join(f"covar_samp({a}, {b})" for a, b in pairs)
    theirs = plain.execute(f"SELECT {asked} FROM people").fetchone()
    assert [(row[0], row[1]) for row in rows] == [(a.split(":")[0], b.split(":")[0]) for a, b in pairs]
    assert [row[2] for row in rows] == pytest.approx(theirs, rel=1e-3, abs=1e-4)


def test_standard_errors(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    """Of one predictor the textbook's: the residual variance over the spread of x."""
    plan = plan_of(db._open(), "SELECT * FROM DP_LINEAR((SELECT cost, age FROM people))", 1.0)
    _, coefficient, error, low, high, margin = columns_of_steps(steps_of(db, plan, nothing, 1e-9))
    (expected,) = plain.execute(
        "SELECT sqrt((regr_syy(cost, age) - regr_sxy(cost, age) ** 2 / regr_sxx(cost, age)) "
        "/ (count(*) - 2) / regr_sxx(cost, age)) FROM people"
    ).fetchone() or (None,)
    assert error.values[1] == pytest.approx(expected, rel=1e-3)
    assert number(high, 1) - number(low, 1) == pytest.approx(2 * 1.96 * expected, rel=1e-3)
    assert number(margin, 1) < 1e-4 * number(error, 1)
    assert number(low, 1) < number(coefficient, 1) < number(high, 1)


def number(column: Any, place: int) -> float:
    value = column.values[place]
    assert isinstance(value, float)
    return value


def less_noise(planned: MeasurePlan, scale: float) -> MeasurePlan:
    """The same plan with less noise than it has, for what is computed from it."""
    return replace(planned, noise=replace(planned.noise, scale=planned.noise.scale * scale))


# ---- with noise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("accountant", ["zcdp", "pure"])
def test_margins_hold(tmp_path: Path, accountant: str) -> None:
    """Of 100 releases under a fixed seed, of the coefficients of the same rows without privacy."""
    path = built(tmp_path, 20_000, accountant)
    with duckdb.connect(str(path.with_name("plain.duckdb")), read_only=True) as plain:
        rows = np.array(plain.execute("SELECT cost, 1, age, smoker FROM people").fetchall(), dtype=float)
    best = np.linalg.lstsq(rows[:, 1:], rows[:, 0], rcond=None)[0]
    generator, held = np.random.default_rng(7), 0
    with dpsql.connect(str(path)) as db:
        plan = plan_of(db._open(), "SELECT * FROM DP_LINEAR((SELECT cost, age, smoker FROM people))", 1.0)
        for _ in range(100):
            columns = columns_of_steps(steps_of(db, plan, partial(noisy, generator)))
            held += sum(
                abs(number(columns[1], place) - true) <= number(columns[5], place)
                for place, true in enumerate(best)
            )
    assert 0.9 <= held / 300 <= 0.99


def times(factor: float, generator: np.random.Generator, noise: Noise, size: int) -> NDArray[np.int64]:
    return np.rint(factor * generator.normal(0, noise.scale, size)).astype(np.int64)


def noisy(generator: np.random.Generator, noise: Noise, size: int) -> NDArray[np.int64]:
    deviation = mechanism(noise.mechanism).deviation(noise.scale)
    drawn = generator.normal(0, deviation, size)
    if noise.mechanism != "gaussian":
        drawn = generator.laplace(0, deviation / math.sqrt(2), size)
    return np.rint(drawn).astype(np.int64)


def test_few_people_have_coefficients_without_errors(tmp_path: Path) -> None:
    """And a note says how many would do; the same rows without noise do have errors."""
    with dpsql.connect(str(built(tmp_path, 300))) as db:
        answer = db.execute(LINEAR)
        assert "nobody knows how far the coefficients are off" in answer.note
        assert all(row[2:] == (None,) * 4 for row in answer.fetchall())
        silent = steps_of(db, plan_of(db._open(), LINEAR, 1.0), nothing, 1e-9)
    assert note(silent, "person") == ""
    errors = columns_of_steps(silent)[2]
    assert all(math.isfinite(number(errors, place)) for place in range(7))


def test_terms_that_say_the_same_have_no_errors(db: dpsql.Connection) -> None:
    """Of 50 releases under a fixed seed: what tells them apart is noise alone."""
    sql = "SELECT * FROM DP_LINEAR((SELECT cost, age, age + 1 AS older FROM people))"
    plan, generator = plan_of(db._open(), sql, 1.0), np.random.default_rng(3)
    for _ in range(50):
        columns = columns_of_steps(steps_of(db, plan, partial(noisy, generator)))
        assert all(math.isfinite(number(columns[1], place)) for place in range(3))
        assert columns[2].values == [None] * 3


def test_predictions_have_margins_that_know_how_coefficients_move_together(db: dpsql.Connection) -> None:
    """At the mean age a prediction is more exact than the intercept and the slope alone would say."""
    fit = "DP_LINEAR((SELECT cost, age FROM people))"
    cursor = db.execute(
        f"SELECT SUM(coefficient * CASE term WHEN 'age' THEN 54 ELSE 1 END) AS predicted FROM {fit} AS m"
    )
    ((predicted,),) = cursor.margins
    (start,), (slope,) = db.execute(f"SELECT coefficient FROM {fit}").margins
    assert 0 < predicted < math.hypot(start, 54 * slope) / 2


def test_a_fit_joined_to_rows_has_a_row_for_each_term(db: dpsql.Connection) -> None:
    """What takes it for one row is refused before anything is paid."""
    left = db.budget.remaining
    for asked, code in (
        (f"people, ({LINEAR}) AS m WHERE cost > m.coefficient", "D303"),
        (f"people WHERE cost > (SELECT coefficient FROM ({LINEAR}))", "D255"),
    ):
        with pytest.raises(dpsql.Error, match=code):
            db.execute(f"SELECT COUNT(*) FROM {asked}")
    assert db.budget.remaining == left


def test_a_repeat_and_another_reading_are_free(db: dpsql.Connection) -> None:
    first = db.execute(LINEAR)
    again = db.execute(f"SELECT term, high FROM DP_LINEAR((SELECT {COLUMNS} FROM people)) WHERE low > 0")
    assert again.cost == 0
    assert again.fetchall() == [
        (row[0], row[4]) for row in first.fetchall() if row[3] is not None and row[3] > 0
    ]


# ---- what it rests on ----------------------------------------------------------------------------------


def test_products_that_are_the_same_or_never_are_not_measured(db: dpsql.Connection) -> None:
    """Of 36 products of 8 terms: a condition is its own square, and nobody is in two wards."""
    model = planned_of(db, LINEAR).measure.model
    assert model is not None
    assert model.fit is Fit.BEGUN
    named = [name for place, row in enumerate(model.sums) for name in row[place:]]
    assert len(named) == 36
    assert named.count(None) == 1
    assert len(set(named) - {None}) == 36 - 1 - 4


def test_each_sum_is_of_its_own_terms(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection) -> None:
    """Sum by sum, as DuckDB has it: a sum in another's place would be no fit at all."""
    planned = planned_of(db, LINEAR)
    model, exact = planned.measure.model, db._open().engine.measure(planned)
    assert model is not None
    silent = release(exact, planned, nothing)
    cells = silent.sums[0].astype(float)
    found = {finish.call.name: float(followed(planned, finish, cells)) for finish in planned.measure.finishes}
    columns = [
        "1",
        "age",
        "(sex = 'M')::INT",
        "(ward = 'B')::INT",
        "(ward = 'C')::INT",
        "smoker::INT",
        "bmi",
        "cost",
    ]
    terms = [
        f"(({column}) - {term.middle if term.half and place else 0}) / {term.half if place else 1}"
        for place, (column, term) in enumerate(zip(columns, model.terms, strict=True))
    ]
    for place, row in enumerate(model.sums):
        for other, name in enumerate(row):
            (theirs,) = plain.execute(
                f"SELECT SUM({terms[place]} * {terms[other]}) FROM people"
            ).fetchone() or (0,)
            ours = 0.0 if name is None else found[name]
            assert ours == pytest.approx(float(theirs), rel=1e-4, abs=0.02), (place, other)


@pytest.mark.parametrize("terms", [12, pytest.param(100, marks=pytest.mark.sweep)])
def test_terms_that_say_the_same_thing_often(db: dpsql.Connection, terms: int) -> None:
    """The shortest solution: it never fails."""
    columns = ", ".join(f"(age + {place}) % {2 * place + 3} AS x{place}" for place in range(1, terms))
    rows = db.execute(f"SELECT * FROM DP_LINEAR((SELECT cost, {columns} FROM people))").fetchall()
    assert len(rows) == terms
    assert all(math.isfinite(row[1]) for row in rows)


def test_what_was_released_of_nobody_is_finite(tmp_path: Path) -> None:
    """Noise alone, positive and negative: no number of it makes a fit fail."""
    with dpsql.connect(str(built(tmp_path, 1))) as db:
        plan = plan_of(db._open(), LINEAR, 1.0)
        covariance = planned_of(db, "SELECT * FROM DP_COVARIANCE((SELECT age, smoker FROM people))")
        exact, generator = db._open().engine.measure(covariance), np.random.default_rng(5)
        for factor in (0.0, 1.0, -1.0, 1e6, 1e9):
            draw = partial(times, factor, generator)
            assert covariance.measure.model is not None
            released = release(exact, covariance, draw)
            made = models.fitted(released, covariance, covariance.measure.model, 0.95)
            for columns in (made, columns_of_steps(steps_of(db, plan, draw))):
                numbers = [each for column in columns for each in column.values if not isinstance(each, str)]
                assert all(value is None or math.isfinite(float(value)) for value in numbers)


def test_an_explanation_names_the_fit_and_not_its_sums(db: dpsql.Connection) -> None:
    said = " ".join(str(db.explain("SELECT * FROM DP_LINEAR((SELECT cost, age, sex FROM people))")).split())
    assert "least squares of cost on (intercept), age, sex = 'M', step 1: 9 sums" in said
    assert "step 2: how many rows are how long" in said
    assert "the last of 3 steps of the linear fit: 3 sums" in said
    assert "sensitivity" in said
    assert "count_2" not in said.partition(" sql ")[0]
    said = " ".join(str(db.explain("SELECT * FROM DP_COVARIANCE((SELECT cost, age FROM people))")).split())
    assert "covariances of cost, age: computed from 6 sums" in said


TWICE = "SELECT a.term FROM {} AS a JOIN {} AS b USING (term)"
LINES = "DP_LINEAR((SELECT cost, age FROM people))"
ODDS = "DP_LOGISTIC((SELECT smoker, age FROM people))"


@pytest.mark.parametrize(
    ("first", "second", "measures"),
    [
        (LINES, LINES, 3),
        (LINES, "dp_linear((select cost, age from people))", 3),
        (ODDS, ODDS, 10),
        (LINES, "DP_LINEAR((SELECT cost, bmi FROM people))", 6),
        (LINES, "DP_LINEAR((SELECT OPTIONS(max_rows_contributed = 2) cost, age FROM people))", 6),
        (LINES, "DP_LINEAR((SELECT cost, age FROM people WHERE sex = 'M'))", 6),
        (
            "DP_LINEAR((SELECT cost, age FROM people WHERE sex = 'F'))",
            "DP_LINEAR((SELECT cost, age FROM people WHERE sex = 'f'))",
            6,
        ),
        (
            "(WITH r AS (SELECT cost, age AS x FROM people) SELECT * FROM DP_LINEAR((SELECT * FROM r)))",
            "(WITH r AS (SELECT cost, bmi AS x FROM people) SELECT * FROM DP_LINEAR((SELECT * FROM r)))",
            6,
        ),
    ],
)
def test_the_same_fit_is_released_once(db: dpsql.Connection, first: str, second: str, measures: int) -> None:
    """And another one, of other rows, columns or clips, is another one, whatever its text says."""
    assert len(plan_of(db._open(), TWICE.format(first, second), 1.0).measures) == measures


def test_a_fit_that_is_read_twice_is_one(db: dpsql.Connection) -> None:
    both = f"SELECT a.coefficient, b.coefficient FROM {LINES} AS a JOIN {LINES} AS b USING (term)"
    rows = db.execute(both).fetchall()
    assert len(rows) == 2
    assert all(one == other for one, other in rows)


@pytest.mark.parametrize("item", ["ln(odd)", "ln(odd) AS l", "age / odd", "age / odd AS ratio"])
def test_the_help_for_a_column_without_a_range_works_in_its_place(db: dpsql.Connection, item: str) -> None:
    """It repeats what the query writes, not the name that this has afterwards."""
    with pytest.raises(dpsql.Error) as caught:
        db.price(f"SELECT * FROM DP_LINEAR((SELECT cost, {item} FROM people))")
    assert caught.value.code == "D301"
    remedy = (caught.value.help or "").removeprefix("give it ends: ").partition(", or let the owner")[0]
    assert item.partition(" AS ")[0] in remedy
    assert db.price(f"SELECT * FROM DP_LINEAR((SELECT cost, {remedy} FROM people))").cost == 1.0


def test_the_help_for_a_text_without_a_list_works_in_its_place(db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error) as caught:
        db.price("SELECT * FROM DP_LINEAR((SELECT cost, sex || ward AS both FROM people))")
    remedy = (caught.value.help or "").removeprefix("write the conditions that count: ").partition(";")[0]
    assert remedy == "(sex || ward) = 'a' AS is_a"
    assert db.price(f"SELECT * FROM DP_LINEAR((SELECT cost, {remedy} FROM people))").cost == 1.0

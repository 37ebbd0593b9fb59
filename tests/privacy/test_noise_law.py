"""What is added to a real measure has the planned law, and is added once: nobody pays twice for one draw.

Statistical tests state their false-alarm rate. The noise is the operating system's, so a correct program
fails each of them that often.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql import audit
from dpsql.accounting import accountant
from dpsql.audit import plan_of
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactTable
from dpsql.release.completed import completed
from dpsql.release.release import from_system, release
from dpsql.release.serialization import from_bytes

FALSE_ALARM = 1e-9
DRAWS = 20_000

BY_WARD = "SELECT ward, smoker, COUNT(*), SUM(income) FROM patients GROUP BY ward, smoker"
COUNT = "SELECT COUNT(*) FROM patients"
THREE_NUMBERS = "SELECT ward, SUM(income) FROM patients GROUP BY ward"


# ---- the law -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["pure", "approx", "zcdp"])
def planned(
    request: pytest.FixtureRequest, clinics: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[MeasurePlan, ExactTable]:
    """A measure of six groups and two statistics under each accountant, and its exact sums."""
    name, folder = request.param, tmp_path_factory.mktemp("law")
    text = (clinics / "clinic" / "clinic.toml").read_text().replace('"zcdp"', f'"{name}"')
    policy = folder / "clinic.toml"
    rules = accountant(name)
    policy.write_text(text if rules.has_delta else text.replace("delta = 1e-6", "delta = 0.0"))
    with dpsql.connect(clinics / "clinic" / "clinic.duckdb", policy, folder / "clinic.ledger") as db:
        plan = plan_of(db._open(), BY_WARD, 1.0)
        (each,) = plan.stages[0].measures
        assert plan.accountant == name
        assert each.noise.mechanism == ("gaussian" if rules.noise_power < 1 else "laplace")
        return each, db._open().engine.measure(each)


def drawn(exact: ExactTable, planned: MeasurePlan) -> NDArray[np.int64]:
    """Released sums minus exact ones, one column per number of the measure, at least 20,000 in all."""
    groups, sums = completed(exact, planned)
    differences = []
    for _ in range(-(-DRAWS // sums.size)):
        released = release(exact, planned, from_system)
        order = [released.groups.index(group) for group in groups]
        differences.append((released.sums[order] - sums).ravel())
    return np.array(differences)


def below(mechanism: str, scale: float, x: float) -> mpmath.mpf:
    """P(y <= x) of the continuous law."""
    if mechanism == "gaussian":
        return mpmath.ncdf(mpmath.mpf(x) / scale)
    half = mpmath.exp(-abs(mpmath.mpf(x)) / scale) / 2
    return half if x < 0 else 1 - half


def law_fits(numbers: NDArray[np.int64], mechanism: str, scale: float) -> bool:
    """Chi-square over about forty cells of whole numbers n, each the reals of [n - 1/2, n + 1/2)."""
    reach = 3 * scale if mechanism == "gaussian" else 5 * scale
    edges = np.unique(np.round(np.linspace(-reach, reach, 41)).astype(np.int64))
    cumulated = [below(mechanism, scale, int(edge) - 0.5) for edge in edges]
    chances = [float(b - a) for a, b in zip([mpmath.mpf(0), *cumulated], [*cumulated, 1], strict=True)]
    observed = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=len(edges) + 1)
    expected = numbers.size * np.array(chances)
    assert expected.min() > 10
    chi2 = float(((observed - expected) ** 2 / expected).sum())
    return bool(mpmath.gammainc(len(edges) / 2, chi2 / 2, regularized=True) > FALSE_ALARM)


def test_release_adds_the_planned_law(planned: tuple[MeasurePlan, ExactTable]) -> None:
    """Chi-square on 20,000 draws at the planned scale; false alarms 1e-9."""
    each, exact = planned
    numbers = drawn(exact, each).ravel()
    assert numbers.size >= DRAWS
    assert law_fits(numbers, each.noise.mechanism, each.noise.scale)


def test_release_rounds_the_law_once(planned: tuple[MeasurePlan, ExactTable]) -> None:
    """The same where rounding matters, at a scale of 2.3 steps; false alarms 1e-9.

    Another scale, 1.8, is noticed: its statistic lies fourteen deviations beyond the limit.
    """
    each, exact = planned
    narrow = replace(each, noise=replace(each.noise, scale=2.3))
    numbers = drawn(exact, narrow).ravel()
    assert law_fits(numbers, each.noise.mechanism, 2.3)
    assert not law_fits(numbers, each.noise.mechanism, 1.8)


def test_the_law_is_the_same_around_zeros(planned: tuple[MeasurePlan, ExactTable]) -> None:
    """Nothing of the noise depends on the sums: an empty table, 20,000 draws; false alarms 1e-9."""
    each, exact = planned
    nobody = ExactTable([], exact.sums[:0])
    assert law_fits(drawn(nobody, each).ravel(), each.noise.mechanism, each.noise.scale)


def test_every_number_has_a_draw_of_its_own(planned: tuple[MeasurePlan, ExactTable]) -> None:
    """No two numbers of a release correlate over 1,667 releases: |r| < 7.5 / sqrt(n) for 66 pairs.

    P(|z| > 7.5) = 6.4e-14; times 66 pairs, and times eight for Laplace noise, whose products have longer
    tails, false alarms stay below 4e-11.
    """
    each, exact = planned
    columns = drawn(exact, each)
    correlations = np.asarray(np.corrcoef(columns, rowvar=False))
    others = correlations[np.triu_indices(columns.shape[1], k=1)]
    assert len(others) == 66
    assert np.abs(others).max() < 7.5 / math.sqrt(len(columns))


# ---- every paid measurement is a fresh one -----------------------------------------------------------


def residuals(db: dpsql.Connection, sql: str, epsilon: float) -> list[float]:
    """What noise a paid query got: its stored sums minus the exact ones, in scales of its noise."""
    session = db._open()
    plan = plan_of(session, sql, epsilon)
    stored = session.ledger.stored(plan.digest, session.versions.of(plan.tables), "")
    assert stored is not None
    assert stored.answer is not None
    measures = [each for stage in plan.stages for each in stage.measures]
    tables = from_bytes(stored.answer, [len(each.measure.statistics) for each in measures])
    found = []
    for table, exact, each in zip(tables, audit.measure(db, sql, epsilon), measures, strict=True):
        for group, row in zip(table.groups, table.sums.tolist(), strict=True):
            found += [(a - b) / each.noise.scale for a, b in zip(row, exact.rows[group], strict=True)]
    return found


def share_noise(left: list[float], right: list[float]) -> bool:
    """Whether two of three draws are alike, but for the rounding to grid steps, which moves them by 5e-7.

    Independent ones do not: with a density below one half a number lies as close to one of three others with
    P < 1.2e-5, and two of three do with P < 5e-10.
    """
    assert len(left) == len(right) == 3
    return sum(any(abs(abs(a) - abs(b)) < 2e-6 for a in left) for b in right) > 1


def test_two_prices_are_two_measurements(db: dpsql.Connection) -> None:
    """The same query at two prices; false alarms 5e-10."""
    answers = [db.execute(THREE_NUMBERS, epsilon=price) for price in (1.0, 2.0)]
    assert [answer.cost for answer in answers] == [1.0, 2.0]
    assert not share_noise(residuals(db, THREE_NUMBERS, 1.0), residuals(db, THREE_NUMBERS, 2.0))


def test_two_measures_of_a_query_are_two_measurements(db: dpsql.Connection) -> None:
    """Sums of the same rows twice in one query; false alarms 5e-10."""
    sql = (
        "SELECT a.n, b.n FROM (SELECT ward, SUM(income) AS n FROM patients GROUP BY ward) AS a, "
        "(SELECT ward, SUM(income) AS n FROM patients WHERE age < 120 GROUP BY ward) AS b"
    )
    db.execute(sql)
    numbers = residuals(db, sql, 1.0)
    assert not share_noise(numbers[:3], numbers[3:])


def test_noise_that_is_shared_is_noticed(db: dpsql.Connection) -> None:
    """The very same draws in the scales of two prices, rounded to the steps of each."""
    db.execute(THREE_NUMBERS)
    (each,) = plan_of(db._open(), THREE_NUMBERS, 2.0).stages[0].measures
    numbers = residuals(db, THREE_NUMBERS, 1.0)
    again = [round(each.noise.scale * number) / each.noise.scale for number in numbers]
    assert share_noise(numbers, again)


def test_changed_data_is_measured_anew(clinic: Path) -> None:
    """The same statement on a new version of the data, paid again; false alarms 5e-10."""
    with dpsql.connect(clinic) as db:
        assert db.execute(THREE_NUMBERS).cost == 1.0
        before = residuals(db, THREE_NUMBERS, 1.0)
    with duckdb.connect(str(clinic)) as writer:
        writer.execute("UPDATE visits SET cost = cost + 1")  # not even what is asked about
    with dpsql.connect(clinic) as db:
        again = db.execute(THREE_NUMBERS)
        assert (again.cost, again.repeated) == (1.0, False)
        assert not share_noise(before, residuals(db, THREE_NUMBERS, 1.0))
        assert len(db.purchases) == 2


# ---- a repeat is no measurement ----------------------------------------------------------------------


def test_a_repeat_is_free_and_says_so(db: dpsql.Connection) -> None:
    first = db.execute(BY_WARD)
    spent = db.budget.spent
    again = db.execute(BY_WARD)
    assert (first.repeated, first.cost) == (False, 1.0)
    assert (again.repeated, again.cost) == (True, 0.0)
    assert (again.rows, again.margins, again.types) == (first.rows, first.margins, first.types)
    assert again.remaining == first.remaining
    assert db.budget.spent == spent
    assert len(db.purchases) == 1


def test_the_same_measure_in_other_words_is_a_repeat(db: dpsql.Connection) -> None:
    """What is done with a released number is free; so is spelling."""
    (number,) = db.execute(COUNT).rows[0]
    for sql in (
        "select count(*)\nfrom PATIENTS -- once more",
        "SELECT COUNT(*) * 2 - COUNT(*) FROM patients",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM patients) AS t WHERE n IS NOT NULL",
    ):
        again = db.execute(sql)
        assert (again.repeated, again.rows) == (True, [(number,)]), sql
    assert len(db.purchases) == 1


def test_a_repeat_on_a_second_connection(clinic: Path) -> None:
    with dpsql.connect(clinic) as one, dpsql.connect(clinic) as other:
        first, again = one.execute(BY_WARD), other.execute(BY_WARD)
        assert (again.repeated, again.cost, again.rows) == (True, 0.0, first.rows)
        assert one.budget == other.budget
        assert len(one.purchases) == 1


def test_a_repeat_of_another_analysts_question_is_charged_to_the_own_account_alone(clinic: Path) -> None:
    with dpsql.connect(clinic, analyst="ana") as ana, dpsql.connect(clinic, analyst="bob") as bob:
        first = ana.execute(BY_WARD)
        spent = ana.budget.spent
        again = bob.execute(BY_WARD)
        assert (again.repeated, again.cost, again.rows) == (True, 1.0, first.rows)
        assert bob.budget.spent == spent
        accounts = {each.analyst: each.spent for each in bob.budget.accounts}
        assert 0 < accounts["bob"] <= 1.0
        assert again.remaining == pytest.approx(2.0 - accounts["bob"])
        assert (bob.execute(BY_WARD).repeated, bob.execute(BY_WARD).cost) == (True, 0.0)
        assert {each.analyst: each.spent for each in bob.budget.accounts} == accounts
        assert [(each.analyst, each.shared) for each in bob.purchases] == [("bob", True)]


def test_a_repeat_in_another_process(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        first = db.execute(BY_WARD)
        spent = db.budget.spent
    script = (
        "import dpsql, json, sys\n"
        "with dpsql.connect(sys.argv[1]) as db:\n"
        "    a = db.execute(sys.argv[2])\n"
        "    print(json.dumps([a.rows, a.cost, a.repeated, db.budget.spent]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(clinic), BY_WARD], capture_output=True, text=True, check=True
    )
    rows, cost, repeated, spent_there = json.loads(done.stdout)
    assert [tuple(row) for row in rows] == first.rows
    assert (cost, repeated, spent_there) == (0.0, True, spent)


def test_a_copied_database_is_the_same_version(clinic: Path) -> None:
    """A file put back from a copy holds the same rows, to the last byte: the stored answer is theirs."""
    with dpsql.connect(clinic) as db:
        db.execute(COUNT)
    aside = clinic.with_name("aside.duckdb")
    shutil.copy(clinic, aside)
    aside.replace(clinic)
    with dpsql.connect(clinic) as db:
        assert db.execute(COUNT).repeated

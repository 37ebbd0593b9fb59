"""An owner's export: what is asked of whom, what leaves, what it costs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.accounting import accountant
from dpsql.accounting.conversions import response_rho
from dpsql.accounting.units import Units
from dpsql.bind.export import bind_export
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.event import LaplaceEvent, ResponseEvent
from dpsql.ir.export import ExactExport, ExportPlan
from dpsql.ir.source import Source
from dpsql.plan.export import plan_export
from dpsql.planning import parsed
from dpsql.release.export import release_export

POLICY = """
[budget]
epsilon = 20.0
{delta}accountant = "{accountant}"
[query]
epsilon = 0.5
max_epsilon = 6.0
[analysts.ana]
epsilon = 5.0
[unit]
name = "patient"
table = "patients"
key = "patient_id"
[tables.patients.columns]
ward = {{ values = ["A", "B", "C"] }}
age = {{ range = [0, 99] }}
smoker = {{}}
weight = {{ range = [0, 200] }}
[tables.visits]
unit = {{ column = "patient_id" }}
rows_per_unit = 5
[tables.visits.columns]
patient_id = {{}}
cost = {{ range = [0, 500] }}
"""
DATA = """
CREATE TABLE patients (
    patient_id INTEGER PRIMARY KEY, ward VARCHAR, age INTEGER, smoker BOOLEAN NOT NULL, weight DOUBLE);
INSERT INTO patients SELECT i, ['A', 'B', 'C', 'X', NULL][1 + i % 5], i % 120 - 5, i % 3 = 0, i
    FROM range(60) t(i);
CREATE TABLE visits AS SELECT i % 60 AS patient_id, i AS cost FROM range(150) t(i);
"""
WARDS = "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) AS ward, DP_RANDOMIZED_RESPONSE(smoker, 2.0) FROM patients"


def _connection(folder: Path, kind: str = "pure", data: str = DATA) -> dpsql.Connection:
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute(data)
    (folder / "d.toml").write_text(
        POLICY.format(accountant=kind, delta="delta = 1e-6\n" if accountant(kind).has_delta else "")
    )
    return dpsql.connect(folder / "d.duckdb")


@pytest.fixture
def db(tmp_path: Path):
    with _connection(tmp_path) as connection:
        yield connection


def _planned(db: dpsql.Connection, sql: str) -> ExportPlan:
    session = db._open()
    query = parsed(session, Source(sql), ())
    export_query = bind_export(query, session.known, session.sealed.public, session.sealed.check)
    return plan_export(export_query, session.terms(None), session.engine.combinations)


def _codes(db: dpsql.Connection, sql: str) -> list[tuple[int, ...]]:
    exact = db._open().engine.exact_export(_planned(db, sql))
    return sorted(zip(*(column.tolist() for column in exact.columns), strict=True))


# ---- what is asked -----------------------------------------------------------------------------------


def test_what_is_on_no_list_answers_as_null(db: dpsql.Connection) -> None:
    """Twelve patients each in A, B, C, in X, which is not declared, and in NULL."""
    assert _planned(db, WARDS).questions[0].values == ("A", "B", "C", None)
    assert Counter(ward for ward, _ in _codes(db, WARDS)) == {0: 12, 1: 12, 2: 12, 3: 24}


def test_without_null_it_answers_as_the_first_value(db: dpsql.Connection) -> None:
    sql = "SELECT DP_RANDOMIZED_RESPONSE(COALESCE(ward, 'A'), 1.0) FROM patients"
    assert _planned(db, sql).questions[0].values == ("A", "B", "C")
    assert Counter(ward for (ward,) in _codes(db, sql)) == {0: 36, 1: 12, 2: 12}


def test_whole_numbers_of_a_short_range_are_a_list(db: dpsql.Connection) -> None:
    sql = "SELECT DP_RANDOMIZED_RESPONSE(age, 1.0) AS age FROM patients WHERE smoker"
    (question,) = _planned(db, sql).questions
    assert question.values == (*range(100), None)
    assert question.design.marks
    # ages are i - 5 for i = 0, 3, .. 57: -5 and -2 stand outside of the range
    assert _codes(db, sql) == [(i - 5,) for i in range(6, 60, 3)] + [(100,), (100,)]


def test_a_unit_is_asked_once(db: dpsql.Connection) -> None:
    sql = (
        "SELECT DP_RANDOMIZED_RESPONSE(n > 2, 1.0) AS many "
        "FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)"
    )
    assert Counter(_codes(db, sql)) == {(0,): 30, (1,): 30}  # 150 visits: the first 30 patients have 3


def test_removing_a_unit_removes_its_row_and_changes_no_other(tmp_path: Path) -> None:
    sql = (
        "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0), DP_RANDOMIZED_RESPONSE(total > 100, 1.0) FROM patients "
        "JOIN (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) USING (patient_id)"
    )
    with _connection(tmp_path) as db:
        plan, whole = _planned(db, sql), Counter(_codes(db, sql))
    for unit in range(0, 60, 7):
        path = tmp_path / f"without-{unit}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(DATA)
            connection.execute(f"DELETE FROM patients WHERE patient_id = {unit}")
            connection.execute(f"DELETE FROM visits WHERE patient_id = {unit}")
        engine = DuckDB(path)
        left = Counter(zip(*(c.tolist() for c in engine.exact_export(plan).columns), strict=True))
        engine.close()
        assert (whole - left).total() == 1
        assert not left - whole


# ---- what leaves -------------------------------------------------------------------------------------


def test_values_leave_with_their_types_and_sorted(db: dpsql.Connection) -> None:
    made = db.export(WARDS)
    assert made.columns == ("ward", "smoker")
    assert made.types == ("VARCHAR", "BOOLEAN")
    places = {"A": 0, "B": 1, "C": 2, None: 3}
    assert made.rows == sorted(made.rows, key=lambda row: (places[row[0]], row[1]))


def test_marks_leave_as_text(db: dpsql.Connection) -> None:
    made = db.export("SELECT DP_RANDOMIZED_RESPONSE(age, 1.0) AS age FROM patients")
    assert made.types == ("VARCHAR",)
    assert {len(text) for (text,) in made.rows} == {101}
    assert {mark for (text,) in made.rows for mark in text} == {"0", "1"}
    assert made.rows == sorted(made.rows)


def test_how_many_rows_leave_is_noised(db: dpsql.Connection) -> None:
    plan = _planned(db, WARDS)
    exact = ExactExport(5, [np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)])

    def given(noise: int) -> int:
        return release_export(exact, plan, lambda _, size: np.full(size, noise)).rows

    assert plan.rows.event == LaplaceEvent(1, plan.rows.scale)
    assert plan.rows.scale == pytest.approx(2)  # 1 / 0.5
    assert plan.padding == 57  # 28 scales of a little more than 2
    assert [given(noise) for noise in (0, 7, -57, -60, -62, -70)] == [62, 69, 5, 2, 0, 0]


def test_rows_of_nobody_have_every_value(db: dpsql.Connection) -> None:
    """3,000 rows of nobody at epsilon 40, which changes no answer: each of four values is drawn evenly.

    A count is 750 with deviation 23.7; false alarms: 3e-10 (6.5 deviations, four counts).
    """
    plan = _planned(db, "SELECT DP_RANDOMIZED_RESPONSE(ward, 40.0) FROM patients")
    exact = ExactExport(0, [np.zeros(0, dtype=np.int64)])
    given = release_export(exact, plan, lambda _, size: np.full(size, 3_000 - plan.padding))
    counts = np.bincount(given.columns[0], minlength=4)
    assert np.abs(counts - 750).max() < 6.5 * 23.7


def test_where_rows_are_taken_away_any_may_go(db: dpsql.Connection) -> None:
    """Two of four rows stay, 600 times: every pair does. A pair is missed with (5/6)^600 < 1e-47."""
    plan = _planned(db, "SELECT DP_RANDOMIZED_RESPONSE(ward, 40.0) FROM patients")
    exact = ExactExport(4, [np.arange(4)])
    fewer = [release_export(exact, plan, lambda _, n: np.full(n, -2 - plan.padding)) for _ in range(600)]
    assert {tuple(each.columns[0].tolist()) for each in fewer} == {
        (a, b) for a in range(4) for b in range(a + 1, 4)
    }


# ---- what it costs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pure", "approx", "zcdp"])
def test_the_price_is_the_rows_and_every_column(tmp_path: Path, kind: str) -> None:
    with _connection(tmp_path, kind) as db:
        plan = _planned(db, WARDS)
        sizes = [len(question.values) for question in plan.questions]
        assert plan.events == (plan.rows.event, *map(ResponseEvent, (1.0, 2.0), sizes))
        assert plan.epsilon == 3.5
        made = db.export(WARDS)
        assert made.cost == 3.5
        session = db._open()
        assert session.ledger.spent() == session.accountant.charge(plan.events)


def test_what_a_response_costs() -> None:
    """tanh(1/2) = .46211715726 (zCDP of epsilon 1, below 1/2); a small one costs epsilon^2 / 2."""
    assert accountant("pure").charge((ResponseEvent(1.0),)) == Units(10**15)
    assert accountant("approx").charge((ResponseEvent(1.0),)) == Units(10**15)
    spent = accountant("zcdp").charge((ResponseEvent(1.0),))
    assert spent.main == 462_117_157_260_010
    assert accountant("zcdp").charge((ResponseEvent(1e-6),)).main == 500


def test_no_divergence_of_a_kept_bit_passes_its_price() -> None:
    """The law behind the zCDP price: D_alpha / alpha of the worst epsilon-private pair, over a grid."""
    for epsilon in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0):
        p = 1 / (1 + np.exp(-epsilon))
        alphas = 1 + np.logspace(-4, 3, 200)
        logs = np.logaddexp(
            alphas * np.log(p) + (1 - alphas) * np.log1p(-p), alphas * np.log1p(-p) + (1 - alphas) * np.log(p)
        )
        worst = float((logs / (alphas - 1) / alphas).max())
        assert worst <= float(response_rho(Fraction(epsilon))) * (1 + 1e-9)


def test_asked_again_the_same_rows_come_back(db: dpsql.Connection) -> None:
    first, again = db.export(WARDS), db.export(WARDS)
    assert again.rows == first.rows
    assert (again.repeated, again.cost, again.remaining) == (True, 0.0, first.remaining)
    assert db.purchases[0].sql == WARDS


def test_it_is_paid_before_a_row_is_read(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    session = db._open()
    seen: list[int] = []
    codes = session.engine.exact_export

    def watched(plan: ExportPlan) -> ExactExport:
        seen.append(session.ledger.spent().main)
        return codes(plan)

    monkeypatch.setattr(session.engine, "exact_export", watched)
    db.export(WARDS)
    assert seen == [session.ledger.spent().main]
    assert seen[0] > 3.4e15


# ---- who may, and what is refused --------------------------------------------------------------------


def test_an_export_is_the_owners(tmp_path: Path, db: dpsql.Connection) -> None:
    with (
        dpsql.connect(tmp_path / "d.duckdb", analyst="ana") as ana,
        pytest.raises(dpsql.OperationalError, match="only the owner may export") as refused,
    ):
        ana.export(WARDS)
    assert refused.value.code == "D508"


REFUSED = {
    "SELECT ward FROM patients": ("D402", 8),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0), age FROM patients": ("D402", 43),
    "SELECT * FROM patients": ("D402", 8),
    "SELECT DP_RANDOMIZED_RESPONSE(ward) FROM patients": ("D205", 8),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 0) FROM patients": ("D503", 37),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, -1.0) FROM patients": ("D503", 38),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, age) FROM patients": ("D503", 37),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 'much') FROM patients": ("D503", 37),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1e9) FROM patients": ("D503", 37),
    "SELECT DP_RANDOMIZED_RESPONSE(weight, 1.0) FROM patients": ("D301", 8),
    "SELECT DP_RANDOMIZED_RESPONSE(1, 1.0) FROM patients": ("D301", 8),
    "SELECT DP_RANDOMIZED_RESPONSE(nothing, 1.0) FROM patients": ("D202", 31),
    "SELECT DP_RANDOMIZED_RESPONSE(cost > 9, 1.0) FROM visits": ("D252", 51),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients LIMIT 3": ("D252", 62),
    "SELECT DISTINCT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients": ("D252", None),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients GROUP BY ward": ("D252", 65),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients ORDER BY age": ("D252", 65),
    "SELECT DP_RANDOMIZED_RESPONSE(COUNT(*) > 3, 1.0) FROM patients": ("D252", 8),
    "SELECT DP_RANDOMIZED_RESPONSE(DP_RANDOMIZED_RESPONSE(ward, 1), 1) FROM patients": ("D252", 31),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1) FROM patients WHERE DP_RANDOMIZED_RESPONSE(smoker, 1)": (
        "D252",
        60,
    ),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1) FROM patients WHERE age > (SELECT AVG(age) FROM patients)": (
        "D252",
        8,
    ),
    "SELECT OPTIONS(delta = 1e-9) DP_RANDOMIZED_RESPONSE(ward, 1) FROM patients": ("D252", 16),
    "SELECT OPTIONS(within = 50) DP_RANDOMIZED_RESPONSE(ward, 1) FROM patients": ("D252", 16),
    "SELECT OPTIONS(weights = [1]) DP_RANDOMIZED_RESPONSE(ward, 1) FROM patients": ("D252", 16),
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 6.0) FROM patients": ("D502", None),
    "EXPLAIN SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients": ("D104", None),
    "SELECT DP_RANDOMIZED_RESPONSE(i = 1, 1.0) FROM range(3) AS t(i)": ("D252", 8),
}


@pytest.mark.parametrize("sql", REFUSED)
def test_refused_with_a_caret_and_for_nothing(db: dpsql.Connection, sql: str) -> None:
    code, column = REFUSED[sql]
    with pytest.raises(dpsql.Error) as refused:
        db.export(sql)
    assert refused.value.code == code
    assert refused.value.help
    if column is not None:
        assert refused.value.position == (1, column)
    assert not db.purchases


def test_too_dear_for_the_budget(tmp_path: Path) -> None:
    with _connection(tmp_path) as db:
        for epsilon in (5.0, 5.1, 5.2):
            db.export(WARDS.replace("1.0", f"{epsilon - 2}"))
        with pytest.raises(dpsql.OperationalError) as refused:
            db.export(WARDS.replace("1.0", "3.5"))
    assert refused.value.code == "D501"

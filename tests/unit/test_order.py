"""Medians, quantiles, extremes and modes the whole way: what is weighed, what is told, what it costs."""

import datetime
from decimal import Decimal

import duckdb
import pytest

import dpsql
from dpsql import audit
from dpsql.audit.oracles import without_noise
from dpsql.ir.event import ChoiceEvent

POLICY = """
[budget]
epsilon = 1000000.0
delta = 0.0
accountant = "pure"
[query]
epsilon = 8.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
age = { range = [0, 120] }
wealth = { range = [-1000000, 1000000] }
born = { range = [1900-01-01, 2025-12-31] }
kind = { values = ["a", "b"] }
[tables.visits]
unit = { column = "id" }
rows_per_unit = 4
[tables.visits.columns]
id = {}
cost = { range = [0, 5000] }
kind = { values = ["a", "b"] }
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    with duckdb.connect(str(folder / "w.duckdb")) as connection:
        connection.execute(
            """CREATE TABLE people AS SELECT i AS id, CAST(20 + i % 61 AS INTEGER) AS age,
                (i % 2001 - 500) * 100.0 AS wealth, DATE '1950-01-01' + CAST(i AS INTEGER) AS born,
                ['a', 'b'][1 + CAST(i % 3 = 0 AS INTEGER)] AS kind
            FROM range(4000) AS r(i)"""
        )
        connection.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS id, CAST(100 + i % 50 AS DOUBLE) AS cost, 'a' AS kind "
            "FROM range(1000) AS r(i) UNION ALL SELECT 7, 4000, 'b' FROM range(5000)"
        )
    (folder / "w.toml").write_text(POLICY)
    return dpsql.connect(folder / "w.duckdb", folder / "w.toml", folder / "w.ledger")


def test_values_and_margins(db):
    """4,000 people of 20 to 80 years: the noise of a median is a small part of a year."""
    answer = db.execute(
        "SELECT MEDIAN(age) AS m, QUANTILE_CONT(wealth, 0.25) AS w, MAX(age) AS top FROM people"
    )
    (row,), (margins,) = answer.rows, answer.margins
    assert abs(row[0] - 50) <= 1
    assert abs(row[1]) < 1500
    assert row[2] >= 78
    assert 0 <= margins[0] <= 1
    assert 0 < margins[1] < 2000
    assert margins[2] is None
    assert answer.types == ("DOUBLE", "DOUBLE", "INTEGER")


def test_a_greatest_value_seldom_lies_beyond_all_rows(db):
    """With a chance of .0196 here, of 40 ages beyond; eight of fifteen do with 6435 (.0196)^8 < 2e-10."""
    tops = [
        db.execute(f"SELECT MAX(age) AS top FROM people WHERE id < {4000 - i}").rows[0][0] for i in range(15)
    ]
    assert 78 <= sorted(tops)[7] <= 80


def test_an_answer_is_repeated_as_it_was(db):
    sql = "SELECT kind, QUANTILE_DISC(born, [0.2, 0.8]) AS days, MODE(kind) AS most FROM people GROUP BY kind"
    first, second = db.execute(sql), db.execute(sql)
    assert (second.rows, second.repeated, second.cost) == (first.rows, True, 0.0)
    assert [row[2] for row in first][:2] == ["a", "b"]  # the third group is NULL, and empty
    assert all(isinstance(day, datetime.date) for row in first for day in row[1])


def test_what_is_asked_of_one_argument_shares_levels(db):
    """Five targets: the middle one, then two, then the ends; distances for margins; a mode beside."""
    sql = "SELECT MIN(age), MEDIAN(age), QUANTILE_CONT(age, [0.9, 0.95]), MAX(age), MODE(kind) FROM people"
    reports = audit.measure(db, sql, epsilon=8.0)
    events = [[noise.event for noise in each.noises] for each in reports[1:]]
    assert events[0] == [ChoiceEvent(pytest.approx(4 * 0.85 / 3))] * 3 + [ChoiceEvent(pytest.approx(0.6))]
    assert events[1] == [ChoiceEvent(pytest.approx(4.0))]


def test_extremes_and_days_pay_for_no_margins(db):
    for sql in ("SELECT MAX(age) FROM people", "SELECT MEDIAN(born) FROM people"):
        (report,) = audit.measure(db, sql, epsilon=8.0)[1:]
        assert [noise.event.epsilon for noise in report.noises] == [pytest.approx(8.0)]


def test_a_unit_of_many_rows_weighs_what_its_clip_leaves(db):
    """Person 7 has 5,001 rows in two groups, and 4 rows' weight over both."""
    (report,) = audit.measure(db, "SELECT kind, MEDIAN(cost) AS m FROM visits GROUP BY kind")[1:]
    assert {noise.sensitivity for noise in report.noises} == {4 * 2**20}
    heavy = sum(weight for (kind, _), (weight,) in report.rows.items() if kind == "b")
    assert heavy == 5000 * (4 * 2**20 // 5001)
    light = sum(weight for (kind, _), (weight,) in report.rows.items() if kind == "a")
    assert light == 999 * 2**20 + 4 * 2**20 // 5001
    (row,) = without_noise(db, "SELECT MEDIAN(cost) AS m FROM visits", 1.0)
    assert row[0] == pytest.approx(124.5, abs=1)


def test_only_rows_that_enter_count_against_a_unit(db):
    """Of person 7's rows one is cheap: under this condition it weighs in full."""
    sql = "SELECT MEDIAN(cost) FILTER (WHERE cost < 1000) AS m FROM visits"
    (report,) = audit.measure(db, sql)[1:]
    assert sum(weight for (weight,) in report.rows.values()) == 1000 * 2**20


@pytest.mark.parametrize(
    "key",
    [
        "i",
        "CAST(i AS HUGEINT)",
        "i / 10::DECIMAL(8, 1)",
        "i % 2 = 0",
        "i / 2.5e0",
        "'k' || i",
        "DATE '2020-01-01' + CAST(i AS INTEGER)",
    ],
)
def test_groups_of_every_type_have_their_own_median(key, tmp_path):
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT i AS id, CASE WHEN i > 0 THEN {key} END AS k, i AS x "
            "FROM range(6) AS r(i)"
        )
        plain = connection.execute("SELECT k, MEDIAN(x) FROM t GROUP BY k ORDER BY k NULLS LAST").fetchall()
        connection.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
    (tmp_path / "w.toml").write_text(
        '[budget]\nepsilon = 10.0\ndelta = 1e-6\n[unit]\nname = "person"\ntable = "t"\nkey = "id"\n'
        "[tables.t.columns]\nid = {}\nk = {}\nx = { range = [0, 10] }\n"
    )
    db = dpsql.connect(tmp_path / "w.duckdb", tmp_path / "w.toml", tmp_path / "w.ledger")
    ours = without_noise(db, "SELECT k, MEDIAN(x) FROM t GROUP BY k ORDER BY k NULLS LAST", 1.0)
    assert [row[0] for row in ours] == [row[0] for row in plain]
    assert [type(row[0]) for row in ours] == [type(row[0]) for row in plain]
    assert all(abs(a[1] - b[1]) <= 1 for a, b in zip(ours, plain, strict=True))


def test_explained(db):
    said = str(
        db.explain("SELECT MAX(age) AS top, MEDIAN(born) AS b, MODE(kind) AS k FROM people", epsilon=3.0)
    )
    assert (
        "chosen among 121 bins of [0, 120] (whole numbers); 1 choice, epsilon 1; a value with about 11.7"
        in said
    )
    assert "bins of [1900-01-01, 2025-12-31] (whole numbers)" in said
    assert "chosen among 2 declared values, epsilon 1" in said


def test_decimals_are_delivered_as_decimals(db):
    (row,) = without_noise(db, "SELECT QUANTILE_DISC(CAST(age AS DECIMAL(5, 2)), 0.5) AS d FROM people", 1.0)
    assert row == (Decimal("50.00"),)

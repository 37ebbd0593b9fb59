"""Few rows: how many rows of a unit the values of a row key allow, and which shapes lose that."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.details.matching.detail import Matching
from dpsql.facts.schema import facts_of, most_rows
from dpsql.ir.column import Interval
from dpsql.rewrite.statistics import GRID

ROWS = 5
"""rows_per_unit of the clinic's visits; their kinds are two, and not NULL; minutes may be."""

KINDS = "(SELECT DISTINCT patient_id, kind FROM visits)"


def rows(db: dpsql.Connection, sql: str) -> int | None:
    (planned,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return most_rows(planned.measure.uncopied)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT COUNT(*) FROM {KINDS}", 2),
        (f"SELECT COUNT(*) FROM {KINDS} WHERE kind = 'surgery'", 1),
        (
            "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, minutes >= 30 AS long FROM visits)",
            3,
        ),  # and NULL
        ("SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, minutes FROM visits) WHERE minutes < 4", 4),
        (f"SELECT SUM(age) FROM {KINDS} JOIN patients USING (patient_id)", 2),
        (f"SELECT COUNT(*) FROM {KINDS} a JOIN visits v USING (patient_id)", 2 * ROWS),
        (f"SELECT COUNT(*) FROM {KINDS} a JOIN visits v USING (patient_id, kind)", ROWS),
        ("SELECT COUNT(*) FROM (SELECT patient_id, kind, AVG(cost) FROM visits GROUP BY 1, 2)", 2),
        (
            "SELECT SUM(cost) FROM (SELECT * FROM visits QUALIFY "
            "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) BETWEEN 2 AND 3)",
            2,
        ),
        (
            "SELECT SUM(cost) FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient_id, kind) AS n "
            "FROM visits) WHERE n <= 2",
            4,
        ),
        (
            "SELECT SUM(cost) FROM visits v WHERE v.visit_id IN (SELECT w.visit_id FROM visits w "
            "WHERE w.patient_id = v.patient_id ORDER BY w.cost LIMIT 2)",
            2,
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (FROM patients p WHERE p.patient_id = v.patient_id)",
            ROWS,
        ),
        ("SELECT COUNT(*) FROM visits", ROWS),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, cost FROM visits) WHERE cost < 2", ROWS),
        (f"SELECT COUNT(*) FROM {KINDS} WHERE kind >= 'surgery'", 2),
        (
            f"SELECT COUNT(*) FROM (SELECT kind, minutes FROM {KINDS} JOIN visits USING (patient_id, kind))",
            ROWS,
        ),
        (
            "SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY "
            "RANK() OVER (PARTITION BY patient_id ORDER BY cost) <= 2)",
            ROWS,
        ),
    ],
)
def test_rows_are_no_more_than_values(db: dpsql.Connection, sql: str, expected: int) -> None:
    assert rows(db, sql) == expected


def test_a_count_of_few_rows_has_a_short_range(db: dpsql.Connection) -> None:
    sql = f"SELECT SUM(n) FROM (SELECT patient_id, COUNT(*) AS n FROM {KINDS} GROUP BY patient_id)"
    (planned,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    (argument,) = {each.argument for each in planned.measure.statistics}
    assert argument is not None
    assert facts_of(planned.measure.relation)[argument.name].domain == Interval(0, 2)


def test_values_beyond_the_list_are_scaled_down(clinic: Path) -> None:
    """The list is no promise: a unit with 22 kinds counts as two, in what the engine sums."""
    with duckdb.connect(str(clinic)) as plain:
        before = plain.execute("SELECT count(DISTINCT (patient_id, kind)) FROM visits").fetchone()
        plain.execute("INSERT INTO visits SELECT 90000 + i, 1, 1, 1, 'kind ' || i FROM range(20) AS r(i)")
    with dpsql.connect(clinic) as db:
        [report] = measure(db, f"SELECT COUNT(*) FROM {KINDS}")
    assert before is not None
    assert report.rows[()][0] / GRID == pytest.approx(before[0], abs=0.001)  # it had two before


SPARSE = """
CREATE TABLE people (id INTEGER PRIMARY KEY);
CREATE TABLE claims (no INTEGER UNIQUE, id INTEGER NOT NULL, cost DOUBLE);
INSERT INTO people VALUES (1), (2);
INSERT INTO claims VALUES (NULL, 1, 5), (NULL, 1, 6), (NULL, 1, 7), (NULL, 1, 8), (1, 1, 9), (2, 2, 1);
"""

CLAIMS = """
[budget]
epsilon = 10
delta = 1e-6
[unit]
table = "people"
key = "id"
[tables.people.columns]
id = {}
[tables.claims]
key = "no"
unit = { column = "id" }
rows_per_unit = 5
[tables.claims.columns]
id = {}
no = { range = [1, 2] }
cost = { range = [0, 10] }
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("claims", ROWS),
        ("(SELECT * FROM (SELECT id AS who, no AS n, cost, no FROM claims))", ROWS),
        ("claims c JOIN people p ON p.id = c.id", ROWS),
        ("claims WHERE no IS NOT NULL", 2),
        ("(SELECT id, no, SUM(cost) AS cost FROM claims GROUP BY id, no)", 3),
    ],
)
def test_null_stands_in_many_rows_of_a_unique_column(tmp_path: Path, source: str, expected: int) -> None:
    """Of a unit with four claims that have no number yet, all rows count, as declared."""
    with duckdb.connect(str(tmp_path / "claims.duckdb")) as plain:
        plain.execute(SPARSE)
    (tmp_path / "claims.toml").write_text(CLAIMS)
    with dpsql.connect(tmp_path / "claims.duckdb", tmp_path / "claims.toml") as db:
        assert rows(db, f"SELECT SUM(cost) FROM {source}") == expected


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        ("SELECT COUNT(DISTINCT v.visit_id)", ROWS),
        ("SELECT v.kind, COUNT(DISTINCT v.visit_id)", ROWS),
        ("SELECT w.kind, COUNT(DISTINCT v.visit_id)", ROWS * ROWS),  # a visit may be in several groups
        ("SELECT COUNT(DISTINCT v.cost)", ROWS * ROWS),
        ("SELECT OPTIONS(max_rows_contributed = 60) COUNT(DISTINCT v.visit_id)", 60),
    ],
)
def test_a_unit_claims_no_more_keys_than_their_table_has_rows(
    clinic: Path, counted: str, expected: int
) -> None:
    by = " GROUP BY 1" if ".kind," in counted else ""
    sql = f"{counted} FROM visits v JOIN visits w USING (patient_id){by}"
    with dpsql.connect(clinic) as db:
        (planned,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    details = [each.detail for each in planned.details]
    assert [each.most for each in details if isinstance(each, Matching)] == [expected]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT COUNT(*) FROM visits v JOIN visits w USING (patient_id)", True),
        (
            "SELECT OPTIONS(max_rows_contributed = 5) COUNT(*) FROM visits v JOIN visits USING (patient_id)",
            False,
        ),
        ("SELECT COUNT(DISTINCT v.patient_id) FROM visits v JOIN visits w USING (patient_id)", False),
        ("SELECT COUNT(*) FROM visits v JOIN visits w USING (visit_id)", False),
    ],
)
def test_a_join_that_multiplies_rows_says_what_a_limit_saves(clinic: Path, sql: str, said: bool) -> None:
    with dpsql.connect(clinic) as db:
        words = "OPTIONS(max_rows_contributed = 5) has 5 times less"
        assert (words in (db.execute(sql).note or "")) == said
        assert (words in " ".join(str(db.explain(sql)).split())) == said

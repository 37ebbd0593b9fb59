"""Groups of NULL among listed keys: shown with rows, left out where their noisy count says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql

RUNS = 60
"""An empty group is shown in one of forty answers: in 20 of 60 with a chance below 1e-15."""


@pytest.fixture
def db(clinic: Path) -> Iterator[dpsql.Connection]:
    """Ages are in a range, and may be NULL, which none is; where a CASE has no branch, many are."""
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("epsilon = 100.0", "epsilon = 100000.0"))
    with dpsql.connect(clinic) as connection:
        yield connection


def groups(db: dpsql.Connection, sql: str, at: float) -> list[object]:
    """Return the first column; a price of its own makes it an answer of its own."""
    return [row[0] for row in db.execute(sql, epsilon=at).fetchall()]


def often(db: dpsql.Connection, sql: str) -> float:
    """Return how often a group of NULL is in the answer."""
    return sum(None in groups(db, sql, 1 + i / 1000) for i in range(RUNS)) / RUNS


@pytest.mark.parametrize(
    "aggregates",
    [
        "COUNT(*)",
        "AVG(income), COUNT(*)",
        "COUNT(DISTINCT patient_id)",
        "COUNT(*), COUNT(*) FILTER (WHERE smoker)",
    ],
)
def test_an_empty_group_of_null_is_left_out(db: dpsql.Connection, aggregates: str) -> None:
    assert often(db, f"SELECT age // 40 AS part, {aggregates} FROM patients GROUP BY part") < 1 / 3


@pytest.mark.parametrize("aggregates", ["COUNT(*)", "SUM(income), COUNT(*)", "COUNT(DISTINCT patient_id)"])
def test_a_group_of_null_with_rows_is_shown(db: dpsql.Connection, aggregates: str) -> None:
    case = "CASE WHEN age < 40 THEN 'young' END"
    assert often(db, f"SELECT {case} AS what, {aggregates} FROM patients GROUP BY what") == 1


@pytest.mark.parametrize("above", ["n / SUM(n) OVER ()", "n - (SELECT AVG(n) FROM parts)"])
def test_groups_that_are_added_up_are_all_there(db: dpsql.Connection, above: str) -> None:
    """Left out by their own noise they would be missing in the sum."""
    parts = "SELECT age // 40 AS part, COUNT(*) AS n FROM patients GROUP BY part"
    assert often(db, f"WITH parts AS ({parts}) SELECT part, {above} AS share FROM parts") == 1


@pytest.mark.parametrize(
    "above",
    ["LAG(n) OVER (ORDER BY part)", "RANK() OVER (ORDER BY n)", "n - FIRST_VALUE(n) OVER (ORDER BY part)"],
)
def test_other_windows_add_nothing_up(db: dpsql.Connection, above: str) -> None:
    """Growth from year to year has no year NULL."""
    parts = "SELECT age // 40 AS part, COUNT(*) AS n FROM patients GROUP BY part"
    assert often(db, f"WITH parts AS ({parts}) SELECT part, {above} AS x FROM parts") < 1 / 3


@pytest.mark.parametrize(
    "aggregate", ["SUM(income)", "AVG(income)", "STDDEV(income)", "SUM(income), MAX(age)"]
)
def test_without_a_count_a_sum_beyond_its_margin_shows_them(db: dpsql.Connection, aggregate: str) -> None:
    assert often(db, f"SELECT age // 40 AS part, {aggregate} FROM patients GROUP BY part") < 1 / 2
    case = "CASE WHEN age < 40 THEN 'young' END"
    assert often(db, f"SELECT {case} AS what, {aggregate} FROM patients GROUP BY what") > 2 / 3


def test_beside_quantiles_alone_they_are_shown(db: dpsql.Connection) -> None:
    assert often(db, "SELECT age // 40 AS part, MEDIAN(income) FROM patients GROUP BY part") == 1


def test_listed_values_are_shown_whatever_their_count(db: dpsql.Connection) -> None:
    """Nobody is in ward C."""
    for i in range(RUNS):
        sql = "SELECT ward, COUNT(*) FROM patients GROUP BY ward"
        assert groups(db, sql, 1 + i / 1000) == ["A", "B", "C"]


def test_totals_are_no_groups_of_null(db: dpsql.Connection) -> None:
    """In ROLLUP the total has NULL for its keys too."""
    for i in range(RUNS):
        keys = "age // 40 AS part, GROUPING(age // 40) AS total"
        sql = f"SELECT {keys}, COUNT(*) FROM patients GROUP BY ROLLUP (age // 40)"
        rows = db.execute(sql, epsilon=1 + i / 1000).fetchall()
        assert [row[0] for row in rows if row[1] == 1] == [None]


def test_explain_says_so(db: dpsql.Connection) -> None:
    said = str(db.explain("SELECT age // 40 AS part, COUNT(*) FROM patients GROUP BY part"))
    assert "those of NULL only with more rows than their margin" in said
    said = str(db.explain("SELECT ward, COUNT(*) FROM patients GROUP BY ward"))
    assert "NULL" not in said.partition("\n  sql")[0]


@pytest.fixture
def filled(clinic: Path) -> Iterator[dpsql.Connection]:
    """The owner declares that nobody's age is NULL."""
    policy = clinic.with_suffix(".toml")
    text = policy.read_text().replace("epsilon = 100.0", "epsilon = 100000.0")
    declared = "age = { range = [0, 120]"
    assert declared in text
    policy.write_text(text.replace(declared, f"{declared}, null = false"))
    with dpsql.connect(clinic) as connection:
        yield connection


def test_a_column_declared_without_null_lists_no_group_of_null(filled: dpsql.Connection) -> None:
    """Where no count tells that the group is empty, too."""
    sql = "SELECT age // 40 AS part, SUM(income) FROM patients GROUP BY part"
    assert groups(filled, sql, 1.0) == [0, 1, 2, 3]


def test_the_declaration_is_no_part_of_the_proof(filled: dpsql.Connection) -> None:
    """The rows with NULL are left out by the SQL, so that the facts hold if there are some."""
    said = str(filled.explain("SELECT COUNT(age) AS n FROM patients"))
    assert " IS NOT NULL" in said.partition("\n  sql")[2]

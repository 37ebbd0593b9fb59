"""CLAMPED over the number of a unit's rows: its bounds end it, not the guess, where a unit has one row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql

POLICY = """
[budget]
epsilon = 1e9
delta = 1e-6
[query]
epsilon = 1e6
max_epsilon = 1e7
[unit]
name = "person"
table = "people"
key = "id"
[tables.people]
[tables.rows]
unit = { column = "id" }
rows_per_unit = 3
[tables.people.columns]
id = {}
[tables.rows.columns]
id = {}
kind = { values = ["a", "b"] }
x = { range = [0, 10] }
"""
ROWS = """
CREATE TABLE people AS SELECT i AS id FROM range(200) AS t(i);
CREATE TABLE rows AS SELECT i // 7 AS id, CASE WHEN i % 7 < 5 THEN 'a' ELSE 'b' END AS kind, 2.0::DOUBLE AS x
FROM range(1400) AS t(i);
"""
PERSONS = "(SELECT id, COUNT(*) AS n, SUM(x) AS total FROM rows GROUP BY id)"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> dpsql.Connection:
    path: Path = tmp_path_factory.mktemp("own") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(ROWS)
    path.with_suffix(".toml").write_text(POLICY)
    return dpsql.connect(path)


@pytest.mark.parametrize(
    ("aggregate", "truth"),
    [
        ("AVG(n CLAMPED BETWEEN 0 AND 9)", 7),
        ("AVG(n + 1 CLAMPED BETWEEN 0 AND 9)", 8),
        ("MEDIAN(n CLAMPED BETWEEN 0 AND 9)", 7),
        ("AVG(total CLAMPED BETWEEN 0 AND 100)", 14),
        ("AVG(n CLAMPED BETWEEN 0 AND 5)", 5),
        ("AVG(n)", 3),
    ],
)
def test_bounds_of_the_query_lift_the_guess(db: dpsql.Connection, aggregate: str, truth: float) -> None:
    """At these prices noise is far below a tenth."""
    ((number,),) = db.execute(f"SELECT {aggregate} FROM {PERSONS}").fetchall()
    assert number == pytest.approx(truth, abs=0.1)


def test_several_rows_of_a_unit_keep_what_bounds_them_together(db: dpsql.Connection) -> None:
    rows = "(SELECT id, kind, COUNT(*) AS n FROM rows GROUP BY id, kind)"
    plain, clamped = (
        str(db.explain(f"SELECT kind, SUM({number}) FROM {rows} GROUP BY kind"))
        for number in ("n", "n CLAMPED BETWEEN 0 AND 60")
    )
    noises = [[line for line in words.splitlines() if "noise" in line] for words in (plain, clamped)]
    assert noises[0] == noises[1]
    assert noises[0]


def test_explain_says_what_clamped_does(db: dpsql.Connection) -> None:
    said = "CLAMPED BETWEEN sets another end"
    assert said in " ".join(str(db.explain(f"SELECT AVG(n) FROM {PERSONS}")).split())
    assert said not in str(db.explain(f"SELECT AVG(n CLAMPED BETWEEN 0 AND 9) FROM {PERSONS}"))


@pytest.mark.parametrize(
    "argument",
    [
        "CASE WHEN n > 2 THEN LEAST(GREATEST(n, 0), 1000) END",
        "LEAST(GREATEST(n, 0), 1000)",
        "CASE WHEN n IS NOT NULL THEN LEAST(n, 1000) END",
    ],
)
def test_other_clips_keep_the_guess(db: dpsql.Connection, argument: str) -> None:
    assert "rows_per_unit in people.toml" in " ".join(
        str(db.explain(f"SELECT SUM({argument}) FROM {PERSONS}")).split()
    )

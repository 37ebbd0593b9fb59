"""Rows of a public table that share a value: what a join on it multiplies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.facts.ownership import Owned, ownership_of

POLICY = """
[budget]
epsilon = 100
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = { range = [0, 100] }
income = { range = [0, 100] }
town = {}
[tables.days]
public = true
"""
DAYS = 20_000


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "towns.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, income DOUBLE, town VARCHAR);"
            "CREATE TABLE days (n INTEGER, town VARCHAR, weight DOUBLE);"
            f"INSERT INTO days SELECT i // 4, CASE WHEN i % 2 = 0 THEN 'T' || (i // 10) END, i // 7 "
            f"FROM range({DAYS}) AS r(i);"
        )
    (tmp_path / "towns.toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(path, tmp_path / "towns.toml") as connection:
        yield connection


@pytest.mark.parametrize(
    ("on", "most"),
    [
        ("d.n = p.age", 4),
        ("d.town = p.town", 5),  # half of them are NULL
        ("d.n = p.age AND d.town = p.town", 2),
        ("d.n = p.age AND d.weight = p.income", 4),  # a DOUBLE is equal to other DOUBLEs of other bits
        ("d.n = p.age AND d.weight > p.income", 4),
        ("d.n = 10 * p.age + 3", 4),
    ],
)
def test_a_join_multiplies_by_the_rows_that_share_its_key(on: str, most: int, db: dpsql.Connection) -> None:
    """Of 20,000 rows, which were too many to be joined on any condition."""
    for kind in ("JOIN", "LEFT JOIN"):
        (measure,) = plan_of(
            db._open(), f"SELECT COUNT(*) AS n FROM people p {kind} days d ON {on}", 1.0
        ).measures
        owned = ownership_of(measure.measure.relation)
        assert isinstance(owned, Owned)
        assert (owned.at_most, owned.fan) == (most, most)


@pytest.mark.parametrize(
    "on", ["d.n IS NOT DISTINCT FROM p.age", "d.weight = p.income", "d.n = p.income", "d.n <= p.age"]
)
def test_no_other_condition_is_counted(on: str, db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error) as refused:
        db.explain(f"SELECT COUNT(*) AS n FROM people p JOIN days d ON {on}")
    assert refused.value.code == "D303"

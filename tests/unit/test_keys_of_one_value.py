"""Keys of the same values: their groups are the combinations that some value has, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from listed_groups import occurring, session_over, shown

import dpsql
from dpsql.bind.keys import of_one_value, pairs, public_values
from dpsql.session import Session

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = { range = [0, 99] }
size = { range = [0, 9] }
born = { range = [2020-01-01, 2021-12-31] }
town = { values = ["a", "b"] }
kind = {}
w = { range = [-1, 1] }
[tables.visits]
unit = { column = "id" }
rows_per_unit = 5
[tables.visits.columns]
id = {}
"""

TABLES = """
CREATE TABLE visits AS SELECT i % 700 AS id FROM range(2000) AS t(i);
CREATE TABLE people AS
SELECT i AS id, i % 100 AS age, i % 10 AS size, DATE '2020-01-01' + (i % 731)::INTEGER AS born,
    ['a', 'b'][1 + i % 2] AS town, 'k' || i % 3 AS kind,
    (i % 21 - 10) / 10.0::DOUBLE AS w FROM range(7310) AS t(i);
ALTER TABLE people ALTER age SET NOT NULL;
ALTER TABLE people ALTER born SET NOT NULL;
ALTER TABLE people ALTER size SET NOT NULL;
ALTER TABLE people ALTER town SET NOT NULL;
ALTER TABLE people ALTER w SET NOT NULL;
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_over(tmp_path_factory.mktemp("values"), TABLES, POLICY) as found:
        yield found


EXACT = (
    "SELECT age // 10, age >= 18, COUNT(*) FROM people GROUP BY ALL",
    "SELECT age, age % 7, COUNT(*) FROM people GROUP BY ALL",
    "SELECT year(born), date_trunc('month', born), COUNT(*) FROM people GROUP BY ALL",
    "SELECT year(born), month(born), quarter(born), COUNT(*) FROM people GROUP BY ALL",
    "SELECT town, upper(town), COUNT(*) FROM people GROUP BY ALL",
    "SELECT a, b, COUNT(*) FROM (SELECT age // 25 a, age > 30 b FROM people WHERE age < 90) GROUP BY ALL",
    "SELECT age // 10, age % 10, COUNT(*) FROM people WHERE age // 10 > age % 10 GROUP BY ALL",
    "SELECT age < 50, age // 10, COUNT(*) FROM people WHERE age // 10 IN (2, 7) GROUP BY ALL",
)
"""Queries whose listed groups are those of the rows: all values occur."""

FREE = (
    ("SELECT age // 10, size < 5, COUNT(*) FROM people GROUP BY ALL", 20),
    ("SELECT age < 50, town, size, COUNT(*) FROM people GROUP BY ALL", 40),
)
"""Keys of different values, and how many combinations there are."""


@pytest.mark.parametrize("sql", EXACT)
def test_groups_are_those_of_some_value(session: Session, sql: str) -> None:
    assert shown(session, sql) == occurring(TABLES, sql)


@pytest.mark.parametrize(("sql", "groups"), FREE)
def test_keys_of_different_values_are_combined_freely(session: Session, sql: str, groups: int) -> None:
    assert len(shown(session, sql)) == groups


def test_too_many_values_are_combined_freely(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT age // 20, age >= 20, COUNT(*) FROM people GROUP BY ALL"
    with monkeypatch.context() as patch:
        patch.setattr(of_one_value, "MOST_COMBINATIONS", 90)
        assert len(shown(session, sql)) == 10
    with monkeypatch.context() as patch:
        patch.setattr(public_values, "_KEPT", {})
        patch.setattr(of_one_value, "MOST_TOGETHER", 4)
        assert len(shown(session, sql)) == 10
    assert len(shown(session, sql)) == 5


def test_rows_that_break_their_declarations_are_in_no_other_group(tmp_path: Path) -> None:
    """An age of -60 has a pair of keys that no age of the range has: both are listed, the pair is not."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
        connection.execute("UPDATE people SET age = -60 WHERE id % 2 = 0")
    path.with_suffix(".toml").write_text(POLICY)
    sql = "SELECT abs(age) // 50 AS a, age >= 50 AS b, COUNT(*) AS n FROM people GROUP BY ALL"
    with dpsql.connect(path) as db:
        found = {tuple(row[:2]): row[2] for row in db.execute(sql, epsilon=1.0).rows}
    assert found.keys() == {(0, False), (1, True)}
    assert all(abs(n - 7310 / 4) < 200 for n in found.values())


def test_a_guess_leaves_nothing_out(session: Session) -> None:
    """Nobody promises how many rows a person has: a person of age 30 may have 40."""
    many = "people JOIN (SELECT id, COUNT(*) AS c FROM visits GROUP BY id) AS v USING (id)"
    sql = f"SELECT age > 20 AS a, age > 50 AS b, COUNT(*) FROM {many} WHERE age <= c GROUP BY ALL"
    assert shown(session, sql) == {(False, False), (True, False), (True, True)}
    assert shown(session, sql.replace("age <= c", "age <= 5")) == {(False, False)}


def test_zeros_of_both_signs_are_tried(session: Session) -> None:
    sql = "SELECT signbit(round(w)) AS a, round(w) = 0 AS b, COUNT(*) FROM people GROUP BY ALL"
    assert shown(session, sql) == {(False, False), (False, True), (True, False), (True, True)}


def test_a_list_of_many_rows_is_not_printed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT age // 10, age % 3, size % 5, COUNT(*) FROM people WHERE age % 3 > size % 5 GROUP BY ALL"
    all_ = {(ten, rest, five) for ten in range(10) for rest in range(3) for five in range(5)}
    assert shown(session, sql) == {(ten, rest, five) for ten, rest, five in all_ if rest > five}
    monkeypatch.setattr(pairs, "MOST_PRINTED", 20)
    assert shown(session, sql) == all_

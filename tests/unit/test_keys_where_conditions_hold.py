"""Groups that the conditions of a query exclude are not listed: SQL above the release would count them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from listed_groups import occurring, session_over, shown

import dpsql
from dpsql.session import Session

POLICY = """
[budget]
epsilon = 1e6
delta = 1e-6
[query]
max_epsilon = 1e5
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = { range = [0, 99], null = false }
ward = { values = ["A", "B", "C"], null = false }
seen = { range = [2023-01-01T00:00:00, 2024-12-31T23:59:59], null = false }
place = { null = false }
[tables.places]
public = true
key = "place"
"""

TABLES = """
CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, ward VARCHAR, seen TIMESTAMP, place INTEGER);
INSERT INTO people SELECT i, i % 100, ['A', 'B', 'C'][1 + i % 3],
    TIMESTAMP '2023-01-01' + INTERVAL 1 HOUR * (i * 7 % 17544), i % 6 FROM range(6000) AS t(i);
CREATE TABLE places (place INTEGER PRIMARY KEY, city VARCHAR, kind VARCHAR, beds INTEGER);
INSERT INTO places VALUES (0, 'Oslo', 'a', 10), (1, 'Oslo', 'b', 20), (2, 'Rome', 'a', 30),
    (3, 'Rome', 'b', 40), (4, NULL, 'a', 50), (5, 'Bern', 'a', NULL);
"""

JOINED = "people JOIN places AS p USING (place)"

SAME = (
    "SELECT date_trunc('month', seen), COUNT(*) FROM people WHERE year(seen) = 2024 GROUP BY ALL",
    "SELECT month(seen), COUNT(*) FROM people WHERE seen::DATE BETWEEN '2024-02-01' AND '2024-04-30' "
    "GROUP BY ALL",
    "SELECT year(seen), COUNT(*) FROM people WHERE seen < '2024-01-01' GROUP BY ALL",
    "SELECT ward, COUNT(*) FROM people WHERE ward > 'A' AND ward NOT LIKE '%C' GROUP BY ALL",
    "SELECT age, COUNT(*) FROM people WHERE age % 25 = 0 GROUP BY ALL",
    "SELECT age // 10, age % 10, COUNT(*) FROM people WHERE age % 9 = 1 GROUP BY ALL",
    f"SELECT p.city, COUNT(*) FROM {JOINED} GROUP BY ALL",
    f"SELECT p.kind, COUNT(*) FROM {JOINED} GROUP BY ALL",
    f"SELECT p.city, COUNT(*) FROM {JOINED} WHERE p.beds > 15 GROUP BY ALL",
    f"SELECT p.city, p.kind, COUNT(*) FROM {JOINED} WHERE p.beds + 5 < 40 GROUP BY ALL",
    f"SELECT city, kind, place, COUNT(*) FROM {JOINED} WHERE p.kind = 'a' AND city <> 'Rome' GROUP BY ALL",
    "SELECT city, COUNT(*) FROM people AS e JOIN places AS p ON e.place = p.place AND kind = 'b' GROUP BY 1",
    f"SELECT city, COUNT(*) FROM (SELECT id, p.city FROM {JOINED} WHERE beds < 25 GROUP BY ALL) GROUP BY ALL",
)
"""Queries whose listed groups are those of the rows: all values occur."""

MORE = (
    # an outer join may find no row; two columns say nothing of one; nor do hours of years
    (
        "SELECT city, COUNT(*) FROM people LEFT JOIN places USING (place) WHERE beds > 15 GROUP BY ALL",
        4,
    ),
    ("SELECT ward, COUNT(*) FROM people WHERE ward > 'A' OR age > 50 GROUP BY ALL", 3),
    ("SELECT year(seen), COUNT(*) FROM people WHERE hour(seen) = 25 GROUP BY ALL", 2),
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_over(tmp_path_factory.mktemp("hold"), TABLES, POLICY) as found:
        yield found


@pytest.mark.parametrize("sql", SAME)
def test_groups_are_those_of_the_rows(session: Session, sql: str) -> None:
    assert shown(session, sql) == occurring(TABLES, sql)


@pytest.mark.parametrize(("sql", "groups"), MORE)
def test_where_a_condition_says_nothing_all_are_listed(session: Session, sql: str, groups: int) -> None:
    assert len(shown(session, sql)) == groups


def test_an_average_over_groups_counts_those_that_there_are(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    path.with_suffix(".toml").write_text(POLICY)
    monthly = "SELECT month(seen) AS m, COUNT(*) AS n FROM people WHERE year(seen) = 2024 GROUP BY m"
    sql = f"SELECT AVG(n), COUNT(*) FROM ({monthly})"
    with duckdb.connect(str(path), read_only=True) as connection:
        ((exact, _),) = connection.execute(sql).fetchall()
    with dpsql.connect(path) as db:
        ((mean, months),) = db.execute(sql, epsilon=100.0).rows
    assert months == 12
    assert abs(mean - exact) < 5


OTHER_TYPES = """
CREATE TABLE p (pid INTEGER PRIMARY KEY, i INTEGER, k INTEGER);
INSERT INTO p SELECT n, n % 10, n % 4 FROM range(1000) AS t(n);
CREATE TABLE w (ti TINYINT, b BIGINT, t TIMESTAMP, c VARCHAR, k INTEGER);
INSERT INTO w SELECT n, n * n, TIMESTAMP '2024-01-01' + INTERVAL 1 DAY * n, 'c' || n % 2, n
    FROM range(10) AS t(n);
"""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT w.b, COUNT(*) FROM p JOIN w ON p.i = w.ti WHERE p.i * 100 > 500 OR w.b = 99 GROUP BY ALL",
        "SELECT p.i, COUNT(*) FROM p JOIN w ON p.i = w.b WHERE bit_count(p.i) = 1 OR w.ti = 99 GROUP BY ALL",
        "SELECT w.t, w.c, w.b, COUNT(*) FROM p JOIN w ON p.k = w.k WHERE w.b > 1 GROUP BY ALL",
    ],
)
def test_what_is_equal_is_not_the_same_in_a_function(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(OTHER_TYPES)
        exact = {tuple(row[:-1]): row[-1] for row in connection.execute(sql).fetchall()}
    head, _, _ = POLICY.partition("[unit]")
    unit = '[unit]\nname = "person"\ntable = "p"\nkey = "pid"\n[tables.p.columns]\ni = {}\nk = {}\n'
    path.with_suffix(".toml").write_text(f"{head}{unit}[tables.w]\npublic = true\n")
    with dpsql.connect(path) as db:
        found = {tuple(row[:-1]): row[-1] for row in db.execute(sql, epsilon=2000.0).rows}
    assert {group: n for group, n in found.items() if n > 3} == exact

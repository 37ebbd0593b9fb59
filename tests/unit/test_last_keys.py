"""Keys at the ends of their types: found, not sought again, and answered."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
accountant = "zcdp"
[query]
max_epsilon = 100.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
[tables.seen]
unit = { column = "id", references = "people.id" }
rows_per_unit = 5
[tables.seen.columns]
x = {}
"""


@pytest.mark.parametrize(
    ("type", "values", "shown"),
    [
        ("UHUGEINT", (0, 2**128 - 1, "NULL"), [0, 2**128 - 1, None]),
        ("HUGEINT", (-(2**127), 2**127 - 1, "NULL"), [-(2**127), 2**127 - 1, None]),
        ("TIMESTAMP_NS", ("'2262-04-11 23:47:16.854775806'", "NULL"), [None, None]),  # rounded beyond the end
    ],
)
@pytest.mark.parametrize(
    "sql", ["SELECT DISTINCT x FROM seen", "SELECT x FROM seen GROUP BY x HAVING COUNT(*) > 9"]
)
def test_the_ends_of_a_type(
    tmp_path: Path, sql: str, type: str, values: tuple[object, ...], shown: list[object]
) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO people SELECT i FROM range(2000) t(i)")
        connection.execute(f"CREATE TABLE seen (id INTEGER NOT NULL, x {type})")
        for value in values:
            connection.execute(f"INSERT INTO seen SELECT i, {value} FROM range(2000) t(i)")
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as db:
        assert [row[0] for row in db.execute(sql, epsilon=20.0)] == shown

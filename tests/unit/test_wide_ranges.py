"""The note on numbers lost in the noise of wide ranges, and the bounds that it proposes."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import dpsql

POLICY = """
[budget]
epsilon = 1e9
delta = 1e-6
[query]
epsilon = 0.01
max_epsilon = 1e8
[unit]
name = "guest"
table = "stays"
key = "id"
[tables.stays.columns]
id = {}
age = { range = [0, 100] }
came = { range = [2020-01-01, 2029-12-31] }
went = { range = [2020-01-01, 2029-12-31] }
kind = { values = ["a", "b"] }
guests = {}
late = {}
"""
MINUTES = "date_diff('minute', came, went)"
SAID = "Noise is for all differences that the ranges of both columns allow"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    path = tmp_path_factory.mktemp("differences") / "stays.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE stays AS SELECT i AS id, 20 + i % 60 AS age, if(i % 3 = 0, 'a', 'b') AS kind, "
            "(i % 4)::SMALLINT AS guests, i % 7 = 0 AS late, "
            "TIMESTAMP '2024-05-01' + INTERVAL (i) MINUTE AS came, came + INTERVAL 10 MINUTE AS went "
            "FROM range(3000) AS t(i)"
        )
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "epsilon", "told"),
    [
        (f"SELECT AVG({MINUTES}) FROM stays", 1.0, True),
        ("SELECT kind, AVG(epoch(went - came)) AS seconds FROM stays GROUP BY kind", 1.0, True),
        (f"SELECT SUM(age * {MINUTES}) FROM stays", 1.0, True),
        (f"SELECT AVG({MINUTES}) FROM stays", 1e7, False),
        (f"SELECT AVG({MINUTES} CLAMPED BETWEEN 0 AND 60) FROM stays", 1.0, False),
        ("SELECT AVG(age) FROM stays", 1.0, False),
        ("SELECT COUNT(*) FROM stays WHERE age < 21", 0.01, False),
    ],
)
def test_differences_that_are_lost_are_told(
    db: dpsql.Connection, sql: str, epsilon: float, told: bool
) -> None:
    """An average is expected within 5,000 minutes at epsilon 1, and is 10."""
    assert (SAID in db.execute(sql, epsilon=epsilon).note) == told


@pytest.mark.parametrize(
    ("sql", "epsilon", "column"),
    [
        ("SELECT AVG(guests) FROM stays", 1.0, "guests"),
        ("SELECT kind, SUM(2 * n) FROM (SELECT kind, guests AS n FROM stays) GROUP BY kind", 1.0, "guests"),
        ("SELECT AVG(guests) FROM stays", 1e7, ""),
        ("SELECT AVG(guests CLAMPED BETWEEN 0 AND 3) FROM stays", 1.0, ""),
        ("SELECT AVG(guests) FROM stays WHERE guests BETWEEN 0 AND 3", 1.0, ""),
        ("SELECT AVG(LEAST(GREATEST(guests, 0), 3)) FROM stays", 1.0, ""),
        ("SELECT AVG(CAST(late AS INTEGER)) FROM stays", 0.01, ""),
    ],
)
def test_the_range_of_a_small_type_is_told(
    db: dpsql.Connection, sql: str, epsilon: float, column: str
) -> None:
    """An average is expected within 60 at epsilon 1, and is 1.5."""
    note = db.execute(sql, epsilon=epsilon).note
    assert (f"Noise is for all that the type of {column} holds" in note) == bool(column)
    assert ("that the type of" in note) == bool(column)


def test_bounds_stand_in_the_names_of_columns(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT AVG(age * 2 CLAMPED BETWEEN 0 AND 60.5) / 2, SUM(age) FROM stays")
    assert answer.columns == ("(avg((age * 2) CLAMPED BETWEEN 0 AND 60.5) / 2)", "sum(age)")

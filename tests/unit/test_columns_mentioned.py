"""Columns that SQL does not mention are not needed for its rows."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dpsql.post import columns_mentioned as module
from dpsql.post.columns_mentioned import columns_mentioned

PLACES = "SELECT i AS id, 'p' || i AS name, i % 3 AS beds FROM range(9) AS t(i)"
VISITS = "SELECT i % 9 AS place, 'p1' AS name, i AS cost FROM range(40) AS t(i)"
TABLES = {"places": ("id", "name", "beds"), "visits": ("place", "name", "cost")}

PRUNED = {
    "SELECT count(*) FROM places": {"id"},
    "SELECT name FROM places WHERE beds > 1": {"name", "beds"},
    "SELECT p.beds * 2 AS twice FROM places AS p ORDER BY ALL": {"beds"},
    "SELECT p.name, (SELECT count(*) FROM visits AS v WHERE v.place = p.id) FROM places AS p": {"id", "name"},
    "SELECT sum(v.cost) FROM places AS p JOIN visits AS v ON p.id = v.place GROUP BY p.beds": {"id", "beds"},
    "SELECT count(*) FROM places JOIN (SELECT 1 AS id) AS one USING (id)": {"id"},
    "SELECT \"Name\" FROM places UNION ALL SELECT 'beds'": {"name"},
}
"""SQL, and what it needs of places."""

WHOLE = (
    "SELECT * FROM places",
    "SELECT p.* FROM places AS p",
    "SELECT * EXCLUDE (id) FROM places",
    "SELECT count(COLUMNS(*)) FROM places",
    "SELECT COLUMNS('b.*') FROM places",
    "SELECT p FROM places AS p",
    "SELECT hash(places) FROM places",
    "SELECT to_json(p).name FROM places AS p",
    "SELECT count(*) FROM places NATURAL JOIN visits",
    "SELECT a, c FROM places AS t(a, b, c)",
    "SELECT x FROM (SELECT * FROM places) AS t(x, y, z)",
    "PIVOT places ON beds USING count(*)",
    "FROM places",
    "SELECT count(*) FROM (SELECT DISTINCT * FROM places) AS d",
    "SELECT EXISTS (SELECT * FROM places WHERE places IS NOT NULL)",
    "TABLE places",
    "SELECT name FROM (UNPIVOT places ON id, beds)",
)


@pytest.fixture
def engines() -> Iterator[tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]]:
    with duckdb.connect() as whole, duckdb.connect() as pruned:
        whole.execute(f"CREATE TABLE places AS {PLACES}")
        whole.execute(f"CREATE TABLE visits AS {VISITS}")
        yield whole, pruned


def same(engines: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection], sql: str) -> bool:
    """Whether SQL has the same columns and rows over tables with the columns that it mentions."""
    whole, pruned = engines
    mentioned = columns_mentioned(sql)
    for table, columns in TABLES.items():
        kept = [name for name in columns if mentioned is None or name in mentioned] or columns[:1]
        read = whole.execute(f"SELECT {', '.join(kept)} FROM {table}")
        types = [str(each[1]) for each in read.description or ()]
        rows = read.fetchall()
        listed = ", ".join(f"{name} {kind}" for name, kind in zip(kept, types, strict=True))
        pruned.execute(f"CREATE OR REPLACE TABLE {table} ({listed})")
        pruned.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(kept))})", rows)
    first = whole.execute(sql)
    expected = [each[0] for each in first.description or ()], sorted(map(repr, first.fetchall()))
    try:
        second = pruned.execute(sql)
        found = [each[0] for each in second.description or ()], sorted(map(repr, second.fetchall()))
    except duckdb.Error:
        return False
    return found == expected


@pytest.mark.parametrize("sql", PRUNED)
def test_what_is_not_mentioned_is_left_out(
    engines: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection], sql: str
) -> None:
    mentioned = columns_mentioned(sql)
    assert mentioned is not None
    assert PRUNED[sql] - {"id"} == (mentioned & set(TABLES["places"])) - {"id"}
    assert same(engines, sql)


@pytest.mark.parametrize("sql", WHOLE)
def test_what_reads_columns_without_their_names_has_all_of_them(
    engines: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection], sql: str
) -> None:
    assert columns_mentioned(sql) is None
    assert same(engines, sql)


def test_a_star_that_is_overlooked_is_found(
    engines: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_reads_any", lambda node: False)
    columns_mentioned.cache_clear()
    try:
        assert not same(engines, "SELECT * FROM places")
    finally:
        columns_mentioned.cache_clear()


def test_sql_that_is_not_understood_may_read_all() -> None:
    assert columns_mentioned("SELECT (") is None

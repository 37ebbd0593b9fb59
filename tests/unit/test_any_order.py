"""SQL that has one order has the same rows on one thread and on several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import dpsql
from dpsql.post import any_order, sealed_process
from dpsql.post.any_order import in_one_order

ROWS = 400_000
TABLES = {
    "parts": {
        "id": "BIGINT",
        "brand": "VARCHAR",
        "size": "INTEGER",
        "price": "DECIMAL(9,2)",
        "made": "DATE",
        "weight": "DOUBLE",
        "total": "HUGEINT",
        "large": "DECIMAL(38,0)",
    },
    "brands": {"brand": "VARCHAR", "land": "VARCHAR", "rank": "INTEGER"},
}
FILL = f"""
INSERT INTO parts SELECT i, 'b' || i * 7919 % 40, i * 31 % 50, i * 17 % 90000 / 100,
    DATE '2020-01-01' + CAST(i % 900 AS INTEGER), 1 / (1 + i % 1000), i, i FROM range({ROWS}) AS t(i);
INSERT INTO brands SELECT 'b' || i, 'land' || i % 3, i % 5 FROM range(45) AS t(i);
"""
ONE_ORDER = (
    "SELECT brand, COUNT(*) AS n FROM parts GROUP BY brand",
    "SELECT brand, COUNT(*) AS n FROM parts GROUP BY brand ORDER BY n DESC LIMIT 7",
    "SELECT size, SUM(price * (1 - size)) AS s, AVG(price) AS a, MIN(made) AS m FROM parts GROUP BY size "
    "ORDER BY AVG(price), s",
    "SELECT DISTINCT brand, size FROM parts ORDER BY size DESC LIMIT 30",
    "SELECT brand, size FROM parts WHERE price > 890 ORDER BY size LIMIT 100",
    "SELECT COUNT(*) AS n, COUNT(DISTINCT brand) AS m, SUM(size) AS s FROM parts",
    "SELECT land, SUM(size) - COUNT(*) AS m FROM parts JOIN brands USING (brand) GROUP BY land",
    "SELECT land FROM brands WHERE rank IN (SELECT size FROM parts WHERE id < 9) ORDER BY land LIMIT 4",
    "SELECT brand, MAX(price) AS p FROM parts AS o GROUP BY brand "
    "HAVING SUM(size) * 40 > (SELECT SUM(size) AS s FROM parts) ORDER BY ALL LIMIT 9",
    "SELECT CAST(made AS VARCHAR) AS y, SUM(CASE WHEN size > 3 THEN 1 ELSE 0 END) AS s FROM parts GROUP BY 1",
    "WITH s AS (SELECT brand, SUM(size) AS n FROM parts GROUP BY brand) "
    "SELECT land, MAX(n) AS n FROM s JOIN brands ON s.brand = brands.brand GROUP BY land ORDER BY 2",
    "SELECT brand, made + INTERVAL '1' DAY < DATE '2021-01-01' AS early FROM parts "
    "WHERE size / 7 > 6.99999999999999999999 ORDER BY brand LIMIT 5",
)
SEVERAL = (
    "SELECT brand, size FROM parts",  # the order of the table
    "SELECT brand, size FROM parts LIMIT 3",
    "SELECT brand, FIRST(size) AS f FROM parts GROUP BY brand",
    "SELECT brand, STRING_AGG(id) AS s FROM parts GROUP BY brand",
    "SELECT brand, LIST(size) AS s FROM parts GROUP BY brand",
    "SELECT brand, MODE(size) AS s FROM parts GROUP BY brand",
    "SELECT brand, SUM(weight) AS s FROM parts GROUP BY brand",
    "SELECT weight, COUNT(*) AS n FROM parts GROUP BY weight",
    "SELECT brand, SUM(size / 3) AS s FROM parts GROUP BY brand",
    "SELECT brand, SUM(size * 1e0) AS s FROM parts GROUP BY brand",
    "SELECT SUM(size * 0.3333333333333333333333333333333333333333333) AS s FROM parts",  # a DOUBLE
    "SELECT SUM(size * 170141183460469231731687303715884105728) AS s FROM parts",
    "SELECT SUM(size * 100000000000000000) AS s, SUM(id * id) AS d FROM parts",  # beyond 128 bits
    "SELECT SUM(large) AS s FROM parts",
    "SELECT SUM(price * price * price * price) AS s FROM parts",
    "SELECT brand, SUM(CAST(size AS DOUBLE)) AS s FROM parts GROUP BY brand",
    "SELECT size, MAX(CASE WHEN id > 3 THEN CAST('-0.0' AS DOUBLE) ELSE 0 END) AS d FROM parts GROUP BY size",
    "SELECT size, 1 / MAX(0 / (size - 25)) AS d FROM parts GROUP BY size",
    "SELECT DISTINCT -AVG(size) AS d FROM parts GROUP BY brand",
    "SELECT m, COUNT(*) AS n FROM (SELECT brand, AVG(size) AS m FROM parts GROUP BY brand) AS s GROUP BY m",
    "SELECT size, MIN(CASE WHEN id > 3 THEN INTERVAL '1' MONTH ELSE INTERVAL '30' DAY END) > "
    "INTERVAL '2' DAY AS d FROM parts GROUP BY size",
    "SELECT DISTINCT brand FROM parts ORDER BY size LIMIT 3",  # the key of whichever row comes first
    "SELECT DISTINCT brand AS b FROM parts ORDER BY SUBSTRING(b, 2), id LIMIT 3",
    "SELECT DISTINCT brand AS b FROM parts GROUP BY brand, size ORDER BY SUM(price)",
    "SELECT brand, SUM(total * 0.5) AS s FROM parts GROUP BY brand",
    "SELECT land, SUM(m) AS s FROM (SELECT brand, AVG(size) AS m FROM parts GROUP BY brand) AS s "
    "JOIN brands ON s.brand = brands.brand GROUP BY land",
    "SELECT land, SUM(size) AS s FROM (SELECT brand, AVG(size) AS size FROM parts GROUP BY brand) AS s "
    "JOIN brands ON s.brand = brands.brand GROUP BY land",
    'SELECT SUM("avg(size)") AS s FROM (SELECT brand, AVG(size) FROM parts GROUP BY brand) AS s',
    "SELECT SUM(n) AS s FROM (SELECT brand, AVG(size) AS m FROM parts GROUP BY brand) AS s(brand, n)",
    "SELECT SUM(size) AS s FROM (SELECT size FROM parts LIMIT 10) AS s",
    "SELECT brand, ROW_NUMBER() OVER (ORDER BY size) AS i FROM parts ORDER BY brand LIMIT 3",
    "SELECT DISTINCT ON (brand) brand, size FROM parts ORDER BY brand",
    "SELECT brand, SUM(size) AS s FROM parts GROUP BY ROLLUP (brand)",
    "SELECT parts.brand, rank FROM parts POSITIONAL JOIN brands ORDER BY rank",
    "SELECT weight FROM parts ORDER BY weight",
    "SELECT brand, MIN(rowid) AS r FROM parts GROUP BY brand",
    "SELECT brand, size FROM parts ORDER BY rowid LIMIT 5",
    "SELECT brand, COUNT(*) AS n FROM parts USING SAMPLE 10 ROWS GROUP BY brand",
    "SELECT brand, random() AS r FROM parts ORDER BY r",
    "SELECT brand FROM parts UNION ALL SELECT land FROM brands",
)


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        for table, columns in TABLES.items():
            listed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            opened.execute(f"CREATE TABLE {table} ({listed})")
        opened.execute(FILL)
        opened.execute("CREATE SCHEMA shuffled")
        for table in TABLES:
            opened.execute(f"CREATE TABLE shuffled.{table} AS SELECT * FROM {table} AS t ORDER BY hash(t)")
        yield opened


def answers(engine: duckdb.DuckDBPyConnection, sql: str) -> list[list[tuple[object, ...]]]:
    """The rows on some numbers of threads, and of the same tables whose rows have another order."""
    found = []
    for schema, threads in (("main", 1), ("main", 2), ("main", 7), ("shuffled", 1), ("shuffled", 2)):
        engine.execute(f"SET threads = {threads}")
        engine.execute(f"USE {schema}")
        try:
            found.append(engine.execute(sql).fetchall())
        finally:
            engine.execute("USE main")
    return found


def ordered(engine: duckdb.DuckDBPyConnection, sql: str, released: bool = False) -> str | None:
    printed = sqlglot.parse_one(sql, dialect="duckdb").sql("duckdb")
    types = [str(row[1]) for row in engine.execute(f"DESCRIBE {printed}").fetchall()]
    columns = [column for each in TABLES.values() for column in each.items()]
    return in_one_order(printed, types, columns, released)


@pytest.mark.parametrize("sql", ONE_ORDER)
def test_rows_are_the_same_on_any_number_of_threads(engine: duckdb.DuckDBPyConnection, sql: str) -> None:
    one = ordered(engine, sql)
    assert one is not None
    first, *others = answers(engine, one)
    assert [each == first for each in others] == [True] * 4
    if " LIMIT " not in sql:
        assert sorted(engine.execute(sql).fetchall(), key=repr) == sorted(first, key=repr)


@pytest.mark.parametrize("sql", SEVERAL)
def test_what_may_have_several_orders_is_left_alone(engine: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert ordered(engine, sql) is None


def test_released_numbers_are_not_added_up(engine: duckdb.DuckDBPyConnection) -> None:
    assert ordered(engine, ONE_ORDER[0], released=True) is None
    assert ordered(engine, ONE_ORDER[4], released=True) is not None


POLICY = """
[budget]
epsilon = 10
accountant = "pure"
[query]
epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
[tables.parts]
public = true
[tables.brands]
public = true
"""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE people AS SELECT 1 AS person")
        for table, columns in TABLES.items():
            listed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            made.execute(f"CREATE TABLE {table} ({listed})")
        made.execute(FILL)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


def test_large_public_tables_are_read_on_several_threads(
    shop: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = list[int]()
    run = sealed_process.Process.run

    def noted(process: sealed_process.Process, sql: str, *given: object) -> list[tuple[object, ...]]:
        used.append(given[3])  # type: ignore[arg-type]  # a number
        return run(process, sql, *given)  # type: ignore[arg-type]  # what it is called with

    monkeypatch.setattr(sealed_process.Process, "run", noted)
    monkeypatch.setattr("dpsql.post.sealed._cores", lambda: 2)
    for sql, threads in ((ONE_ORDER[1], 2), (SEVERAL[2], 1), ("SELECT COUNT(*) FROM brands", 1)):
        found = [shop.execute(sql, epsilon=price).fetchall() for price in (None, 0.5)]
        assert found[0] == found[1]
        assert used[-1] == threads, sql


def test_rows_do_not_depend_on_the_machine(shop: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    for sql in (ONE_ORDER[1], "SELECT id, size FROM parts ORDER BY size LIMIT 3"):
        found = []
        for cores in (1, 2):
            monkeypatch.setattr("dpsql.post.sealed._cores", lambda cores=cores: cores)
            found.append(shop.execute(sql).fetchall())
        assert found[0] == found[1]


@pytest.mark.parametrize("failure", [sealed_process.Full, sealed_process.Failed])
def test_one_thread_is_tried_where_several_fail(
    shop: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    run, threads = sealed_process.Process.run, list[int]()

    def full(process: sealed_process.Process, *given: object) -> list[tuple[object, ...]]:
        threads.append(given[4])  # type: ignore[arg-type]  # a number
        if threads[-1] > 1:
            process.end()
            raise failure
        return run(process, *given)  # type: ignore[arg-type]  # what it is called with

    monkeypatch.setattr("dpsql.post.sealed._cores", lambda: 2)
    monkeypatch.setattr(sealed_process.Process, "run", full)
    assert len(shop.execute(ONE_ORDER[0]).fetchall()) == 40
    assert threads[-2:] == [2, 1]


def planted(name: str) -> pytest.MonkeyPatch:
    patch = pytest.MonkeyPatch()
    patch.setattr(any_order, name, (*getattr(any_order, name), exp.First))
    return patch


def test_an_aggregate_of_the_first_row_is_found(engine: duckdb.DuckDBPyConnection) -> None:
    """Planted: FIRST counts as steady. Its rows differ with the order of the table."""
    patch, sql = planted("_STEADY"), "SELECT size, FIRST(id) AS i FROM parts GROUP BY size ORDER BY size"
    any_order._ordered.cache_clear()
    try:
        one = ordered(engine, sql)
    finally:
        patch.undo()
        any_order._ordered.cache_clear()
    assert one is not None
    first, *others = answers(engine, one)
    assert first not in others[2:]

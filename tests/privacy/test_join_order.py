"""Chains of inner joins with public rows first, printed for DuckDB: the sums of the query's own order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import join_order, relation_sql
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.join_order import Joined
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.special_units import EVERYTHING

SCHEMA = """
CREATE TABLE people (person BIGINT PRIMARY KEY, ward VARCHAR);
INSERT INTO people SELECT n, ['a', 'b', 'c'][1 + n % 3] FROM range(1, 31) AS r(n);
CREATE TABLE visits (visit BIGINT UNIQUE, person BIGINT, place BIGINT);
INSERT INTO visits SELECT n, 1 + n % 30, n % 8 FROM range(1, 121) AS r(n);
INSERT INTO visits SELECT n, 7, n % 8 FROM range(200, 260) AS r(n);
INSERT INTO visits VALUES (900, NULL, 1), (901, 777, 2), (902, 3, NULL);
CREATE TABLE lines (visit BIGINT, code BIGINT, amount DOUBLE NOT NULL);
INSERT INTO lines SELECT 1 + n % 259, n % 7, n % 10 FROM range(800) AS r(n);
INSERT INTO lines VALUES (NULL, 1, 1), (900, 2, 2), (950, 3, 3), (4, NULL, 4);
CREATE TABLE wards (ward VARCHAR PRIMARY KEY, beds INTEGER);
INSERT INTO wards VALUES ('a', 10), ('b', 20), ('c', 5), ('d', 9);
CREATE TABLE places (place BIGINT PRIMARY KEY, ward VARCHAR, size INTEGER);
INSERT INTO places SELECT n, ['a', 'b'][1 + n % 2], n FROM range(6) AS r(n);
CREATE TABLE codes (code BIGINT PRIMARY KEY, class VARCHAR);
INSERT INTO codes SELECT n, ['x', 'y'][1 + n % 2] FROM range(5) AS r(n);
CREATE TABLE names (code BIGINT, name VARCHAR);
INSERT INTO names SELECT n % 5, 'n' || n FROM range(15) AS r(n);
"""

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
accountant = "zcdp"
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
ward = {}
[tables.visits]
unit = { column = "person", references = "people.person" }
rows_per_unit = 4
[tables.visits.columns]
person = {}
place = {}
[tables.lines]
unit = { column = "visit", references = "visits.visit" }
rows_per_unit = 6
[tables.lines.columns]
code = {}
amount = { range = [0, 10] }
[tables.wards]
public = true
[tables.places]
public = true
[tables.codes]
public = true
[tables.names]
public = true
"""

LINES = "FROM lines l JOIN visits v ON v.visit = l.visit"
MOVED = (
    f"SELECT c.class, COUNT(*), SUM(l.amount) {LINES} JOIN codes c ON c.code = l.code GROUP BY c.class",
    f"SELECT COUNT(*) {LINES} JOIN people p ON p.person = v.person JOIN codes c ON c.code = l.code "
    "JOIN wards w ON w.ward = p.ward WHERE w.beds > 5 AND c.class = 'x'",
    f"SELECT w.beds, SUM(l.amount) {LINES} JOIN people p ON p.person = v.person "
    "JOIN places s ON s.place = v.place JOIN wards w ON w.ward = s.ward GROUP BY w.beds",
    f"SELECT COUNT(*), COUNT(DISTINCT v.person) {LINES} JOIN people p ON p.person = v.person "
    "JOIN codes c ON c.code = l.code AND c.code < v.place + 3",
    "SELECT COUNT(*) FROM visits v JOIN visits o ON o.visit = v.visit AND o.person = v.person "
    "JOIN places s ON s.place = v.place WHERE s.size > 1",
    f"SELECT SUM(l.amount) {LINES} JOIN codes c ON c.code = l.code LEFT JOIN wards w ON w.beds = c.code",
)
KEPT = (
    f"SELECT COUNT(*) {LINES} JOIN names n ON n.code = l.code",  # three names a code
    f"SELECT COUNT(*) {LINES} JOIN wards w ON w.beds > l.amount",
    "SELECT COUNT(*) FROM visits v JOIN places s ON s.place = v.place JOIN wards w ON w.ward = s.ward",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


def sums(db: dpsql.Connection, sql: str) -> list[list[tuple[object, ...]]]:
    """Return the sums by the statement per unit, and by that for tables of many rows."""
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    fast = FastSums(engine._all, replace(EVERYTHING, copied=0, long=0, few=0))
    found = []
    for planned in plan_of(db._open(), sql, 1.0).measures:
        width, texts = len(planned.keys), (measure_sql(planned), fast.statement(planned))
        found += [sorted(row for row in engine._all(text) if any(row[width:])) for text in texts]
    fast.forget()
    return found


def as_written(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Print joins in the order that Spark needs; return whether each chain has another one than its query."""
    moved, ordered = list[bool](), join_order.public_first

    def seen(chain: Sequence[Joined]) -> list[Joined]:
        found = ordered(chain)
        moved.append(found != list(chain))
        return found

    monkeypatch.setattr(join_order, "public_first", seen)
    monkeypatch.setattr(type(DUCKDB), "joins_as_written", True)
    return moved


@pytest.mark.parametrize("sql", [*MOVED, *KEPT])
def test_the_order_of_joins_changes_no_sum(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    known = sums(db, sql)
    assert all(known)
    moved = as_written(monkeypatch)
    assert sums(db, sql) == known
    assert moved
    assert any(moved) == (sql in MOVED)


def without_conditions(table: Joined) -> str:
    return "true" if table.early else " AND ".join(table.on)


@pytest.mark.parametrize("sql", MOVED[:3])
def test_early_tables_without_their_conditions_are_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    known = sums(db, sql)
    as_written(monkeypatch)
    monkeypatch.setattr(join_order, "_on", without_conditions)
    assert sums(db, sql) != known


def test_a_table_that_comes_before_what_it_reads_is_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_written(monkeypatch)
    chain = relation_sql._chain

    def blind(*given: object) -> object:
        tables, same = chain(*given)  # type: ignore[arg-type]  # what it is called with
        return [replace(table, reads=frozenset()) for table in tables], same

    monkeypatch.setattr(relation_sql, "_chain", blind)
    with pytest.raises(duckdb.BinderException):
        sums(db, MOVED[2])

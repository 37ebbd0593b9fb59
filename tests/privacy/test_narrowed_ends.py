"""Conditions on a column leave no value beyond what they say: then no clamp is printed.

Values below and above all ranges, of people who have many rows and of others; the rows of one add up to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import extremes
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.extremes import Extremes
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.row_cells import Ends
from dpsql.engines.special_units import EVERYTHING
from dpsql.ir.relation import Filter, Project, Relation
from dpsql.ir.scalar import Scalar, conjuncts, refs

SCHEMA = """
CREATE TABLE people AS SELECT CAST(range AS BIGINT) AS person FROM range(1, 41);
CREATE TABLE tests (test BIGINT, person BIGINT, x INTEGER, d DECIMAL(8,2), f DOUBLE, day INTEGER, big BIGINT);
INSERT INTO tests
SELECT row_number() OVER (), person, (n * 37 + person) % 201 - 50, (n * 41 + person) % 320 - 10.25,
    (n * 43 + person) % 200 - 50.5, n % 7, 9007199254740993 - n
FROM range(1, 41) AS p(person), range(60) AS r(n) WHERE n < person;
INSERT INTO tests VALUES
    (9001, 3, NULL, NULL, NULL, NULL, NULL), (9002, 4, 2147483647, 999999.99, 1e300, 6, 0),
    (9003, 4, -2147483648, -999999.99, 'NaN', 6, 0), (9004, NULL, 40, 40, 40, 1, 0);
CREATE TABLE odd AS
SELECT i AS test, CAST(40 AS BIGINT) AS person, 100 * (1 - 2 * CAST(i % 2 AS INTEGER)) AS x
FROM range(60) AS r(i);
CREATE TABLE days AS SELECT CAST(range AS INTEGER) AS day FROM range(5);
"""
POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
[tables.tests]
key = "test"
unit = { column = "person" }
rows_per_unit = 20
[tables.tests.columns]
test = {}
person = {}
x = { range = [0, 100] }
d = { range = [0, 200] }
f = { range = [0, 100] }
day = { range = [0, 6] }
big = { range = [0, 1e16] }
[tables.odd]
unit = { column = "person" }
rows_per_unit = 20
[tables.odd.columns]
test = {}
person = {}
x = { range = [0, 100] }
[tables.days]
public = true
key = "day"
"""
NARROWED = (
    "SELECT SUM(x) FROM tests WHERE x BETWEEN 10 AND 90",
    "SELECT day, SUM(x), COUNT(*) FROM tests WHERE x > 10 AND x < 90.5 GROUP BY day",
    "SELECT SUM(x) FROM tests WHERE x IN (5, 7, 90)",
    "SELECT day, SUM(x) FROM tests WHERE NOT (x < 10 OR x > 90) GROUP BY day",
    "SELECT SUM(x) FROM tests WHERE x = 40",
    "SELECT SUM(x) FROM tests WHERE x = 40 OR x BETWEEN 50 AND 60",
    "SELECT day, SUM(d) FROM tests WHERE d >= 0.06 - 0.01 AND d <= 150.25 GROUP BY day",
    "SELECT SUM(x * d) FROM tests WHERE x BETWEEN 1 AND 9 AND d BETWEEN 1 AND 2",
    "SELECT SUM(y) FROM (SELECT x + 1 AS y, d FROM tests WHERE x BETWEEN 3 AND 80) AS t WHERE d > 3",
    "SELECT day, SUM(x) FROM tests JOIN days USING (day) WHERE x > 0 AND x <= 100 GROUP BY day",
    "SELECT SUM(x) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY person ORDER BY test) AS i FROM tests "
    "WHERE x BETWEEN 0 AND 50) WHERE i < 9",
)
CLAMPED = (
    "SELECT SUM(x) FROM tests",
    "SELECT SUM(x) FROM tests WHERE x > 10",
    "SELECT SUM(x) FROM tests WHERE x >= 0",
    "SELECT SUM(x) FROM tests WHERE d BETWEEN 10 AND 90",
    "SELECT SUM(x) FROM tests WHERE x > day AND x < day + 90",
    "SELECT SUM(f) FROM tests WHERE f BETWEEN 1 AND 2",
    "SELECT SUM(d) FROM tests WHERE d BETWEEN 1e0 AND 15e1",  # DOUBLEs are compared
    "SELECT SUM(x) FROM tests WHERE x BETWEEN 10 AND 90 OR day = 3",
    "SELECT SUM(x) FROM tests WHERE x + 1 BETWEEN 10 AND 90",
    "SELECT SUM(big) FROM tests WHERE big BETWEEN 9007199254740980 AND 9007199254740992",
    "SELECT SUM(x) FROM tests WHERE x > 90 AND x < 10",  # no row
    "SELECT SUM(CASE WHEN x BETWEEN 10 AND 90 THEN x END) FROM tests",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "tests.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


def ends_of(db: dpsql.Connection, sql: str) -> list[Ends | None]:
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    [planned] = plan_of(db._open(), sql, 1.0).measures
    known = Extremes(engine._all)
    return [known.of_argument(each, planned.measure.relation) for each in planned.measure.statistics]


def differs(db: dpsql.Connection, sql: str) -> bool:
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    [planned] = plan_of(db._open(), sql, 1.0).measures
    width = len(planned.keys)

    def sums(statement: str) -> dict[str, tuple[object, ...]]:
        return {repr(row[:width]): row[width:] for row in engine._all(statement) if any(row[width:])}

    return sums(FastSums(engine._all, EVERYTHING).statement(planned)) != sums(measure_sql(planned))


def within(db: dpsql.Connection, sql: str) -> bool:
    """Whether no value is known to be beyond the range of its sum."""
    [planned] = plan_of(db._open(), sql, 1.0).measures
    pairs = zip(planned.measure.statistics, ends_of(db, sql), strict=True)
    return all(ends and each.low <= ends[0] and ends[1] <= each.high for each, ends in pairs if each.argument)


@pytest.mark.parametrize("sql", NARROWED)
def test_conditions_leave_nothing_to_clamp(db: dpsql.Connection, sql: str) -> None:
    assert within(db, sql)
    assert not differs(db, sql)


@pytest.mark.parametrize("sql", CLAMPED)
def test_what_conditions_do_not_say_is_clamped(db: dpsql.Connection, sql: str) -> None:
    assert not within(db, sql)
    assert not differs(db, sql)


def test_conditions_of_other_columns_are_found(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: any condition counts as one of the column."""

    def any_(relation: Relation, name: str) -> Iterator[tuple[str, Scalar]]:
        while isinstance(relation, Filter | Project):
            if isinstance(relation, Filter):
                for part in conjuncts(relation.condition):
                    yield next(iter(refs(part))), part
            relation = relation.input

    assert not differs(db, CLAMPED[3])
    monkeypatch.setattr(extremes, "conditions_met", any_)
    assert differs(db, CLAMPED[3])


def test_totals_are_those_of_all_rows(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a condition leaves no value below 0, so that totals of all rows are taken for bounds."""
    sql = "SELECT SUM(x) FROM odd WHERE x BETWEEN 1 AND 100"
    assert not differs(db, sql)
    ends = Extremes.ends

    def always(known: Extremes, scalar: Scalar, relation: Relation, narrowed: bool = True) -> Ends | None:
        return ends(known, scalar, relation, narrowed=True)

    monkeypatch.setattr(Extremes, "ends", always)
    assert differs(db, sql)

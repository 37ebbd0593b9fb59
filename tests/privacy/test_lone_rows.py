"""Rows that are alone in their unit's groups are summed as rows: the sums are those of groups.

Thirty homes with up to fifty hours each, nine of these off the list: some are far above the clip. Where an
order tells rows apart, windows have no other columns in it: rows in reverse have the same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import corrected_sql, measure_sql, relation_sql
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.special_units import EVERYTHING
from dpsql.facts import light_units, lone_rows, ownership
from dpsql.facts.light_units import most_rows
from dpsql.ir.plan import MeasurePlan, Shape

SCHEMA = """
CREATE TABLE homes AS SELECT CAST(range AS BIGINT) AS home, 'r' || range % 3 AS region FROM range(1, 31);
CREATE TABLE readings (
    home BIGINT, hour INTEGER NOT NULL, kwh DOUBLE, rate DOUBLE NOT NULL, UNIQUE (home, hour)
);
INSERT INTO readings
SELECT home, hour, CASE WHEN hour <> 3 THEN home * hour / 8 END, CASE WHEN hour % 2 = 0 THEN 0.0 ELSE 1 END
FROM range(1, 31) AS h(home), range(50) AS r(hour) WHERE hour <= 2 * home;
INSERT INTO readings VALUES
    (NULL, 1, 2, 0), (NULL, 1, 3, 0), (777, 1, 2, 0), (1, 50, 'nan', 0),
    (2, 50, 'infinity', 0), (3, 50, -1e9, 0);
CREATE TABLE calls (home BIGINT, day INTEGER, n INTEGER);
INSERT INTO calls
SELECT home, CASE WHEN i < 5 THEN i END, i FROM range(1, 31) AS h(home), range(12) AS r(i);
CREATE TABLE ticks (home BIGINT, seen TIMESTAMP_NS NOT NULL);
INSERT INTO ticks
SELECT home, make_timestamp_ns(1700000000000000000 + 500 * i) FROM range(1, 31) AS h(home), range(12) AS r(i);
CREATE TABLE meters AS SELECT range AS meter, 1 + range % 30 AS home FROM range(60);
CREATE TABLE reads (meter BIGINT NOT NULL, hour INTEGER NOT NULL, kwh DOUBLE, UNIQUE (meter, hour));
INSERT INTO reads SELECT meter, hour, 7 FROM range(60) AS m(meter), range(6) AS r(hour);
CREATE TABLE names (hour INTEGER, name VARCHAR);
INSERT INTO names SELECT range % 40, 'n' || range // 40 FROM range(80);
"""
POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "home"
table = "homes"
key = "home"
[tables.homes.columns]
home = {}
region = { values = ["r0", "r1", "r2"] }
[tables.readings]
unit = { column = "home" }
key = ["home", "hour"]
rows_per_unit = 12
[tables.readings.columns]
home = {}
hour = { range = [0, 40] }
kwh = { range = [0, 20] }
rate = {}
[tables.calls]
unit = { column = "home" }
key = ["home", "day"]
rows_per_unit = 5
[tables.calls.columns]
home = {}
day = {}
n = { range = [0, 10] }
[tables.ticks]
unit = { column = "home" }
key = ["home", "seen"]
rows_per_unit = 5
[tables.ticks.columns]
home = {}
seen = {}
[tables.meters]
unit = { column = "home" }
key = "meter"
rows_per_unit = 2
[tables.meters.columns]
meter = {}
home = {}
[tables.reads]
unit = { column = "meter", references = "meters.meter" }
key = ["meter", "hour"]
rows_per_unit = 8
[tables.reads.columns]
meter = {}
hour = {}
kwh = { range = [0, 20] }
[tables.names]
public = true
"""
PER_HOME = "(SELECT home, hour // 4 AS h, SUM(kwh) AS kwh, COUNT(*) AS n FROM readings GROUP BY home, h)"
ALONE = (
    "SELECT hour, COUNT(*) FROM readings GROUP BY hour",
    "SELECT hour, SUM(kwh), COUNT(*), COUNT(kwh) FROM readings GROUP BY hour",
    "SELECT OPTIONS(max_groups_contributed = 2) hour, SUM(kwh) FROM readings GROUP BY hour",
    "SELECT hour, COUNT(DISTINCT home), AVG(kwh), COUNT_IF(kwh > 3) FROM readings GROUP BY hour",
    "SELECT hour, rate, SUM(LEAST(kwh, 3)) FROM readings WHERE hour IN (1, 2, 3, 4) GROUP BY hour, rate",
    "SELECT hour, VAR_POP(kwh), CORR(kwh, hour) FROM readings GROUP BY hour",
    "SELECT region, hour, AVG(kwh) FROM readings JOIN homes USING (home) GROUP BY region, hour",
    f"SELECT h, AVG(kwh), SUM(n) FROM {PER_HOME} GROUP BY h",
    f"SELECT h, COUNT(*), COUNT(DISTINCT home) FROM {PER_HOME} WHERE h < 3 GROUP BY h",
    "SELECT day, COUNT(*), SUM(n) FROM calls WHERE day IS NOT NULL GROUP BY day",
)
GROUPED = (
    "SELECT day, COUNT(*), SUM(n) FROM calls GROUP BY day",  # UNIQUE lets NULL stand in many rows
    "SELECT seen, COUNT(*) FROM ticks GROUP BY seen",  # a group has all nanoseconds of a microsecond
    "SELECT hour, COUNT(*) FROM reads GROUP BY hour",  # a home has several meters
    "SELECT hour // 2 AS h, SUM(kwh) FROM readings GROUP BY h",
    "SELECT hour, rate, SUM(kwh) FROM readings GROUP BY ROLLUP (hour, rate)",
    "SELECT hour, COUNT(*) FROM readings JOIN names USING (hour) GROUP BY hour",  # two rows of one
    f"SELECT n, COUNT(*) FROM {PER_HOME} GROUP BY n",
)
OF_METERS = "(SELECT home, hour, meter FROM reads JOIN meters USING (meter))"
FEW = (
    "SELECT COUNT(*) FROM (SELECT * FROM {0} QUALIFY ROW_NUMBER() OVER (PARTITION BY home ORDER BY {1}) < 4)"
)
TOLD_APART = (
    "SELECT SUM(d) FROM (SELECT kwh - LAG(kwh) OVER (PARTITION BY home ORDER BY hour) AS d FROM readings)",
    "SELECT SUM(k) FROM (SELECT home, SUM(kwh) OVER (PARTITION BY home ORDER BY hour DESC "
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS k FROM readings)",
    FEW.format("readings", "rate, hour") + " WHERE kwh > 2",
    FEW.format(PER_HOME, "h DESC") + " WHERE kwh > 2",
    FEW.format("(SELECT * FROM calls WHERE day IS NOT NULL)", "day") + " WHERE n > 1",
)
TIED = (
    FEW.format("calls", "day NULLS FIRST") + " WHERE n > 6",  # UNIQUE lets NULL stand in many rows
    FEW.format("readings", "hour // 20") + " WHERE kwh > 2",
    FEW.format("readings", "rate") + " WHERE kwh > 2",
    FEW.format("readings JOIN names USING (hour)", "hour") + " WHERE name > 'n0'",  # two rows of one
    FEW.format(OF_METERS, "hour") + " WHERE meter < 30",  # a home has several meters
    "SELECT COUNT(*) FROM (SELECT seen, LAG(seen) OVER (PARTITION BY home ORDER BY seen) AS s, "
    "ROW_NUMBER() OVER (PARTITION BY home ORDER BY seen) AS i FROM ticks) WHERE seen > s AND i < 4",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    yield from made(tmp_path / "lone.duckdb", SCHEMA)


@pytest.fixture
def backwards(tmp_path: Path) -> Iterator[dpsql.Connection]:
    """The same rows in reverse."""
    tables = ("homes", "readings", "calls", "ticks", "meters", "reads", "names")
    turned = (f"CREATE TABLE t AS FROM {name} ORDER BY rowid DESC; DROP TABLE {name}" for name in tables)
    named = (f"{each}; ALTER TABLE t RENAME TO {name}" for each, name in zip(turned, tables, strict=True))
    yield from made(tmp_path / "backwards.duckdb", f"{SCHEMA}; {'; '.join(named)}")


def made(path: Path, schema: str) -> Iterator[dpsql.Connection]:
    with duckdb.connect(str(path)) as connection:
        connection.execute(schema)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


def measured(db: dpsql.Connection, sql: str) -> MeasurePlan:
    [planned] = plan_of(db._open(), sql, 1.0).measures
    return planned


def sums(engine: DuckDB, planned: MeasurePlan, sql: str) -> dict[str, tuple[object, ...]]:
    width = len(planned.keys)
    return {repr(row[:width]): row[width:] for row in engine._all(sql) if any(row[width:])}


def differs(db: dpsql.Connection, sql: str) -> bool:
    """Whether sums of rows, of all or of few that are special, are not those of groups."""
    planned, engine = measured(db, sql), db._open().engine
    assert isinstance(engine, DuckDB)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure_sql, "are_alone", lambda measure: False)
        grouped = sums(engine, planned, measure_sql.measure_sql(planned))
        norms = sorted(engine._all(measure_sql.norms_sql(planned)), key=repr)
    assert len(grouped) > 2
    if norms != sorted(engine._all(measure_sql.norms_sql(planned)), key=repr):
        return True
    texts = [measure_sql.measure_sql(planned, few) for few in (False, True)]
    texts += [
        FastSums(engine._all, replace(EVERYTHING, copied=copied)).statement(planned) for copied in (0, 1)
    ]
    return any(sums(engine, planned, text) != grouped for text in texts)


@pytest.mark.parametrize("sql", ALONE)
def test_rows_that_are_alone_are_summed_as_rows(db: dpsql.Connection, sql: str) -> None:
    planned = measured(db, sql)
    assert planned.shape is Shape.CELLS
    assert measure_sql.sums_are_rows(planned, DUCKDB)
    assert "GROUP BY u, k0" not in measure_sql.measure_sql(planned)
    assert not differs(db, sql)


@pytest.mark.parametrize("sql", GROUPED)
def test_others_are_not(db: dpsql.Connection, sql: str) -> None:
    assert not lone_rows.are_alone(measured(db, sql).measure)
    assert not differs(db, sql)


def test_more_of_their_units_are_light(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve rows are in twelve groups: their squares add up, not their sum's square."""
    planned = measured(db, ALONE[0])
    assert most_rows(planned) == 12
    monkeypatch.setattr(light_units, "are_alone", lambda measure: False)
    assert most_rows(planned) == 3


def moved_by_order(sql: str, *databases: dpsql.Connection) -> bool:
    """Whether sums depend on the order of the rows."""
    found = []
    for db in databases:
        planned, engine = measured(db, sql), db._open().engine
        assert isinstance(engine, DuckDB)
        found.append(sums(engine, planned, measure_sql.measure_sql(planned)))
    assert all(found)
    return found[0] != found[1]


@pytest.mark.parametrize("sql", [*TOLD_APART, *TIED])
def test_no_order_of_rows_moves_a_window(db: dpsql.Connection, backwards: dpsql.Connection, sql: str) -> None:
    planned = measured(db, sql)
    text = measure_sql.measure_sql(planned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relation_sql, "tell_apart", lambda scalars, relation: False)
        assert (measure_sql.measure_sql(planned) == text) == (sql in TIED)
    assert not moved_by_order(sql, db, backwards)


def keys_that_may_be_null(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lone_rows, "telling", lambda owned, facts: owned.row_keys)


def keys_that_are_merged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lone_rows, "_is_exact", lambda of_key: True)


def rows_of_one_link(patch: pytest.MonkeyPatch) -> None:
    """As if each unit had one link."""
    patch.setattr(lone_rows, "telling", lambda owned, facts: [key - {"meter"} for key in owned.row_keys])


def rows_that_met_two(patch: pytest.MonkeyPatch) -> None:
    times = ownership._multiply_rows
    patch.setattr(
        ownership,
        "_multiply_rows",
        lambda owned, fan: replace(times(owned, fan), row_keys=owned.row_keys),
    )


def never_tied(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(relation_sql, "tell_apart", lambda scalars, relation: True)


def one_row_too_many(patch: pytest.MonkeyPatch) -> None:
    rows = light_units.most_rows
    patch.setattr("dpsql.engines.special_units.most_rows", lambda planned: rows(planned) + 1)


def lists_after_norms(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(corrected_sql, "inside", lambda *given: [])


def clipped_before_they_are_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lone_rows, "are_alone", lambda measure: True)
    patch.setattr(measure_sql, "are_alone", lambda measure: True)


@pytest.mark.parametrize(
    "plant",
    [
        *(keys_that_may_be_null, keys_that_are_merged, rows_of_one_link, rows_that_met_two),
        *(one_row_too_many, lists_after_norms, clipped_before_they_are_alone),
    ],
)
def test_planted_errors_are_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert any(differs(db, sql) for sql in (*ALONE, *GROUPED))


@pytest.mark.parametrize(
    "plant", [keys_that_may_be_null, keys_that_are_merged, rows_of_one_link, rows_that_met_two, never_tied]
)
def test_ties_are_found(
    db: dpsql.Connection,
    backwards: dpsql.Connection,
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[pytest.MonkeyPatch], None],
) -> None:
    plant(monkeypatch)
    assert any(moved_by_order(sql, db, backwards) for sql in TIED)

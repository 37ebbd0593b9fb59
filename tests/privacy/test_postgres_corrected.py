"""What is found once on PostgreSQL: where it is kept, and what happens where it cannot be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import psycopg
import pytest
from postgres_servers import Server, needs_postgres, running_server, track

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import Engine, special_units, special_units_sql
from dpsql.engines.postgres.engine import PostgresEngine
from dpsql.engines.special_units import Limits
from dpsql.engines.unit_totals import UnitTotals
from dpsql.facts.light_units import row_conditions
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import scans
from dpsql.session import Session

pytestmark = needs_postgres

EVERYTHING = replace(special_units.EVERYTHING, copied=0, long=0)

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
accountant = "zcdp"
[unit]
name = "person"
table = "people"
key = "id"
[tables.people]
[tables.visits]
unit = { column = "id", references = "people.id" }
rows_per_unit = 3
[tables.visits.columns]
kind = { values = ["a", "b", "c"] }
cost = { range = [0, 500] }
day = {}
[tables.cheap]
unit = { column = "id", references = "people.id" }
rows_per_unit = 3
[tables.cheap.columns]
cost = { range = [0, 500] }
[tables.tiny]
unit = { column = "id", references = "people.id" }
rows_per_unit = 3
[tables.tiny.columns]
cost = { range = [0, 1e40] }
spent = {}
[tables.dear]
unit = { column = "id", references = "people.id" }
rows_per_unit = 3
[tables.dear.columns]
cost = { range = [0, 500] }
"""

TABLES = """
CREATE TABLE people (id BIGINT PRIMARY KEY);
CREATE TABLE visits (id BIGINT, kind VARCHAR, cost DECIMAL(10, 2) NOT NULL, day DATE);
INSERT INTO people SELECT * FROM generate_series(1, 300);
INSERT INTO visits SELECT n % 310, substr('abc', 1 + CAST(n % 3 AS INTEGER), 1), n % 400,
    CAST('2024-01-01' AS DATE) + CAST(n % 90 AS INTEGER) FROM generate_series(1, 900) AS t(n);
INSERT INTO visits SELECT 7, 'a', 499.99, CAST('2024-02-03' AS DATE) FROM generate_series(1, 60);
INSERT INTO visits VALUES (NULL, 'a', 77, NULL), (9, 'b', 5, CAST('infinity' AS DATE)),
    (10, 'b', 6, CAST('-infinity' AS DATE));
CREATE TABLE cheap (id BIGINT, cost DECIMAL(10, 2) NOT NULL);
INSERT INTO cheap SELECT 1 + n % 300, n % 90 FROM generate_series(1, 1500) AS t(n);
CREATE TABLE dear (id BIGINT, cost DECIMAL(10, 2) NOT NULL);
INSERT INTO dear SELECT 1 + n % 300, 301 FROM generate_series(1, 1500) AS t(n);
CREATE TABLE tiny (id BIGINT, cost DOUBLE PRECISION NOT NULL, spent DOUBLE PRECISION);
INSERT INTO tiny SELECT 1 + n % 300, 1e-300, CASE WHEN n % 300 > 0 THEN n END
    FROM generate_series(1, 1500) AS t(n);
"""

QUERIES = (
    "SELECT kind, COUNT(*), AVG(cost) FROM visits GROUP BY kind",
    "SELECT SUM(cost) FROM visits WHERE day < DATE '2024-01-31' + INTERVAL '1' MONTH",
    "SELECT SUM(cost) FROM visits WHERE NOT (day < DATE '2024-01-31' + INTERVAL '1' MONTH)",
    "SELECT SUM(cost) FROM visits WHERE day = DATE '2024-01-31' + INTERVAL '1' DAY OR kind = 'c'",
    "SELECT kind, COUNT(DISTINCT id), SUM(cost * 2) FROM visits GROUP BY kind",
)


@dataclass(frozen=True)
class Clinic:
    server: Server
    owner: psycopg.Connection[Any]
    planner: Session

    def engine(self, limits: Limits | None = EVERYTHING) -> PostgresEngine:
        return PostgresEngine(self.server.url("clinic"), limits=limits)

    def measures(self) -> list[MeasurePlan]:
        return [each for sql in QUERIES for each in plan_of(self.planner, sql, 1.0).stages[0].measures]

    def kept(self) -> list[str]:
        """Return the temporary tables of all sessions."""
        rows = self.owner.execute("SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'")
        return [str(name) for (name,) in rows.fetchall()]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    folder = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(TABLES)
    (folder / "clinic.toml").write_text(POLICY)
    with (
        running_server() as server,
        server.database("clinic") as owner,
        dpsql.connect(folder / "clinic.duckdb") as here,
    ):
        owner.execute(TABLES.encode())
        track(owner, "people", "visits", "cheap", "dear", "tiny")
        yield Clinic(server, owner, here._open())


def sums(engine: Engine, measures: list[MeasurePlan]) -> list[dict[str, tuple[int, ...]]]:
    tables = (engine.measure(each) for each in measures)
    return [
        {repr(group): tuple(row) for group, row in zip(each.groups, each.sums.tolist(), strict=True)}
        for each in tables
    ]


@pytest.fixture(scope="module")
def known(clinic: Clinic) -> list[dict[str, tuple[int, ...]]]:
    """DuckDB's sums, which are those of PostgreSQL with a clip for every unit."""
    ours = sums(clinic.planner.engine, clinic.measures())
    with closing(clinic.engine(None)) as engine:
        assert sums(engine, clinic.measures()) == ours
    return ours


def statements(engine: PostgresEngine, measures: list[MeasurePlan]) -> list[str]:
    return [engine._fast_sums().statement(each) for each in measures]


def test_what_is_found_is_kept_until_the_session_ends(
    clinic: Clinic, known: list[dict[str, tuple[int, ...]]]
) -> None:
    measures = clinic.measures()
    with closing(clinic.engine()) as engine:
        assert sums(engine, measures) == known
        kept = clinic.kept()
        assert kept
        assert sums(engine, measures) == known
        assert clinic.kept() == kept
        assert all("pg_temp" in each for each in statements(engine, measures))
    wait_for(lambda: clinic.kept() == [])


@pytest.mark.parametrize("table", ["cheap", "dear"])
def test_totals_show_that_nobody_is_clipped(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Five rows of a person, of three in the clip: up to 450 together, or 1,505 of 1,500."""
    plan = plan_of(clinic.planner, f"SELECT SUM(cost) FROM {table} WHERE cost >= 0", 1.0)
    (measure,) = plan.stages[0].measures
    expected = sums(clinic.planner.engine, [measure])
    with closing(clinic.engine()) as engine:
        assert sums(engine, [measure]) == expected
        assert ("found" in statements(engine, [measure])[0]) == (table == "dear")
    most = UnitTotals._most
    monkeypatch.setattr(UnitTotals, "_most", lambda *given: f"({most(*given)}) * 0.99")
    with closing(clinic.engine()) as engine:  # planted: totals that are a little too small
        assert (sums(engine, [measure]) == expected) == (table == "cheap")


def test_rows_that_a_condition_leaves_out_are_not_counted(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Person 7 has 63 rows, most of kind a. Planted: they are counted under another query's condition."""
    kinds = (f"SELECT COUNT(*) FROM visits WHERE kind = '{kind}'" for kind in "ab")
    measures = [plan_of(clinic.planner, each, 1.0).stages[0].measures[0] for each in kinds]
    expected, limits = sums(clinic.planner.engine, measures), replace(EVERYTHING, few=0)
    with closing(clinic.engine(limits)) as engine:
        assert sums(engine, measures) == expected
    relation = measures[1].measure.relation
    (scan,) = scans(relation)
    others = row_conditions(relation, scan)
    assert others
    monkeypatch.setattr(special_units_sql, "row_conditions", lambda *given: others)
    with closing(clinic.engine(limits)) as engine:
        assert sums(engine, measures[:1]) != expected[:1]


def test_totals_near_zero_fail_nowhere(clinic: Clinic) -> None:
    """A product of DOUBLEs that vanishes is an error on PostgreSQL."""
    sums_of = ("SUM(cost)", "SUM(cost * cost)", "AVG(cost)")
    asked = [f"SELECT {each} FROM tiny WHERE cost < 1" for each in sums_of]
    asked.append("SELECT AVG(spent) FROM tiny WHERE spent BETWEEN 0 AND 1e290")
    plans = (plan_of(clinic.planner, each, 1.0) for each in asked)
    measures = [each for plan in plans for each in plan.stages[0].measures]
    with closing(clinic.engine()) as engine:
        assert sums(engine, measures) == sums(clinic.planner.engine, measures)


def test_without_the_right_to_keep_it_stands_in_each_statement(
    clinic: Clinic, known: list[dict[str, tuple[int, ...]]]
) -> None:
    clinic.owner.execute("REVOKE TEMPORARY ON DATABASE clinic FROM PUBLIC")
    try:
        with closing(clinic.engine()) as engine:
            measures = clinic.measures()
            assert sums(engine, measures) == known
            assert clinic.kept() == []
            for each in statements(engine, measures):
                assert "pg_temp" not in each
                assert "UNION ALL" in each
    finally:
        clinic.owner.execute("GRANT TEMPORARY ON DATABASE clinic TO PUBLIC")


def test_a_lost_connection_takes_it_along(clinic: Clinic, known: list[dict[str, tuple[int, ...]]]) -> None:
    measures = clinic.measures()
    with closing(clinic.engine()) as engine:
        assert sums(engine, measures) == known
        clinic.owner.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'"
        )
        wait_for(lambda: clinic.kept() == [])
        with pytest.raises(dpsql.OperationalError) as lost:
            engine.measure(measures[0])
        assert lost.value.code == "D601"
        assert sums(engine, measures) == known
        assert clinic.kept() != []


def test_nothing_is_found_in_rows_that_came_later(clinic: Clinic) -> None:
    measures = clinic.measures()
    with closing(clinic.engine()) as engine:
        clinic.owner.execute("INSERT INTO visits VALUES (8, 'b', 1, NULL)")
        with pytest.raises(dpsql.OperationalError) as changed:
            engine.measure(measures[0])
        assert changed.value.code == "D602"
    clinic.owner.execute("DELETE FROM visits WHERE id = 8 AND cost = 1")


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(100):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within ten seconds")

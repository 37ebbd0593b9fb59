"""Rows that several statements read are computed once: each statement has what it has by itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from claims import relations
from numpy.typing import NDArray
from test_light_units import db, everything, planned_measures

import dpsql
from dpsql.engines.exact_tables import measured
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.held_rows import held
from dpsql.engines.relation_sql import Reading, relation_sql
from dpsql.engines.special_units import EVERYTHING
from dpsql.engines.temporary_tables import InOwnInstance
from dpsql.errors import interrupted, refuse
from dpsql.fuzz.judges import weights_shown
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Relation, Scan

__all__ = ["db"]

GAPS = (
    "(SELECT *, day - LAG(day) OVER (PARTITION BY person ORDER BY day, visit) AS gap "
    "FROM visits WHERE visit > 0)"
)
PER_PERSON = "(SELECT person, ward, SUM(cost) AS cost, COUNT(*) AS n FROM visits GROUP BY person, ward)"
HELD = (
    f"SELECT AVG(gap), MEDIAN(gap) FROM {GAPS}",
    f"SELECT COUNT(*), MEDIAN(gap), MODE(ward) FROM {GAPS} WHERE stars > 2",
    f"SELECT ward, COUNT(*), MEDIAN(gap), MIN(stars) FROM {GAPS} GROUP BY ward",
    f"SELECT place, COUNT(*), MEDIAN(gap) FROM {GAPS} GROUP BY place",
    f"SELECT ward, AVG(cost), QUANTILE(cost, 0.9) FROM {PER_PERSON} GROUP BY ward",
    f"SELECT SUM(n), MEDIAN(n) FROM {PER_PERSON} WHERE cost < 900",
    f"SELECT MEDIAN(cost), MEDIAN(n) FROM {PER_PERSON}",
    f"SELECT SUM(v.stars), MEDIAN(p.n) FROM visits v JOIN {PER_PERSON} p USING (person, ward)",
    f"SELECT COUNT(*), MEDIAN(x) FROM (SELECT n AS x FROM {PER_PERSON} UNION ALL SELECT gap FROM {GAPS})",
)
APART = (
    "SELECT AVG(stars), MEDIAN(stars) FROM visits",  # a table is read as fast
    f"SELECT AVG(cost), SUM(n) FROM {PER_PERSON}",  # one statement
)


Said = list[str]


def read(db: dpsql.Connection, planned: MeasurePlan, once: bool) -> tuple[list[object], Said]:
    """Return sums and weights, and the statements for them."""
    engine, _ = everything(db)
    said = list[str]()

    def run(sql: str) -> list[tuple[object, ...]]:
        said.append(sql)
        return engine._all(sql)

    def arrays(sql: str) -> dict[str, NDArray[Any]]:
        said.append(sql)
        return engine._arrays(sql)

    sums = FastSums(run, replace(EVERYTHING, few=1))
    with sums.held(planned) if once else nullcontext():
        table = measured(planned, run, arrays, sums.statement, special_of=sums.special)
    found = sorted(zip(map(repr, table.groups), table.sums.tolist(), strict=True))
    return [*found, *map(weights_shown, table.details)], said


def differ(db: dpsql.Connection) -> bool:
    return any(read(db, each, True)[0] != read(db, each, False)[0] for each in planned_measures(db, HELD))


@pytest.mark.parametrize("sql", [*HELD, *APART])
def test_the_numbers_are_those_of_each_statement_by_itself(db: dpsql.Connection, sql: str) -> None:
    for planned in planned_measures(db, [sql]):
        (once, said), (twice, _) = read(db, planned, True), read(db, planned, False)
        assert once == twice
        assert once
        dropped = [each.rpartition(" ")[2] for each in said if each.startswith("DROP TABLE")]
        assert len(dropped) == (sql in HELD)
        for name in dropped:
            assert sum(f'"special {name}' in each for each in said) > 3  # made, read twice, dropped


def counted(relation: Relation) -> str:
    return f"SELECT count(*) FROM ({relation_sql(relation)})"


@pytest.mark.parametrize("fails", ["CREATE TEMP TABLE", "SELECT", "DROP"])
def test_no_table_is_left(db: dpsql.Connection, fails: str) -> None:
    """Where a statement is interrupted, too: what could not be dropped is dropped before the next one."""
    [planned] = planned_measures(db, HELD[:1])
    relation, (engine, _) = planned.measure.relation, everything(db)
    computed = engine._all(counted(relation))
    stopping = [True]

    def kept() -> int:
        return len(engine._all("FROM duckdb_tables() WHERE temporary"))

    before = kept()

    def run(sql: str) -> list[tuple[object, ...]]:
        rows = engine._all(sql)
        if stopping and sql.startswith(fails):
            raise interrupted()
        return rows

    tables = InOwnInstance(run)
    with pytest.raises(dpsql.Error), held(relation, [], tables):
        run(counted(relation))
    stopping.clear()
    with held(relation, [], tables) as holds:
        assert holds
        assert kept() == before + 1
        assert "OVER" not in counted(relation)
        assert run(counted(relation)) == computed
    assert kept() == before


def test_where_there_is_no_room_nothing_is_held(db: dpsql.Connection) -> None:
    [planned] = planned_measures(db, HELD[:1])

    def run(sql: str) -> list[tuple[object, ...]]:
        raise refuse("D604", "the query needs more memory than the owner's limits allow", help="ask for less")

    with held(planned.measure.relation, [], InOwnInstance(run)) as holds:
        assert not holds
        assert "OVER" in counted(planned.measure.relation)


def test_no_constant_of_a_query_is_rewritten(db: dpsql.Connection) -> None:
    """An analyst knows how relations are printed: a text of the query that holds one stays what it is."""
    counted = "COUNT(*) FILTER (WHERE 'FROM ({})' LIKE '%special%' AND stars > 0)"
    [planned] = planned_measures(db, [HELD[0].replace("AVG(gap)", counted)])
    rows = relation_sql(planned.measure.relation)
    assert "'" not in rows
    [planned] = planned_measures(db, [HELD[0].replace("AVG(gap)", counted.format(rows))])
    (once, said), (twice, apart) = read(db, planned, True), read(db, planned, False)
    assert any(each.startswith("DROP") for each in said)
    assert f"FROM ({rows})" in apart[-1]  # the same text as in the constant
    assert sum(f"'FROM ({rows})'" in each for each in said) == 1
    assert once == twice


def test_rows_that_are_read_in_part_are_computed(db: dpsql.Connection) -> None:
    """And whatever another thread prints."""
    relation = next(planned_measures(db, HELD[:1])).measure.relation
    engine, _ = everything(db)
    [scan] = (each for each in relations(relation) if isinstance(each, Scan))
    parts = [Reading(only=scan, keys="SELECT 1"), Reading(several={scan: "SELECT 1"})]
    with held(relation, [], InOwnInstance(engine._all)) as holds, ThreadPoolExecutor() as threads:
        assert holds
        assert all("OVER" in relation_sql(relation, part) for part in parts)
        assert "OVER" in threads.submit(relation_sql, relation).result()
        assert "OVER" not in relation_sql(relation)


def some_rows_alone(patch: pytest.MonkeyPatch) -> None:
    keep = InOwnInstance.kept
    patch.setattr(InOwnInstance, "kept", lambda self, rows, by="": keep(self, f"{rows} LIMIT 100", by))


def equal_rows_once(patch: pytest.MonkeyPatch) -> None:
    keep = InOwnInstance.kept
    patch.setattr(
        InOwnInstance, "kept", lambda self, rows, by="": keep(self, f"SELECT DISTINCT * FROM ({rows})", by)
    )


@pytest.mark.parametrize("plant", [some_rows_alone, equal_rows_once])
def test_planted_errors_are_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert differ(db)


@pytest.mark.parametrize("refused", ["special", "interrupted"])
def test_where_there_is_no_room_for_the_special_units_each_is_summed(
    db: dpsql.Connection, refused: str
) -> None:
    """An interruption is raised: it is no want of room."""
    [planned] = planned_measures(db, ["SELECT ward, SUM(cost) FROM visits GROUP BY ward"])
    engine, _ = everything(db)

    def run(sql: str) -> list[tuple[object, ...]]:
        if sql.startswith("CREATE TEMP TABLE"):
            raise interrupted() if refused == "interrupted" else refuse("D601", "the engine failed", help="-")
        return engine._all(sql)

    sums = FastSums(run, replace(EVERYTHING, few=0))
    if refused == "interrupted":
        with pytest.raises(dpsql.Error, match="interrupted"):
            sums.statement(planned)
    else:
        roomy = FastSums(engine._all, replace(EVERYTHING, few=0)).statement(planned)
        assert sums.statement(planned) != roomy
        assert sorted(run(sums.statement(planned)), key=repr) == sorted(engine._all(roomy), key=repr)

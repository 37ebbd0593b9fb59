"""The language over files: a world as parquet and as csv files measures what it measures as a database."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest
from cases import HERE, Case, all_cases, script
from folders import exported, typed_policy

import dpsql
from dpsql import audit
from dpsql.audit import plan_of
from dpsql.audit.neighbours import without
from dpsql.audit.oracles import ready_measures, sensitivity
from dpsql.engines.folder import Folder

CASES = [case for case in all_cases() if case.outcome == "accepted" and case.policy.name == "world.toml"]
CHOSEN = [
    case
    for case in CASES
    if zlib.crc32(case.id.encode()) % 15 == 0
    if "blood" not in case.sql  # files know no enums
    if case.file.name != "copies.sql"  # a hundred million rows, unless statistics tell how to avoid them
]
REMOVED = (1, 5, 10, -7)
"""Patients: a plain one, one with costs at the bounds, one who breaks engines, a negative number."""


@dataclass(frozen=True)
class World:
    database: dpsql.Connection
    folder: dpsql.Connection
    engine: Folder
    neighbours: list[tuple[str, Folder]]


@pytest.fixture(scope="module", params=["parquet", "csv"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    path, ending = tmp_path_factory.mktemp("folders") / "world.duckdb", request.param
    with duckdb.connect(str(path)) as connection:
        connection.execute(script("world").replace(" NOT NULL", ""))  # which files do not say
    text = (HERE / "world.toml").read_text(encoding="utf-8")
    with dpsql.connect(path, HERE / "world.toml") as opened:
        known = opened._open().known
    policy = path.with_name("folder.toml")
    policy.write_text(typed_policy(text, path) if ending == "csv" else text, encoding="utf-8")
    exported(path, path.with_name("data"), ending)
    for unit in REMOVED:
        copy = path.with_name(f"without{unit}.duckdb")
        without(path, copy, known, unit)
        exported(copy, path.with_name(f"without{unit}"), ending)
    database, folder = dpsql.connect(path, HERE / "world.toml"), dpsql.connect(path.with_name("data"), policy)
    rules = folder._open().policy
    engine = Folder(path.with_name("data"), rules)
    neighbours = [(str(unit), Folder(path.with_name(f"without{unit}"), rules)) for unit in REMOVED]
    yield World(database, folder, engine, neighbours)
    database.close()
    folder.close()
    for each in (engine, *(other for _, other in neighbours)):
        each.close()


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.id)
def test_files_measure_what_the_database_measures(world: World, case: Case) -> None:
    found = []
    for db in (world.database, world.folder):
        runs = audit.measure(db, case.sql, case.cost, b"files")
        found.append(
            [
                (
                    each.keys,
                    each.statistics,
                    {repr(k): v for k, v in each.rows.items() if any(v)},
                    each.noises,
                )
                for each in runs
            ]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("case", CHOSEN[::4], ids=lambda case: case.id)
def test_removing_a_unit_from_files(world: World, case: Case) -> None:
    """No sum moves by more than declared when the lines, or the rows, of one unit are gone."""
    session = world.folder._open()
    plan = plan_of(session, case.sql, case.cost)
    assert sensitivity(plan, world.engine, world.neighbours, session.sealed) == []


SAID = {"Function", "Projections", "Estimated Cardinality", "Total Files Read", "Filename(s)"}
"""What a plan may say of the scan of a file: which columns of which files, and no condition."""


@pytest.mark.parametrize("world", ["parquet"], indirect=True)
@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.id)
def test_no_condition_reaches_the_reader_of_a_file(world: World, case: Case) -> None:
    """It would skip rows by statistics of everybody beside them. A join's condition appears as it runs."""
    session, engine = world.folder._open(), world.engine
    for measure in ready_measures(plan_of(session, case.sql, case.cost), engine, session.sealed):
        for sql in engine.measure_sql(measure).split(";\n"):
            [(_, plan)] = engine._all(f"EXPLAIN (ANALYZE, FORMAT json) {sql}")
            for scan in _scans(json.loads(str(plan))["operator"]):
                assert set(scan) <= SAID, scan


def _scans(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        if node["extra_info"].get("Function") == "READ_PARQUET":
            yield node["extra_info"]
        yield from _scans(node.get("children", []))

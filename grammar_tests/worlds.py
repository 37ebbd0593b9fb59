"""The worlds that fixtures are judged in: databases built once for all workers, opened by each.

Removing a unit gives a neighbour. The units of the adversarial world are of three families:

    busy       has more than a hundred rows in one table: what clips are for
    patient    has a row in ``patients``, and few rows elsewhere
    stranger   has rows, but none in ``patients``

Where a policy names other units, members of clubs, these are removed: a family of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import duckdb
import pytest
from cases import HERE, WORLDS, Case, script
from shared import shared
from tiers import most_neighbours, quick

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import shuffled, units_of, without
from dpsql.engines.duckdb import SIMPLIFYING, DuckDB
from dpsql.engines.exact_tables import measured
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.special_units import EVERYTHING
from dpsql.fuzz.copies import Copy, Neighbour, neighbour, rows_of
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ExactTable
from dpsql.session import Session

POLICIES = ("world.toml", "pure.toml", "finds.toml", "filled.toml", "by_column.toml", "two_columns.toml")

FINDS = "finds.toml"
"""A policy whose ledgers hold what was found: the answers and refusals that follow depend on it."""

MEMBERS = "two_columns.toml"
"""A policy of other units."""

APPROX = "approx.toml"
"""world.toml under the other accountant that has a delta."""

ALERT = "CREATE PRIVATE ALERT crowd WITH (epsilon = 0.1, above = 100, times = 20, lower = 0)"
HOLDOUT = "CREATE PRIVATE HOLDOUT again WITH (epsilon = 0.5, times = 40, upper = 100)"
"""What refused questions ask."""

BUSY = """
SELECT DISTINCT patient_id FROM (
    SELECT patient_id, 'visits' AS place FROM visits
    UNION ALL SELECT patient_id, 'orders' FROM sales.orders
    UNION ALL SELECT patient_id, 'refunds' FROM sales.refunds
) GROUP BY patient_id, place HAVING COUNT(*) > 100
"""

_plan_of = lru_cache(maxsize=8)(plan_of)  # the tests of a case follow one another


@dataclass(frozen=True)
class Worlds:
    """A connection per world and policy, and engines on the adversarial world's neighbours.

    A quick run has no shuffled copies. Each case meets ``most`` neighbours of each family. ``fast`` are ways
    to the sums of the whole that tables of many rows take.
    """

    connections: dict[tuple[str, str], dpsql.Connection]
    plain: duckdb.DuckDBPyConnection
    whole: DuckDB
    families: dict[str, list[Neighbour]]
    shuffles: list[DuckDB]
    fast: list[FastSums]
    quick: bool
    most: int

    def session(self, world: str, case: Case) -> Session:
        """Give the owner's session of a case's policy in a world."""
        return self.connections[world, case.policy.name]._open()

    def plan(self, world: str, case: Case) -> Plan:
        """Plan a case, once for all its tests: no private row decides a plan, unless it finds bounds."""
        finds = case.policy.name == FINDS
        return _plan_of(self.session(world if finds else "world", case), case.sql, case.cost)

    def measured_fast(self, planned: MeasurePlan, case: Case) -> ExactTable:
        """Measure the whole in the way of larger tables that the case's hash chooses."""
        way, engine = self.fast[zlib.crc32(case.id.encode()) % len(self.fast)], self.whole
        with way.held(planned):
            return measured(planned, engine._all, engine._arrays, way.statement, special_of=way.special)

    def neighbours(self, case: Case) -> list[Neighbour]:
        """Give neighbours of each family, evenly spread from a place that the case's hash chooses."""
        at = zlib.crc32(case.id.encode())
        return [each for family in self._of(case) for each in _spread(family, at, self.most)]

    def all_neighbours(self, case: Case) -> list[Neighbour]:
        return [each for family in self._of(case) for each in family]

    def _of(self, case: Case) -> list[list[Neighbour]]:
        """The families of the units that a case's policy names."""
        members = case.policy.name == MEMBERS
        return [family for name, family in self.families.items() if (name == "member") is members]


def _spread(family: list[Neighbour], at: int, most: int) -> list[Neighbour]:
    number = min(most, len(family))
    return [family[(at + place * len(family) // number) % len(family)] for place in range(number)]


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Worlds]:
    folder, own = shared(tmp_path_factory, "worlds", build), tmp_path_factory.mktemp("ledgers")
    fast = quick(pytestconfig)
    approx = own / APPROX
    approx.write_text((HERE / "world.toml").read_text().replace('"zcdp"', '"approx"'))
    policies = [(world, HERE / name) for world in WORLDS for name in POLICIES] + [("world", approx)]
    connections = {
        (world, policy.name): dpsql.connect(
            folder / f"{world}.duckdb", policy, own / f"{world}-{policy.name}.ledger"
        )
        for world, policy in policies
    }
    for world in WORLDS:
        connections[world, "world.toml"].execute(ALERT)
        connections[world, "world.toml"].execute(HOLDOUT)
    plain = duckdb.connect(":memory:")
    plain.execute("SET TimeZone = 'UTC'")  # that of a policy which names none
    plain.execute(f"SET disabled_optimizers = '{SIMPLIFYING}'")  # which fails on some outer joins
    plain.execute(script("calm"))
    whole = Copy(folder / "world.duckdb")
    rows = rows_of(whole)
    families = {
        family: [
            neighbour(path.stem, Copy(path, threads=1), rows) for path in sorted((folder / family).iterdir())
        ]
        for family in ("busy", "patient", "stranger", "member")
    }
    shuffles = (
        [] if fast else [Copy(folder / f"shuffled-{threads}.duckdb", threads=threads) for threads in (1, 2)]
    )
    ways = [FastSums(whole._all, replace(EVERYTHING, copied=part, long=part)) for part in (0, 1)]
    ways.append(FastSums(whole._all, few=0))
    yield Worlds(connections, plain, whole, families, shuffles, ways, fast, most_neighbours(pytestconfig))
    for connection in connections.values():
        connection.close()
    plain.close()
    for engine in (whole, *shuffles, *(each.engine for family in families.values() for each in family)):
        engine.close()


def build(folder: Path) -> None:
    """Write the worlds, and of the adversarial one every neighbour, by family, and two shuffled copies."""
    for name in WORLDS:
        with duckdb.connect(str(folder / f"{name}.duckdb")) as connection:
            connection.execute(script(name))
    world = folder / "world.duckdb"
    with dpsql.connect(world, HERE / "world.toml", folder / "first.ledger") as first:
        known = first._open().known
    with duckdb.connect(str(world), read_only=True) as connection:
        patients = {unit for (unit,) in connection.execute("SELECT patient_id FROM patients").fetchall()}
        busy = {unit for (unit,) in connection.execute(BUSY).fetchall()}
    for unit in units_of(world, known):
        family = "busy" if unit in busy else "patient" if unit in patients else "stranger"
        (folder / family).mkdir(exist_ok=True)
        without(world, folder / family / f"{unit}.duckdb", known, unit)
    with dpsql.connect(world, HERE / MEMBERS, folder / "members.ledger") as second:
        known = second._open().known
    (folder / "member").mkdir()
    for place, unit in enumerate(units_of(world, known)):
        without(world, folder / "member" / f"{place}.duckdb", known, unit)
    for salt in (1, 2):
        shuffled(world, folder / f"shuffled-{salt}.duckdb", known, salt - 1)

"""The worlds that fixtures are judged in, each built once per test process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from cases import HERE, script

import dpsql
from dpsql.audit.neighbours import shuffled, units_of, without
from dpsql.engines.duckdb import DuckDB

POLICIES = ("world.toml", "pure.toml", "finds.toml")

APPROX = "approx.toml"
"""world.toml under the other accountant that has a delta."""


@dataclass(frozen=True)
class Worlds:
    """A connection per world and policy, and engines on the adversarial world's neighbours."""

    connections: dict[tuple[str, str], dpsql.Connection]
    plain: duckdb.DuckDBPyConnection
    whole: DuckDB
    neighbours: list[tuple[str, DuckDB]]
    shuffles: list[DuckDB]


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    folder = tmp_path_factory.mktemp("worlds")
    paths = {name: folder / f"{name}.duckdb" for name in ("world", "calm", "empty")}
    for name, path in paths.items():
        with duckdb.connect(str(path)) as connection:
            connection.execute(script(name))
    connections = {
        (name, policy): dpsql.connect(path, HERE / policy, folder / f"{name}-{policy}.ledger")
        for name, path in paths.items()
        for policy in POLICIES
    }
    known = connections["world", "world.toml"]._open().known
    world = paths["world"]
    for policy in POLICIES:
        connections["world", policy].close()
    copies: dict[str, Path] = {}
    for unit in units_of(world, known):
        copies[str(unit)] = folder / f"without-{unit}.duckdb"
        without(world, copies[str(unit)], known, unit)
    mixed = [folder / f"shuffled-{salt}.duckdb" for salt in (1, 2)]
    for salt, path in enumerate(mixed):
        shuffled(world, path, known, salt)
    for policy in POLICIES:
        connections["world", policy] = dpsql.connect(world, HERE / policy, folder / f"world-{policy}.ledger")
    other = folder / APPROX
    other.write_text((HERE / "world.toml").read_text().replace('"zcdp"', '"approx"'))
    connections["world", APPROX] = dpsql.connect(world, other, folder / "world-approx.ledger")
    plain = duckdb.connect(":memory:")
    plain.execute(script("calm"))
    whole = DuckDB(world)
    neighbours = [(name, DuckDB(path)) for name, path in copies.items()]
    shuffles = [DuckDB(path, threads=threads) for path, threads in zip(mixed, (1, 2), strict=True)]
    yield Worlds(connections, plain, whole, neighbours, shuffles)
    for connection in connections.values():
        connection.close()
    plain.close()
    for engine in (whole, *shuffles, *(each for _, each in neighbours)):
        engine.close()

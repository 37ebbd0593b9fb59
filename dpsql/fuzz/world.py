"""A small made-up database under its policy, with its neighbours: the same without one unit.

    world.duckdb  policy.toml             the whole
    0-without-17.duckdb ...               neighbours
    neighbour.duckdb                      the first of them once more, under the policy
    shuffled.duckdb                       the rows of the whole in another order

The files are written once and only read afterwards. Ledgers are temporary, and no owner's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from dpsql.audit.neighbours import shuffled, without
from dpsql.dbapi import Connection, connect
from dpsql.driver import duckdb
from dpsql.engines.duckdb import SIMPLIFYING, STATISTICS, DuckDB, lock_down
from dpsql.engines.exact_tables import measured
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.identifiers import text
from dpsql.engines.special_units import EVERYTHING
from dpsql.engines.statistics_engine import StatisticsEngine
from dpsql.facts.known_calls import known_calls
from dpsql.fuzz.copies import FreshCopy, Neighbour, neighbour, rows_of
from dpsql.fuzz.two_columns import by_two_columns
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactTable
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parse import Query
from dpsql.policy.catalogue import Known
from dpsql.session import Session

SMALL = {"default_block_size": "16384"}
"""The configuration that writes a file a tenth as long: a world has a few rows, and a dozen copies."""


@dataclass(frozen=True, slots=True)
class World:
    """A database that is open: the owner's session, its neighbours, a shuffled copy, and plain DuckDB.

    ``pair`` are connections to it and to its first neighbour, under the same policy, that pay for nothing.
    ``twins`` are the columns of a unit of two columns.
    """

    name: str
    connection: Connection
    session: Session
    whole: DuckDB
    neighbours: list[Neighbour]
    shuffle: DuckDB
    plain: duckdb.DuckDBPyConnection
    ways: tuple[FastSums, ...]
    informed: StatisticsEngine
    twins: tuple[str, str] | None = None
    pair: tuple[Connection, ...] = ()

    def said(self, sql: str) -> str:
        """A drawn query, as it is written where units have two columns."""
        return sql if self.twins is None else by_two_columns(sql, *self.twins)

    @property
    def planner(self) -> Session:
        """The session that plans what is judged; it has looked at whatever was asked of the pair."""
        return self.pair[0]._open() if self.pair else self.session

    def parsed(self, sql: str) -> Query | None:
        """The text as the planner has parsed it, if that was its latest."""
        latest = self.planner.kept.last
        return latest.query if latest is not None and latest.query.source.text == sql else None

    def forget(self) -> None:
        """Plan everything anew from now on: what was planned under a planted error is another plan."""
        for connection in (self.connection, *self.pair):
            connection._open().kept.forget()

    def fast(self, planned: MeasurePlan) -> Iterator[ExactTable]:
        """Measure the whole in one of the ways of larger tables, and on the second engine if that gets it."""
        way = self.ways[len(planned.measure.statistics) % len(self.ways)]
        yield measured(planned, self.whole._all, self.whole._arrays, way.statement, special_of=way.special)
        if known_calls(planned.measure):
            table = self.informed.measure(planned)
            assert table is not None, "the second engine fails"
            yield table


def build_copies(folder: Path, known: Known, units: Sequence[object], salt: int) -> None:
    """Write the neighbours of a world that lack one of these units each, and a shuffled copy."""
    world = folder / "world.duckdb"
    for place, unit in enumerate(units):
        called = re.sub(r"\W+", "-", str(unit))[:40]
        without(world, folder / f"{place}-without-{called}.duckdb", known, unit)
    without(world, folder / "neighbour.duckdb", known, units[0])  # the first once more: opened otherwise
    shuffled(world, folder / "shuffled.duckdb", known, salt)


def open_world(folder: Path, ledger: Path, stack: ExitStack) -> World:
    """Open a world and its copies; the ledgers are ``ledger`` and files beside it."""
    plain = plain_copy(folder / "world.duckdb", stack)
    plain.execute(f"SET disabled_optimizers = '{STATISTICS},{SIMPLIFYING}'")  # as in the engine
    db = stack.enter_context(connect(folder / "world.duckdb", folder / "policy.toml", ledger))
    session = db._open()
    zone = session.policy.timezone
    plain.execute(f"SET TimeZone = '{zone}'")
    whole = opened(folder / "world.duckdb", stack, zone)  # in threads; the others, in one
    rows = rows_of(whole)
    neighbours = [
        neighbour(path.stem.partition("-without-")[2], opened(path, stack, zone, 1), rows)
        for path in sorted(folder.glob("*-without-*.duckdb"))
    ]
    pair = tuple(
        stack.enter_context(
            connect(folder / f"{which}.duckdb", folder / "policy.toml", ledger.with_suffix(f".{which}"))
        )
        for which in ("world", "neighbour")
    )
    shuffle = opened(folder / "shuffled.duckdb", stack, zone, 1)
    for connection in pair:  # a search takes seconds, and depends on no row
        connection._open().strategies = session.strategies
    of_unit = session.known.unit_columns
    twins = (of_unit[0], of_unit[1]) if len(of_unit) == 2 else None
    informed = opened_with_statistics(folder / "world.duckdb", stack, zone)
    return World(
        folder.name, db, session, whole, neighbours, shuffle, plain, ways(whole), informed, twins, pair
    )


def ways(whole: DuckDB) -> tuple[FastSums, ...]:
    """Return the ways to sum a table of many rows, as if a few were many."""
    limits = (replace(EVERYTHING, copied=part, long=part) for part in (0, 1))
    return (*(FastSums(whole._all, limit) for limit in limits), FastSums(whole._all, few=0))


def opened_with_statistics(path: Path, stack: ExitStack, timezone: str) -> StatisticsEngine:
    """Open the second engine of a file, as if its tables were large."""
    engine = stack.enter_context(duckdb.connect(config={"threads": 1}))
    engine.execute(f"ATTACH {text(str(path))} AS beside (READ_ONLY)")
    lock_down(engine, timezone, without=(SIMPLIFYING,))
    informed = StatisticsEngine(engine, "beside", EVERYTHING)
    stack.callback(informed.close)
    return informed


def plain_copy(path: Path, stack: ExitStack) -> duckdb.DuckDBPyConnection:
    """Return a connection to a copy in memory, which is asked as DuckDB is."""
    plain = stack.enter_context(duckdb.connect(config={"threads": 1}))
    plain.execute("SET TimeZone = 'UTC'")
    plain.execute(f"ATTACH {text(str(path))} AS whole (READ_ONLY)")
    plain.execute("COPY FROM DATABASE whole TO memory")
    plain.execute("DETACH whole")
    return plain


def opened(path: Path, stack: ExitStack, timezone: str = "UTC", threads: int | None = None) -> DuckDB:
    """Open an engine on a copy."""
    engine = FreshCopy(path, timezone, threads)
    stack.callback(engine.close)
    return engine

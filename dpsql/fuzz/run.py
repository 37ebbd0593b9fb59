"""Draw queries for one policy and judge them on a made-up world: of an owner's schema, or of a drawn one.

    with fuzzing(folder, Empty(connection, policy), seed) as fuzz:
        fuzz.until(2_000)
        fuzz.violations

Everything follows from the seed. Queries are of the whole language: with models, private views, and files of
statements that are measured together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import field
from pathlib import Path

from dpsql.audit.neighbours import units_of
from dpsql.dbapi import connect
from dpsql.driver import duckdb
from dpsql.engines.identifiers import text
from dpsql.errors import InterfaceError
from dpsql.fuzz import judges
from dpsql.fuzz.files import Files
from dpsql.fuzz.judging import Judging
from dpsql.fuzz.known_schema import schema_of
from dpsql.fuzz.made_rows import fill
from dpsql.fuzz.queries import Queries
from dpsql.fuzz.world import World, build_copies, open_world
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known

NEIGHBOURS = 12
_VIEWS, _FILES, _MODELS = 20, 40, 12
"""One query of so many is a private view, one a file, one a model."""

_EPSILONS = (0.05, 0.5, 1.0, 7.0, 50.0)


@dataclass(frozen=True, slots=True)
class Empty:
    """A database in memory with a schema and public rows alone, and a policy for it."""

    connection: duckdb.DuckDBPyConnection
    policy: str


@dataclass(slots=True, kw_only=True)
class Fuzz(Judging):
    """A run on one world that is under way."""

    world: World
    seed: int
    drawn: int = 0
    together: int = 0
    queries: Queries = field(init=False)
    files: Files = field(init=False)

    def __post_init__(self) -> None:
        schema = schema_of(self.world.session.known)
        self.queries = Queries(random.Random(self.seed), schema)
        self.files = Files(random.Random(f"files {self.seed}"), schema)

    def until(self, triples: int, going: Callable[[], None] = lambda: None) -> None:
        """Judge so many triples, or so many queries where hardly any is accepted."""
        while self.triples < triples and self.drawn < triples + 100:
            going()
            self.one()

    def one(self) -> None:
        """Draw a query or a file, and judge it."""
        rng = self.queries.rng
        self.drawn += 1
        epsilon = rng.choice(_EPSILONS)
        if self.drawn % _FILES == 0:
            self._file(rng.choice(_EPSILONS[1:]))
        elif self.drawn % _VIEWS == 0:
            self.judge_written(self.world.said(self.queries.draw().as_view(rng)), self.world, epsilon)
        elif self.drawn % _MODELS == 0:
            self.judge_written(self.world.said(self.queries.model()), self.world, epsilon)
        else:
            self.judge_written(self.world.said(self.queries.draw().printed(rng)), self.world, epsilon)

    def _file(self, total: float) -> None:
        words = self.world.said(self.files.draw(calm=False).text)
        try:
            plans = judges.together(words, self.world, total)
        except Exception as error:  # whatever it is, it is a violation
            self.note([f"a file: {type(error).__name__}: {error}"], words, self.world, total)
            return
        self.together += len(plans)
        self.note(judges.silent_together(plans, words, self.world, total), words, self.world, total)
        for plan in {plan.digest: plan for plan in plans.values()}.values():
            self.triples += len(self.world.neighbours)
            self.judge_plan(plan, words, self.world, total)


@contextmanager
def fuzzing(folder: Path, empty: Empty, seed: int) -> Iterator[Fuzz]:
    """Make the rows of a world and its neighbours in a folder; open a run on it."""
    build(folder, empty, random.Random(f"rows {seed}"))
    with ExitStack() as stack:
        yield Fuzz(world=open_world(folder, folder / "fuzz.ledger", stack), seed=seed)


def build(folder: Path, empty: Empty, rng: random.Random) -> None:
    """Write a world with made-up rows, its policy and its copies."""
    world, policy = folder / "world.duckdb", folder / "policy.toml"
    folder.mkdir(parents=True, exist_ok=True)
    policy.write_text(empty.policy, encoding="utf-8")
    _write(empty.connection, folder / "empty.duckdb")
    known = _known(folder / "empty.duckdb", policy)
    fill(empty.connection, known, rng)
    _write(empty.connection, world)
    units = units_of(world, known)
    if not units:
        raise InterfaceError(
            "no row could be made up for these tables",
            help="their constraints allow none that is drawn",
        )
    rng.shuffle(units)
    heavy = _most_rows(world, known, units)
    units.sort(key=lambda unit: unit != heavy)
    build_copies(folder, known, units[:NEIGHBOURS], rng.randrange(100))


def _most_rows(world: Path, known: Known, units: list[object]) -> object:
    """The unit with most rows: it meets the clips."""
    from dpsql.audit.neighbours import owner_sql

    found = units[0]
    with duckdb.connect(str(world), read_only=True) as connection:
        tables = [table for table in known.tables if not table.public]
        rows = [
            row
            for table in tables
            for row in connection.execute(
                f"SELECT owner, count(*) FROM (SELECT {owner_sql(table)}) WHERE owner IS NOT NULL GROUP BY 1"
            ).fetchall()
        ]
    if rows:
        found = max(rows, key=lambda row: row[1])[0]
    return tuple(found.values()) if isinstance(found, dict) else found


def _known(database: Path, policy: Path) -> Known:
    with connect(database, policy, database.with_suffix(".ledger")) as db:
        return db._open().known


def _write(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    connection.execute(f"ATTACH {text(str(path))} AS target (BLOCK_SIZE 16384)")
    connection.execute("COPY FROM DATABASE memory TO target")
    connection.execute("DETACH target")


__all__ = ["Empty", "Fuzz", "build", "fuzzing"]

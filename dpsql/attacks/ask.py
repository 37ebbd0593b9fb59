"""How attackers ask: as analysts of dpsql with a fresh ledger, or of an engine that answers exactly.

    with ask.opened(database) as eve:
        eve.rows("SELECT COUNT(*) FROM people", 1.0)
        eve.spent

Exact answers are those of the same queries and the same engine without noise, with thresholds at one person.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from dpsql.attacks.world import ANALYSTS, World
from dpsql.audit.oracles import without_noise
from dpsql.dbapi import Connection, connect
from dpsql.engines.duckdb import DuckDB
from dpsql.lazy_dataclass import dataclass

_ENOUGH = 5  # trials with exact answers, which are right every time


class Analyst(Protocol):
    """One analyst at one database."""

    def rows(self, sql: str, epsilon: float) -> list[tuple[Any, ...]]:
        """Return the rows of an answer, paid for with ``epsilon``."""

    def number(self, sql: str, epsilon: float) -> tuple[float, float]:
        """Return the one number of an answer, and its margin."""

    @property
    def spent(self) -> float:
        """The epsilon of all that was paid on this ledger, by all analysts."""


class Ask(Protocol):
    """An engine, as attackers meet it."""

    trials: int
    exact: bool

    def opened(
        self, database: Path, analyst: str = ANALYSTS[0], ledger: Path | None = None
    ) -> AbstractContextManager[Analyst]:
        """Open a database as an analyst, with a fresh ledger unless one is named."""


@dataclass(frozen=True, slots=True)
class OfDpsql:
    """An analyst's connection, and nothing else of dpsql."""

    db: Connection

    def rows(self, sql: str, epsilon: float) -> list[tuple[Any, ...]]:
        return list(self.db.execute(sql, epsilon=epsilon).rows)

    def number(self, sql: str, epsilon: float) -> tuple[float, float]:
        answer = self.db.execute(sql, epsilon=epsilon)
        return float(answer.rows[0][0]), answer.margins[0][0] or 0.0

    @property
    def spent(self) -> float:
        return self.db.budget.spent


class Dpsql:
    """The engine that is attacked."""

    exact = False

    def __init__(self, world: World) -> None:
        self._world, self.trials = world, world.trials
        self._kept = _Kept(world)

    @contextmanager
    def opened(
        self, database: Path, analyst: str = ANALYSTS[0], ledger: Path | None = None
    ) -> Iterator[OfDpsql]:
        self._kept.keep(database)
        with connect(database, self._world.policy(), ledger or self._world.ledger(), analyst) as db:
            yield OfDpsql(db)

    def close(self) -> None:
        """Close what is kept open between trials."""
        self._kept.close()


@dataclass(frozen=True, slots=True)
class OfExact:
    """The owner's connection, without noise."""

    db: Connection
    epsilon: float
    answered: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    def rows(self, sql: str, epsilon: float) -> list[tuple[Any, ...]]:
        if sql not in self.answered:
            self.answered[sql] = without_noise(self.db, sql, self.epsilon)
        return self.answered[sql]

    def number(self, sql: str, epsilon: float) -> tuple[float, float]:
        return float(self.rows(sql, epsilon)[0][0]), 0.0

    @property
    def spent(self) -> float:
        return 0.0


class Exact:
    """An engine that answers exactly: what dpsql stands beside."""

    exact = True

    def __init__(self, world: World) -> None:
        self._world, self.trials = world, min(world.trials, _ENOUGH)
        self._kept = _Kept(world)

    @contextmanager
    def opened(
        self, database: Path, analyst: str = ANALYSTS[0], ledger: Path | None = None
    ) -> Iterator[OfExact]:
        self._kept.keep(database)
        with connect(database, self._world.policy("approx"), self._world.ledger()) as db:
            yield OfExact(db, self._world.epsilon)

    def close(self) -> None:
        """Close what is kept open between trials."""
        self._kept.close()


class _Kept:
    """Engines of the world's own copies, kept open between trials.

    DuckDB has one engine for a file, and starting it takes a third of a trial. Sessions, ledgers and noise
    are those of each trial, as before. A file that is put in another's place is not kept.
    """

    def __init__(self, world: World) -> None:
        self._world, self._stack, self._paths = world, ExitStack(), set[Path]()

    def keep(self, database: Path) -> None:
        """Keep the engine of a copy that stays what it is."""
        if database in self._paths or database not in (self._world.database, *self._world.made.values()):
            return
        self._paths.add(database)
        zone = str(self._world.document.get("timezone", "UTC"))
        self._stack.enter_context(closing(DuckDB(database, zone)))

    def close(self) -> None:
        self._stack.close()

"""Connections of analysts to one database, each used by one thread at a time.

    answer = await pool.ask("ana", lambda pooled: pooled.db.execute(sql), stop)

A connection is opened by the analyst's name and used for that analyst alone. It is kept for the next question
while the data and the policy are the files that it was opened on, and its engine says so too; one to a
PostgreSQL server is for one question. Questions wait in turn: each analyst runs two at once, so nobody's many
questions keep the others waiting.

Claim   no connection without an analyst is ever opened, and a question runs on one of its own analyst.
Proof   ``_opened`` alone opens connections. It refuses a name that is empty, and takes and gives back idle
        ones by that name.
Test    tests/drivers/test_server_walls.py
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpsql.accounting.view_changes import last_view_change
from dpsql.dbapi import Connection, connect
from dpsql.dbapi.connection import beside
from dpsql.dbapi.same_data import data_state, stands
from dpsql.errors import Error, InterfaceError, interrupted
from dpsql.lazy_dataclass import dataclass
from dpsql.server.catalogue import Engines
from dpsql.server.catalogues import Names
from dpsql.session.checks import load_policy

if TYPE_CHECKING:  # it is a name for checks alone
    from dpsql.dbapi.connection import Where
    from dpsql.policy.model import Policy

T = TypeVar("T")
Stamp = tuple[object, ...]
"""What changes with the policy and the data, or with a file: metadata, among them times of change, which no
program can set back."""

Version = tuple[Stamp, int]
"""What the names that exist for an analyst depend on: the files, and the last change of private views."""

_MOST_IDLE = 16
"""Connections that are kept for all analysts together."""

_MOST_NAMES = 200
"""Lists of names that are kept, each for an analyst."""


@dataclass(frozen=True, slots=True)
class Place:
    """A database, its policy and ledger, and the name that clients give."""

    name: str
    database: Where
    policy: Path
    ledger: Path

    @staticmethod
    def of(database: Where, policy: Path | None = None, ledger: Path | None = None, name: str = "") -> Place:
        policy, ledger = policy or beside(database, ".toml"), ledger or beside(database, ".ledger")
        stem = database.absolute().stem if isinstance(database, Path) else database.stem
        return Place(name or stem, database, policy, ledger)

    def open(self, analyst: str) -> Connection:
        """Open a connection of an analyst: never the owner's."""
        if not analyst:
            raise InterfaceError("an analyst has a name")
        return connect(self.database, self.policy, self.ledger, analyst)

    def stamp(self) -> Stamp:
        """Return what changes when the policy or files of data are replaced; a server tells of its own."""
        policy = _stamp_of(self.policy)
        try:
            return policy, data_state(self.database, _policy_at(self.policy, policy))
        except (Error, OSError):  # a policy that is refused, or a file that goes just now
            return policy, None

    def ledger_stamp(self) -> Stamp:
        """Return what changes with each entry of the ledger."""
        return _stamp_of(self.ledger)

    def keeps_texts(self) -> bool:
        """Whether the ledger keeps texts of analysts as they are; so does the owner's log."""
        try:
            return load_policy(self.policy).ledger.texts == "plain"
        except Error:  # nothing is kept that may have to be a digest
            return False


def _stamp_of(file: Path) -> Stamp:
    try:
        status = file.stat()
    except OSError:  # gone: another stamp
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@lru_cache(maxsize=16)
def _policy_at(file: Path, stamp: Stamp) -> Policy:
    """Return the policy of a file while that has this stamp."""
    return load_policy(file)


class Unopened(Exception):
    """The database cannot be opened; the owner's log says why."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.code)
        self.error = error


@dataclass(slots=True, eq=False)
class Pooled:
    """An open connection, and the files it was opened on."""

    db: Connection
    analyst: str
    stamp: Stamp


class Pool:
    """The connections to one database."""

    def __init__(
        self, place: Place, threads: ThreadPoolExecutor, engines: Engines, at_once: int, each: int
    ) -> None:
        self.place = place
        self._threads = threads
        self._all = asyncio.Semaphore(at_once)
        self._each: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(each))
        self._idle: list[Pooled] = []
        self._engines = engines
        self._names: dict[tuple[str, Version], Names] = {}
        self._lock = threading.Lock()

    async def ask(self, analyst: str, work: Callable[[Pooled], T], stop: asyncio.Event) -> T:
        """Run a step on a connection of this analyst; ``stop`` interrupts it, and so does cancelling."""
        opened: list[Connection] = []

        def step() -> T:
            pooled = self._opened(analyst)
            try:
                opened.append(pooled.db)
                if stop.is_set():
                    raise interrupted()
                return work(pooled)
            finally:
                self._give_back(pooled)

        async with self._turn(analyst, stop):
            running = asyncio.get_running_loop().run_in_executor(self._threads, step)
            return await _interruptible(running, opened, stop)

    @asynccontextmanager
    async def _turn(self, analyst: str, stop: asyncio.Event) -> AsyncIterator[None]:
        """Wait for this analyst's turn, then for one of all; a stop ends the waiting."""
        waiting = asyncio.ensure_future(self._both(analyst))
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise interrupted()
            waiting.result()
        except BaseException:  # cancelled, too: the turn is given back, and it is raised again
            if not waiting.cancel() and not waiting.cancelled() and waiting.exception() is None:
                self._leave(analyst)
            raise
        finally:
            stopping.cancel()
        try:
            yield
        finally:
            self._leave(analyst)

    async def _both(self, analyst: str) -> None:
        each = self._each[analyst]
        await each.acquire()
        try:
            await self._all.acquire()
        except BaseException:  # cancelled, too: the turn is given back, and it is raised again
            each.release()
            raise

    def _leave(self, analyst: str) -> None:
        self._all.release()
        self._each[analyst].release()

    def known_names(self, analyst: str) -> tuple[Names, Stamp] | None:
        """Return what exists for an analyst if it is known: nobody waits for a turn for it. In a thread."""
        stamp = self.place.stamp()
        version = stamp, last_view_change(self.place.ledger)
        with self._lock:
            names = self._names.get((analyst, version))
        return None if names is None else (names, stamp)

    def names(self, pooled: Pooled) -> Names:
        """Return what exists for the analyst of a connection. In a thread."""
        key = pooled.analyst, (pooled.stamp, last_view_change(self.place.ledger))
        with self._lock:
            known = self._names.pop(key, None)
        names = known or Names(self.place.name, pooled.analyst, pooled.db, self._engines)
        with self._lock:
            self._names[key] = names
            while len(self._names) > _MOST_NAMES:
                del self._names[next(iter(self._names))]
        return names

    # ---- connections -------------------------------------------------------------------------------

    def _opened(self, analyst: str) -> Pooled:
        """Return an idle connection of this analyst to the present files, or open one. In a thread."""
        stamp = self.place.stamp()
        while (found := self._taken(analyst, stamp)) is not None:
            if stands(found.db):
                return found
            found.db.close()
        try:
            return Pooled(self.place.open(analyst), analyst, stamp)
        except Error as error:
            raise Unopened(error) from None

    def _taken(self, analyst: str, stamp: Stamp) -> Pooled | None:
        """Take an idle connection of this analyst to the present files, and close those to others."""
        with self._lock:
            stale = [pooled for pooled in self._idle if pooled.stamp != stamp]
            self._idle = [pooled for pooled in self._idle if pooled.stamp == stamp]
            found = next((pooled for pooled in self._idle if pooled.analyst == analyst), None)
            if found is not None:
                self._idle.remove(found)
        for pooled in stale:
            pooled.db.close()
        return found

    def _give_back(self, pooled: Pooled) -> None:
        most = _MOST_IDLE if isinstance(self.place.database, Path) else 0  # a server does not say what is new
        with self._lock:
            self._idle.append(pooled)
            over = self._idle.pop(0) if len(self._idle) > most else None
        if over is not None:
            self._threads.submit(over.db.close)

    def close(self) -> None:
        """Close the idle connections, when nothing runs any more."""
        with self._lock:
            idle, self._idle = self._idle, []
        for pooled in idle:
            pooled.db.close()


async def _interruptible(running: asyncio.Future[T], opened: Sequence[Connection], stop: asyncio.Event) -> T:
    """Wait for a step in a thread; interrupt it when ``stop`` is set or the waiting is cancelled."""
    stopping, cancelled = asyncio.ensure_future(stop.wait()), False
    both: set[asyncio.Future[Any]] = {running, stopping}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        cancelled = True
    stopping.cancel()
    while not running.done():  # repeatedly: it may be between two engines
        for db in opened:
            with suppress(Error):  # it is closed
                db.interrupt()
        try:
            await asyncio.wait({running}, timeout=0.02)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        running.exception()  # nobody reads it
        raise asyncio.CancelledError
    return running.result()

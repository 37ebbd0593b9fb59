"""The sealed engines of all analysts of a server: so many processes, each for one analyst at a time.

    engines = Engines()
    engines.run(world, sql, reads)      on the engine that was kept for this world, or a new one

A statement of one analyst runs beside those of others. Where more analysts ask at once than there may be
processes, a statement waits for at most the time that one before it may take.
Test: tests/server/test_catalogue_limits.py
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from dpsql.server.catalogue.contents import World
from dpsql.server.catalogue.engine import SealedEngine

MOST = 4
"""Processes at once: each takes some 50 MB, and the limit of a statement at most."""


class Engines:
    """Processes that are kept for the analysts who asked last. Threads share it."""

    def __init__(self, most: int = MOST) -> None:
        self._free = threading.BoundedSemaphore(most)
        self._most, self._lock = most, threading.Lock()
        self._idle: list[SealedEngine] = []
        self._running: list[SealedEngine] = []
        self._starting = 0

    def run(
        self, world: World, sql: str, reads: Iterable[str]
    ) -> tuple[list[tuple[str, str]], list[tuple[object, ...]]]:
        """Return the columns and rows of one SELECT over the relations of a world."""
        with self._free:
            engine = self._kept(world) or self._started(world)
            try:
                return engine.run(sql, reads)
            finally:
                self._leave(engine)

    def _kept(self, world: World) -> SealedEngine | None:
        """Take the idle engine of a world, if there is one."""
        with self._lock:
            found = next((each for each in self._idle if each.world is world), None)
            if found is not None:
                self._idle.remove(found)
                self._running.append(found)
        return found

    def _started(self, world: World) -> SealedEngine:
        """Start an engine in the place of the one that was idle for longest."""
        with self._lock:
            self._starting += 1
            used = len(self._idle) + len(self._running) + self._starting
            over, self._idle = (
                self._idle[: max(0, used - self._most)],
                self._idle[max(0, used - self._most) :],
            )
        for idle in over:
            idle.end()
        try:
            engine = SealedEngine(world)
        except BaseException:  # Ctrl-C too: the place is given back
            with self._lock:
                self._starting -= 1
            raise
        with self._lock:
            self._starting -= 1
            self._running.append(engine)
        return engine

    def _leave(self, engine: SealedEngine) -> None:
        """Keep an engine for the next statement, unless it exceeded a limit."""
        with self._lock:
            self._running.remove(engine)
            if engine.usable:
                self._idle.append(engine)
                return
        engine.end()

    def close(self) -> None:
        """End all processes, and what runs in them."""
        with self._lock:
            idle, self._idle = self._idle, []
            for engine in self._running:
                engine.kill()
        for engine in idle:
            engine.end()

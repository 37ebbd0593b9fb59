"""Interrupts and time limits of queries.

    with limited(session, 30.0): ...      after 30 seconds a thread interrupts the session, until it hears

One thread watches all queries of a process: to start one for each would take a good part of the time of an
answer that is repeated.
Test: tests/unit/test_time_limits.py
"""

from __future__ import annotations

import heapq
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpsql.errors import Error, InterfaceError, refuse

if TYPE_CHECKING:
    from dpsql.session import Session


_AGAIN = 0.05
"""Seconds between interrupts: the query may be between two engines."""


class _Watched:
    """A query that runs, and that is interrupted when it has run for too long."""

    def __init__(self, session: Session, at: float) -> None:
        self._session: Session | None = session
        self.at, self.late = at, False
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._interrupting: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def interrupt(self) -> None:
        """Interrupt it from now on, in a thread: a server may be slow to hear."""
        with self._lock:
            if self.running and self._session is not None:
                self.late = True
                self._interrupting = threading.Thread(target=self._repeat, args=(self._session,), daemon=True)
                self._interrupting.start()

    def _repeat(self, session: Session) -> None:
        while not self._ended.wait(_AGAIN):
            session.interrupt()

    def end(self) -> None:
        """It has ended: what runs next is not interrupted."""
        with self._lock:
            self._ended.set()
            self._session = None
        if self._interrupting is not None:
            self._interrupting.join()


class _Watchman:
    """A thread that sleeps until the first query is late."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int, _Watched]] = []
        self._count = 0  # two of one moment are not compared
        threading.Thread(target=self._run, name="dpsql-time-limits", daemon=True).start()

    def watch(self, watched: _Watched) -> None:
        with self._changed:
            self._forget()
            self._count += 1
            heapq.heappush(self._waiting, (watched.at, self._count, watched))
            if self._waiting[0][2] is watched:
                self._changed.notify()

    def _forget(self) -> None:
        """Forget those in front that have ended."""
        while self._waiting and not self._waiting[0][2].running:
            heapq.heappop(self._waiting)

    def _run(self) -> None:
        while True:
            self._next().interrupt()

    def _next(self) -> _Watched:
        """Return the next query that is late, when it is."""
        with self._changed:
            while True:
                self._forget()
                left = self._waiting[0][0] - time.monotonic() if self._waiting else None
                if left is not None and left <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(left)


class _Only:
    """The one of this process; it is started when a query first has a time limit."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """A fork has none of its parent's threads, and may have a lock that one of them held."""
        self._lock = threading.RLock()
        self._watchman: _Watchman | None = None

    def get(self) -> _Watchman:
        with self._lock:
            if self._watchman is None:
                self._watchman = _Watchman()
            return self._watchman


_ONLY = _Only()
if hasattr(os, "register_at_fork"):  # no process forks on Windows
    os.register_at_fork(after_in_child=_ONLY.forget)


@contextmanager
def limited(session: Session, limit: float | None) -> Iterator[None]:
    """Interrupt what runs for longer than ``limit`` seconds, and raise D603."""
    if limit is None:
        yield
        return
    if type(limit) not in (int, float) or not 0 < limit < math.inf:
        raise InterfaceError(
            "a time limit is a positive number of seconds", help="set timeout = 30, or None for no limit"
        )
    watched = _Watched(session, time.monotonic() + min(limit, threading.TIMEOUT_MAX))
    try:
        _ONLY.get().watch(watched)
        yield
    except Error as error:
        if not watched.late or error.code != "D601":
            raise
        raise refuse(
            "D603",
            f"the query took longer than the time limit of {limit:g} seconds",
            label="what was debited stays debited",
            help="allow more time and ask the same query again: it is completed without paying twice",
        ) from None
    finally:
        watched.end()

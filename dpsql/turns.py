"""A lock that runs postponed steps when it is released, so that closing never waits.

    thread 1   taken ---------------- released, then the postponed steps
    thread 2        waits ...................... taken ---
    any thread              afterwards(close)    run at the end of the turn, or now if the lock is free

The garbage collector and signal handlers run in the middle of any thread's work, and close what they find.
If they waited there for a turn that the same thread has, they would wait for ever.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakSet

_ALL: WeakSet[Turn] = WeakSet()
MAKING = threading.RLock()
"""Held briefly while a turn is made or looked up; its holder waits for no other lock."""
_FORKING: list[Turn] = []


class Taken(Exception):
    """The turn was not free in time; or this thread has it and was interrupted in the middle."""


class Turn:
    """A lock that knows when its own thread has it. No thread waits for one turn during another."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._busy = False
        self._postponed: deque[Callable[[], object]] = deque()
        with MAKING:
            _ALL.add(self)

    @contextmanager
    def taken(self, patience: float = -1) -> Iterator[None]:
        """Take the turn for the block; raise ``Taken`` after ``patience`` seconds (-1: wait for ever)."""
        if not self._lock.acquire(timeout=patience):
            raise Taken
        try:
            if self._busy:
                raise Taken
            try:
                self._busy = True
                yield
            finally:
                self._busy = False
        finally:
            self._lock.release()
            self._run_postponed()

    def afterwards(self, step: Callable[[], object]) -> None:
        """Run a step while the turn is free: now, or at the end of the current turn."""
        self._postponed.append(step)
        self._run_postponed()

    def _run_postponed(self) -> None:
        # Every end of a turn comes here again, so a step added by another thread meanwhile is not lost.
        while self._postponed and self._lock.acquire(blocking=False):
            try:
                if self._busy:  # this thread has the turn: its end will come here
                    return
                while self._postponed:
                    self._postponed.popleft()()
            finally:
                self._lock.release()


def _before_fork() -> None:
    """Take all turns, so that no thread is in the middle of one while the process is copied."""
    while True:
        _FORKING[:] = sorted(_ALL, key=lambda turn: turn.name)
        for turn in _FORKING:
            turn._lock.acquire()
        MAKING.acquire()
        if set(_FORKING) >= _ALL:
            return
        _after_fork()  # a turn was made meanwhile


def _after_fork() -> None:
    while _FORKING:
        _FORKING.pop()._lock.release()
    MAKING.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

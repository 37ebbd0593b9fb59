"""Threads of a process take turns, one at a time; closing never waits.

    thread 1   taken ---------------- released, then what was put off
    thread 2        waits ...................... taken ---
    anybody                 afterwards(close)    done at the end of the turn, or now if it is nobody's

The garbage collector and signal handlers run in the middle of whatever a thread is doing, and close what
they find: who waited there for a turn that this very thread has would wait for ever.
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
"""For a moment, while a turn is made or looked up: who has this waits for nothing else."""
_FORKING: list[Turn] = []


class Taken(Exception):
    """It was not free in time; or this thread has it and was interrupted in the middle."""


class Turn:
    """A lock that tells its own thread that it has it. Nobody waits for one turn during another."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._busy = False
        self._put_off: deque[Callable[[], object]] = deque()
        with MAKING:
            _ALL.add(self)

    @contextmanager
    def taken(self, patience: float = -1) -> Iterator[None]:
        """Nobody else has it meanwhile; ``Taken`` after so many seconds (-1: however long it takes)."""
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
            self._catch_up()

    def afterwards(self, step: Callable[[], object]) -> None:
        """Do this while nobody has the turn: now, or at the end of the turn that somebody has."""
        self._put_off.append(step)
        self._catch_up()

    def _catch_up(self) -> None:
        # Whoever ends a turn looks here once more after it, so nothing is left between two lookers.
        while self._put_off and self._lock.acquire(blocking=False):
            try:
                if self._busy:  # our own thread's: its end will come here
                    return
                while self._put_off:
                    self._put_off.popleft()()
            finally:
                self._lock.release()


def _before_fork() -> None:
    """Nobody is in the middle of anything while a process is copied."""
    while True:
        _FORKING[:] = sorted(_ALL, key=lambda turn: turn.name)
        for turn in _FORKING:
            turn._lock.acquire()
        MAKING.acquire()
        if set(_FORKING) >= _ALL:
            return
        _after_fork()  # one was made meanwhile


def _after_fork() -> None:
    while _FORKING:
        _FORKING.pop()._lock.release()
    MAKING.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

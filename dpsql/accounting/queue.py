"""First come, first served: a queue of the processes that use one ledger.

    clinic.ledger-queue      byte 0: locked to draw a number     byte 1024 + n: locked by number n
    number 7   locks its byte, works, unlocks it
    number 8   locks its byte, waits until no lower byte is locked, works, ...

SQLite makes waiting processes retry now and then: whichever tries at the right moment wins, and among 16
processes some wait for twenty seconds. Here the system's locks keep the order; they end with the process
that holds them, however it ends. The queue gives fairness only: SQLite's own locks keep two writers apart.
They also serve alone where no queue is possible (a folder without write permission, a network disk without
locks). The numbers in the file mean nothing after a power cut.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import WeakValueDictionary

from dpsql.turns import MAKING, Taken, Turn

_FIRST = 1024  # offset of the byte of number 0; the bytes between hold the counters
_MOST = 2**40
_STEP = 0.0003  # seconds between two tries, for each process ahead
_LONGEST = 0.01

_QUEUES: WeakValueDictionary[Path, Queue] = WeakValueDictionary()


def queue_of(path: Path) -> Queue:
    """Return this process's queue for a ledger; there is one for each path."""
    with MAKING:
        queue = _QUEUES.get(path)
        if queue is None:
            queue = _QUEUES[path] = Queue(path)
        return queue


class Queue:
    """A place in line: the thread of this process that has the ``turn`` waits for all its threads."""

    def __init__(self, path: Path) -> None:
        self.turn = Turn(str(path))
        self._path = path.with_name(path.name + "-queue")
        self._file = -1

    @contextmanager
    def entered(self, patience: float) -> Iterator[None]:
        """Wait until every earlier process is done; raise ``Taken`` after ``patience`` seconds.

        The caller must have this process's turn.
        """
        end = time.monotonic() + patience
        number = self._draw_number(end)
        try:
            if number is not None:
                self._wait(number, end)
            yield
        finally:
            if number is not None:
                self._leave(number)

    def _draw_number(self, end: float) -> int | None:
        """Draw the next number and lock its byte; return None if no queue is possible."""
        try:
            if self._file < 0:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._file = os.open(self._path, flags, 0o600)
            while not self._locked(fcntl.LOCK_EX, 0):
                _sleep_before_retry(end, 1)
            try:
                number = self._read(0)
                while not self._locked(fcntl.LOCK_EX, _FIRST + number):  # the file was truncated, or restored
                    number += 1
                os.pwrite(self._file, (number + 1).to_bytes(8, "little"), 0)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, 0)
        except OSError:
            return None
        return number

    def _wait(self, number: int, end: float) -> None:
        with suppress(OSError):  # SQLite's own lock keeps order then
            while not self._locked(fcntl.LOCK_SH, 1, _FIRST + number - 1):
                _sleep_before_retry(end, number - self._read(8))
            fcntl.lockf(self._file, fcntl.LOCK_UN, _FIRST + number - 1, 1)

    def _leave(self, number: int) -> None:
        with suppress(OSError):  # closing the file gives the lock back too
            os.pwrite(self._file, (number + 1).to_bytes(8, "little"), 8)  # tells others how long to sleep
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _FIRST + number)

    def _locked(self, kind: int, start: int, length: int = 1) -> bool:
        try:
            fcntl.lockf(self._file, kind | fcntl.LOCK_NB, length, start)
        except (BlockingIOError, PermissionError):  # POSIX allows either of the two
            return False
        return True

    def _read(self, where: int) -> int:
        return int.from_bytes(os.pread(self._file, 8, where), "little") % _MOST

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)


def _sleep_before_retry(end: float, before: int) -> None:
    if time.monotonic() > end:
        raise Taken
    time.sleep(min(_LONGEST, _STEP * max(1, before)))

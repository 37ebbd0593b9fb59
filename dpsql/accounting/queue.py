"""First come, first served, among the processes that use one ledger.

    clinic.ledger-queue      byte 0: whoever draws a number     bytes 1024 + n: whoever has number n
    number 7   locks its byte, works, lets go
    number 8   locks its byte, waits until nobody holds a lower one, works, ...

SQLite makes those who wait try again now and then: whoever tries at the right moment wins, and of 16
processes some wait for twenty seconds. Here the system keeps the order: its locks end with the process
that holds them, however it ends. The queue is a courtesy and no more. Where there is none to be had (a
folder that nobody may write to, a network disk without locks) SQLite's own locks do what they always did,
and it is they that keep two writers apart. The numbers in the file mean nothing after a power cut.
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

_FIRST = 1024  # where the bytes begin that stand for numbers; those before it are nobody's
_MOST = 2**40
_STEP = 0.0003  # seconds between two looks, for each process that is before us
_LONGEST = 0.01

_QUEUES: WeakValueDictionary[Path, Queue] = WeakValueDictionary()


def queue_of(path: Path) -> Queue:
    """The one queue that this process keeps for a ledger."""
    with MAKING:
        found = _QUEUES.get(path)
        if found is None:
            found = _QUEUES[path] = Queue(path)
        return found


class Queue:
    """Of the threads of this process one has the ``turn``; it stands in the queue for all of them."""

    def __init__(self, path: Path) -> None:
        self.turn = Turn(str(path))
        self._path = path.with_name(path.name + "-queue")
        self._file = -1

    @contextmanager
    def entered(self, patience: float) -> Iterator[None]:
        """Everybody who came earlier is through; ``Taken`` if that takes more seconds than these.

        Only for whoever has the turn of this process.
        """
        end = time.monotonic() + patience
        number = self._drawn(end)
        try:
            if number is not None:
                self._wait(number, end)
            yield
        finally:
            if number is not None:
                self._leave(number)

    def _drawn(self, end: float) -> int | None:
        """A number behind all others, its byte locked; None where there is no queue."""
        try:
            if self._file < 0:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._file = os.open(self._path, flags, 0o600)
            while not self._locked(fcntl.LOCK_EX, 0):
                _look_again(end, 1)
            try:
                number = self._read(0)
                while not self._locked(fcntl.LOCK_EX, _FIRST + number):  # the file was cut, or put back
                    number += 1
                os.pwrite(self._file, (number + 1).to_bytes(8, "little"), 0)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, 0)
        except OSError:
            return None
        return number

    def _wait(self, number: int, end: float) -> None:
        with suppress(OSError):
            while not self._locked(fcntl.LOCK_SH, 1, _FIRST + number - 1):
                _look_again(end, number - self._read(8))
            fcntl.lockf(self._file, fcntl.LOCK_UN, _FIRST + number - 1, 1)

    def _leave(self, number: int) -> None:
        with suppress(OSError):
            os.pwrite(self._file, (number + 1).to_bytes(8, "little"), 8)  # tells others how long to sleep
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _FIRST + number)

    def _locked(self, kind: int, start: int, length: int = 1) -> bool:
        try:
            fcntl.lockf(self._file, kind | fcntl.LOCK_NB, length, start)
        except (BlockingIOError, PermissionError):  # POSIX leaves it to the system which of the two
            return False
        return True

    def _read(self, where: int) -> int:
        return int.from_bytes(os.pread(self._file, 8, where), "little") % _MOST

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)


def _look_again(end: float, before: int) -> None:
    if time.monotonic() > end:
        raise Taken
    time.sleep(min(_LONGEST, _STEP * max(1, before)))

"""The process of the sealed engine, which can be killed at any moment.

    parent                       child (sealed_program.py)
    run "SELECT ..."    ----->   DuckDB binds, optimizes, executes
    waits, with a deadline
                        <-----   rows, or "full", or "failed", or the end of the process

A reply of many rows comes in parts, one after the other. Released tables of many rows are made and dropped on
the way: the replies of these statements are read before the next one.

A function call or the folding of a constant in DuckDB cannot be interrupted, and may take minutes and all
memory. Waiting for another process can be interrupted: at a timeout or Ctrl-C, that process is killed. It
starts in a tenth of a second. It is reused until it exceeds a limit, also by later connections.

Seconds count while the process computes. Those in which the machine runs others, or waits for its disk, are
not the query's; but its replies together may not take more than ``PATIENCE`` times as long. While the process
loads tables it may compute for as long as it needs, and stand still for no longer than that in all.
"""

from __future__ import annotations

import math
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.driver import duckdb
from dpsql.errors import DatabaseError, refuse
from dpsql.post.sealed_program import LENGTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHILD = Path(__file__).with_name("sealed_program.py")
_STARTING = 20.0  # seconds that a process may take before it answers for the first time
PATIENCE = 6
"""How many times their seconds replies may take in all: one that stands still is waited for, for a while."""

_LEAST_WAIT = 0.01  # seconds between looks at the clock of a process that hardly computes
_MOST_OWED = 8  # their replies fit the pipe, so that neither side waits for the other
_ROW, _VALUE = 112, 64  # about how many bytes Python needs, with the margins that go beside a row


class Late(Exception):
    """The reply did not come in time; the process has ended."""


class Full(Exception):
    """The process ran out of memory or was killed; it has ended."""


class Many(Exception):
    """The result has more rows than allowed; the process has ended."""


class Failed(Exception):
    """DuckDB reported an error; the argument is its message."""


class Process:
    """The parent's side. It handles one request at a time; ``kill`` may be called from any thread."""

    def __init__(self) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        try:
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", str(CHILD), *_folders()],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, requests, 0),
                    (os.POSIX_SPAWN_DUP2, replies, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,  # the terminal's Ctrl-C is the parent's to hear
            )
        except OSError:
            os.close(self._requests)
            os.close(self._replies)
            raise does_not_start() from None
        finally:
            os.close(requests)
            os.close(replies)
        self._parent, self._ended, self._lock = os.getpid(), False, threading.RLock()
        os.set_blocking(self._requests, False)  # who writes to one that stands still looks at the clock
        self._replied, self._taking = select.poll(), select.poll()
        self._replied.register(self._replies, select.POLLIN)
        self._taking.register(self._requests, select.POLLOUT)
        self.patience = PATIENCE * _STARTING
        """Seconds that are left in which it may stand still while it is given tables, or a request."""
        self.worn = False
        self._midway = False  # between a request and the end of its reply; for good, if that was interrupted
        self._owed = 0  # replies that nobody has waited for
        self._waking: tuple[float, float] | None = None  # limits of the first of them, if it was woken by it
        self.took, self.waited = 0.0, 0.0  # seconds of the last run: those that count, and all

    def open(self, settings: list[str], memory: int, patience: float = PATIENCE * _STARTING) -> None:
        """Open an empty database, whose statements may use ``memory`` bytes.

        It may stand still for ``patience`` seconds.
        """
        self.patience = patience
        limit = _STARTING, PATIENCE * _STARTING
        (_, self.worn), _ = self._ask(("open", settings, memory), limit)

    def close(self) -> None:
        """Close the database, without waiting for a reply."""
        self._midway = True
        self._send(("close",))
        self._midway = False

    def load(self, sql: str, parameters: list[list[object]] | None = None, *, wait: bool = True) -> None:
        """Run a statement of the engine itself, without limits of memory and of the time that it computes.

        Who does not ``wait`` hears of a failure at the next request.
        """
        self._load(("load", sql, parameters), wait)

    def load_arrays(
        self, table: str, casts: list[tuple[str, str]], arrays: list[NDArray[Any]], *, wait: bool = True
    ) -> None:
        """Insert rows into a table (SQL, with its schema), column by column, with the limits of ``load``.

        ``casts`` is the SQL before and after each column's name.
        """
        self._load(("arrays", table, casts, arrays), wait)

    def wake(self, sql: str, parameters: list[list[object]], seconds: float, patience: float) -> None:
        """Let the process bind a statement, and do not wait: whether it can is not told.

        A process that slept while others computed starts slowly: two of four milliseconds were that. Who asks
        next waits for it within these limits of time.
        """
        if not self._owed:
            self._load(("wake", sql, parameters), wait=False)
            self._waking = seconds, patience

    def _load(self, request: tuple[Any, ...], wait: bool) -> None:
        if wait or self._owed >= _MOST_OWED:
            self._ask(request)
            return
        self._midway = True
        try:
            self._send(request)
        except BaseException:
            self.end()
            raise
        self._owed += 1
        self._midway = False

    def run(
        self,
        sql: str,
        seconds: float,
        memory: int,
        most: int | None,
        threads: int = 1,
        parameters: list[list[object]] | None = None,
        patience: float | None = None,
    ) -> list[tuple[Any, ...]]:
        """Return the rows of SQL, within limits of time, memory and number of rows (``most``).

        ``patience`` are the seconds that it may take, whatever counts.
        """
        fetched: list[tuple[Any, ...]] = []
        request: tuple[Any, ...] | None = ("run", sql, threads, parameters)
        more = True
        self.took, self.waited = 0.0, 0.0
        patience = PATIENCE * seconds if patience is None else patience
        while more:
            limit = seconds - self.took, patience - self.waited
            (_, rows, more, self.worn), size = self._ask(request, limit, memory)
            request = None
            memory -= size + _held(rows)
            fetched += rows
            if most is not None and len(fetched) > most:
                self.end()
                raise Many
        return fetched

    def columns(self, seconds: float) -> list[tuple[str, str]]:
        """Return the names and types of the columns of the statement that ran last."""
        (_, columns), _ = self._ask(("columns",), (seconds, PATIENCE * seconds))
        return list(columns)

    def _ask(
        self,
        request: tuple[Any, ...] | None,
        seconds: tuple[float, float] | None = None,
        most: int | None = None,
    ) -> tuple[Any, int]:
        """Send a request; return the reply and its size in bytes. The time before it is not counted.

        ``seconds`` are those that count and those that it may take in all; None: it may not stand still.
        None asks for the next reply to the same request: rows come in several, while others are taken apart.
        """
        failed: list[str] = []
        self._midway = True
        try:
            if request is not None:
                self._send(request)
            while self._owed:
                waking, self._waking = self._waking, None
                if waking is None:
                    self._reply_to_load(failed)
                else:
                    self._reply(failed, _Limit(self._pid, *waking))
                self._owed -= 1
            if seconds is None:
                reply, size = self._reply_to_load(failed, most)
            else:
                reply, size = self._reply_to_run(failed, _Limit(self._pid, *seconds), most)
        except BaseException:  # Ctrl-C too: what runs on would answer the next request
            self.end()
            raise
        self._midway = reply[0] == "rows" and reply[2]  # there is more
        if failed:
            raise Failed(failed[0])
        return reply, size

    def _reply_to_run(self, failed: list[str], limit: _Limit, most: int | None) -> tuple[Any, int]:
        try:
            return self._reply(failed, limit, most)
        finally:
            self.took += limit.taken
            self.waited += limit.passed

    def _reply_to_load(self, failed: list[str], most: int | None = None) -> tuple[Any, int]:
        with self._standing_still() as limit:
            return self._reply(failed, limit, most)

    @contextmanager
    def _standing_still(self) -> Iterator[_Limit]:
        """Yield a limit of what is left of ``patience``, and take from that what was waited."""
        limit = _Still(self._pid, math.inf, self.patience)
        try:
            yield limit
        finally:
            self.patience -= limit.still

    def _reply(self, failed: list[str], limit: _Limit, most: int | None = None) -> tuple[Any, int]:
        (size,) = LENGTH.unpack(self._read(LENGTH.size, limit))
        if most is not None and size > most:
            raise Full
        reply = pickle.loads(self._read(size, limit))
        if reply[0] == "full":
            raise Full
        if reply[0] == "failed":
            failed.append(reply[1])
        return reply, size

    def _send(self, request: tuple[Any, ...]) -> None:
        body = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        try:
            with self._standing_still() as limit:
                for part in (LENGTH.pack(len(body)), body):
                    self._write(memoryview(part), limit)
        except BrokenPipeError:
            raise Full from None  # it has ended: of what it had no memory for, or it was killed

    def _write(self, rest: memoryview, limit: _Limit) -> None:
        while rest:
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BlockingIOError:  # the pipe is full
                _wait(self._taking, limit)

    def _read(self, size: int, limit: _Limit) -> bytes:
        received = bytearray()
        while len(received) < size:
            _wait(self._replied, limit)
            some = os.read(self._replies, min(size - len(received), 1 << 20))
            if not some:
                raise Full
            received += some
        return bytes(received)

    # ---- its end -----------------------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether it runs, has answered all that it was asked, and is no fork's, which has the same pipes."""
        return not (self._ended or self._midway) and self._parent == os.getpid()

    def kill(self) -> None:
        """Kill the process; a thread that waits for a reply gets ``Full``."""
        with self._lock:
            if not self._ended and self._parent == os.getpid():
                with suppress(ProcessLookupError):  # it has ended by itself
                    os.kill(self._pid, signal.SIGKILL)

    def end(self) -> None:
        self._midway = True  # an interrupt may keep the rest from being done: it is done later, or by nobody
        if self._parent != os.getpid():  # a fork has locks that nobody will give back
            return
        with self._lock:
            self.kill()
            if not self._ended:
                self._ended = True
                os.close(self._requests)
                os.close(self._replies)
                with suppress(ChildProcessError):  # another has waited for it
                    os.waitpid(self._pid, 0)


class _Limit:
    """The seconds that a reply of a process may take from now on: computing, and in all."""

    def __init__(self, pid: int, seconds: float, patience: float) -> None:
        self._seconds, self._patience, self._pid = seconds, patience, pid
        self._began, self._computed = time.monotonic(), _computed(pid)

    @property
    def passed(self) -> float:
        return time.monotonic() - self._began

    @property
    def taken(self) -> float:
        """Return the seconds that count."""
        now = _computed(self._pid)
        if now is None or self._computed is None:
            return self.passed
        return min(self.passed, now - self._computed)

    @property
    def is_over(self) -> bool:
        return self.taken >= self._seconds or self.passed >= self._patience

    @property
    def wait(self) -> float:
        """Return seconds in which the reply does not become late, or not much."""
        return max(_LEAST_WAIT, min(self._seconds - self.taken, self._patience - self.passed))


class _Still(_Limit):
    """The seconds that a process may stand still from now on: those in which it computes do not count.

    Where nobody can tell them apart, none do.
    """

    @property
    def still(self) -> float:
        return self.passed - self.taken

    @property
    def is_over(self) -> bool:
        return self.still >= self._patience

    @property
    def wait(self) -> float:
        return max(_LEAST_WAIT, self._patience - self.still)


def _wait(ready: select.poll, limit: _Limit) -> None:
    """Wait until a pipe can be read or written, or raise ``Late``."""
    while not ready.poll(limit.wait * 1000):
        if limit.is_over:
            raise Late


def _computed(pid: int) -> float | None:
    """Return the seconds of processors that a process has used; None where that is not known."""
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the clock that clock_getcpuclockid names
    except OSError:  # it has ended
        return None


def does_not_start() -> DatabaseError:
    return refuse(
        "D601",
        "the process for post-processing does not start",
        help=f"{sys.executable or 'sys.executable'} must be a Python that may start another",
    )


def _folders() -> list[str]:
    """Return where the driver and NumPy are installed, which the child imports."""
    file, numpy = Path(duckdb.__file__), find_spec("numpy")
    folders = [file.parent.parent if file.stem == "__init__" else file.parent]
    if numpy is not None and numpy.origin is not None:
        folders.append(Path(numpy.origin).parent.parent)
    return [str(folder) for folder in dict.fromkeys(folders)]


def size_of(rows: list[tuple[Any, ...]]) -> int:
    """Return the bytes that ``run`` counts for rows."""
    return len(pickle.dumps(rows, pickle.HIGHEST_PROTOCOL)) + _held(rows)


def _held(rows: list[tuple[Any, ...]]) -> int:
    return len(rows) * (_ROW + _VALUE * len(rows[0]) if rows else 0)


# ---- those that wait for a connection ------------------------------------------------------------------

_IDLE: list[Process] = []
_MOST_IDLE = 2


def taken() -> Process:
    """Return a process without a database: an idle one, or a new one."""
    while _IDLE:
        with suppress(IndexError):  # another thread was faster
            idle = _IDLE.pop()
            if idle.usable:
                return idle
    return Process()


def left(process: Process) -> None:
    """Keep a process as idle for the next connection, or end it."""
    try:
        if process.usable and not process.worn and len(_IDLE) < _MOST_IDLE:
            process.close()
            _IDLE.append(process)
            return
    except (Full, Late):
        pass
    process.end()

"""The database files that this process has open, and checks that they have not changed.

    /data/clinic.duckdb     descriptor 7    held by three connections

DuckDB prevents writes by other processes with a POSIX lock. The system drops all such locks of a process on a
file as soon as the process closes any descriptor of that file. Another process may then write while dpsql is
connected, and DuckDB would read a mixture of old and new data. So this module opens a file once, reads it
with pread, and closes it with the last connection to it. Other code in this process may open and close the
file too (a copy, a checksum), and that is not visible here: the lock is taken again before each check, and
writes in between show in the file's state.

Locks are reentrant: the garbage collector or a signal handler may close a connection at any line below. A
connection is counted as a holder before the file is examined, so a close in between does not close the file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from dpsql.engines.contents import CHUNK, Content, Seen, chunks
from dpsql.errors import DatabaseError, refuse
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import duckdb

try:
    import fcntl
except ImportError:  # not there on Windows, whose locks belong to the handle
    fcntl = None  # type: ignore[assignment]  # no such module on Windows

_HEADERS = 3 * 4096
_IDENTITY = slice(124, 140)  # the identifier in the file's main header, drawn when the file was made


@dataclass(frozen=True, slots=True)
class State:
    """The state of the file at a path: its metadata, its headers, and the metadata of its write-ahead log."""

    file: Seen
    header: bytes
    log: Seen | None

    @property
    def identity(self) -> bytes:
        return self.header[_IDENTITY]


def seen(stat: os.stat_result) -> Seen:
    """Return the identifying metadata of a file; the change time cannot be set back by a program."""
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def log_of(path: Path) -> Path:
    """Return where DuckDB writes what is not in the database file yet."""
    return path.with_name(path.name + ".wal")


def with_log(path: Path) -> tuple[Seen | None, Seen | None]:
    """Return the metadata of a database file and of its log, None of what is not there."""
    target = path.resolve()
    return _seen_at(target), _seen_at(log_of(target))


def _seen_at(path: Path) -> Seen | None:
    try:
        return seen(path.stat())
    except FileNotFoundError:
        return None


class Held:
    """A database file, with a descriptor that is open as long as a connection holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opening = threading.RLock()
        """Locked while DuckDB opens the file: the first connection sets the configuration."""
        self.aside: duckdb.DuckDBPyConnection | None = None
        """The engine that has the file attached, where DuckDB would find another one by its path."""
        self.informed: duckdb.DuckDBPyConnection | None = None
        """The engine that has the file attached and plans with statistics (statistics_engine.py)."""
        self._holders: set[int] = set()
        self._descriptor: int | None = None
        self._state: State | None = None

    @property
    def is_open(self) -> bool:
        return bool(self._holders)

    @property
    def state(self) -> State:
        """The state when the first connection opened the file."""
        assert self._state is not None
        return self._state

    def take(self, holder: object) -> bool:
        """Add a connection; False if the file has changed since the first one. OSError if it is missing."""
        self._holders.add(id(holder))
        try:
            if len(self._holders) == 1:
                self._begin()
            elif not self._same():
                self.leave(holder)
                return False
        except BaseException:  # Ctrl-C too: let go, and raised again
            self.leave(holder)
            raise
        return True

    def contents(self) -> list[Content]:
        """Return what the file and its log hold, read without closing a descriptor of the file."""
        state, log = self.state, log_of(self.path)
        found = [Content(state.file, self._chunks)]
        return found if state.log is None else [*found, Content(state.log, lambda: chunks(log))]

    def _chunks(self) -> Iterator[bytes]:
        assert self._descriptor is not None
        place = 0
        while chunk := os.pread(self._descriptor, CHUNK, place):
            place += len(chunk)
            yield chunk

    def leave(self, holder: object, *, in_use: bool = False) -> None:
        """Remove a connection. ``in_use``: keep the descriptor, as a close would drop others' locks."""
        self._holders.discard(id(holder))
        if self._holders:
            return
        engines, self.aside, self.informed = (self.aside, self.informed), None, None
        for engine in engines:
            if engine is not None:
                engine.close()
        if not in_use and self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def stands(self) -> bool:
        """Whether the file is unchanged and locked against writes by other processes."""
        closed = self._descriptor is None  # DuckDB's own error on a closed connection says more
        return closed or (self.locked() and self._same())

    def _begin(self) -> None:
        if self._descriptor is None or seen(os.fstat(self._descriptor))[:2] != seen(self.path.stat())[:2]:
            previous, self._descriptor = self._descriptor, os.open(self.path, os.O_RDONLY)
            if previous is not None:
                os.close(previous)
        self._state = self._now()

    def _now(self) -> State:
        assert self._descriptor is not None
        header = os.pread(self._descriptor, _HEADERS, 0)
        return State(seen(os.fstat(self._descriptor)), header, _seen_at(log_of(self.path)))

    def _same(self) -> bool:
        try:
            return seen(self.path.stat()) == self.state.file and self._now() == self._state
        except OSError:
            return False

    def locked(self) -> bool:
        """Take DuckDB's lock again in case it was dropped: it belongs to the whole process."""
        if fcntl is None or self._descriptor is None:
            return True
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks
            pass
        return True


class _Files:
    """The files that this process has open, and inherited paths; DuckDB has one engine per path.

    ``before`` are files that were at a path before the one that is there now.
    """

    def __init__(self, inherited: frozenset[Path] = frozenset()) -> None:
        self.lock = threading.RLock()
        self.by_path: dict[Path, Held] = {}
        self.before: WeakSet[Held] = WeakSet()
        self.inherited = inherited

    def in_child(self) -> _Files:
        """Return the state of a forked child: no open files, and a new lock, free of the parent's threads."""
        files = (*self.by_path.values(), *self.before)
        open_now = {file.path for file in files if file.is_open}
        return _Files(self.inherited | open_now)


_FILES = _Files()


def hold(path: Path, holder: object) -> Held:
    """Return the file for a new connection, with links resolved; OSError if there is none.

    If the file is another one than those that are open, it is opened beside them: each connection has the
    version that was there when it was opened, or refuses.
    """
    with _FILES.lock:
        target = path.resolve()
        file = _FILES.by_path.setdefault(target, Held(target))
        if not file.take(holder):
            _FILES.before.add(file)
            file = _FILES.by_path[target] = Held(target)
            file.take(holder)
        return file


def let_go(file: Held, holder: object, *, in_use: bool = False) -> None:
    """Remove a connection that is closed, and lock again what its end unlocked: a file written in place."""
    with _FILES.lock:
        file.leave(holder, in_use=in_use)
        for other in (*_FILES.by_path.values(), *_FILES.before):
            if other.path == file.path and other.is_open:
                other.locked()


def is_aside(file: Held) -> bool:
    """Whether DuckDB has another engine for this path: one from before a fork, or of the data before."""
    with _FILES.lock:  # another thread may add a file while these are looked through
        older = any(other.path == file.path and other.is_open for other in _FILES.before)
    return file.aside is not None or file.path in _FILES.inherited or older


def changed(path: Path) -> DatabaseError:
    return refuse(
        "D602",
        f"{path.name} has changed since it was opened",
        label="what was debited stays debited; an answer needs one version of the data",
        help="open it again",
    )


def _begin_anew() -> None:
    global _FILES
    _FILES = _FILES.in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

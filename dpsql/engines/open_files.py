"""The database files that this process has open, and whether they still are what they were.

    /data/clinic.duckdb     descriptor 7    held by three connections

DuckDB keeps other processes from writing by a POSIX lock. The system drops all such locks of a process on a
file as soon as the process closes any descriptor of that file, whoever opened it and for what: another
process may then write under our connections, and DuckDB would read one half before and the other after. So
we open a file once, look at it by pread, and close it with the last connection to it. What others in this
process open and close (a copy of the file, a checksum) we cannot see: the lock is taken again before each
look, and what happened in between shows in the file's state.

Nothing here waits for its own thread: a connection may be closed by a collection of garbage or by a signal's
handler in the middle of any line below. Whoever opens a file counts as holding it before looking at it, so
that a close in between never takes it away.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpsql.errors import DatabaseError, refuse

try:
    import fcntl
except ImportError:  # not there on Windows, whose locks belong to the handle
    fcntl = None  # type: ignore[assignment]  # no such module on Windows

_HEADERS = 3 * 4096
_IDENTITY = slice(124, 140)  # the identifier in the file's main header, drawn when the file was made

Seen = tuple[int, int, int, int, int]
"""A file's place on the disk (device and number), its size, its time, and when anything of it changed."""


@dataclass(frozen=True, slots=True)
class State:
    """Which file stands at a path: what the system says of it, its headers, and its log if it has one."""

    file: Seen
    header: bytes
    log: Seen | None

    @property
    def identity(self) -> bytes:
        return self.header[_IDENTITY]


def seen(stat: os.stat_result) -> Seen:
    """The last of these cannot be put back, as the time of a file can."""
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


class Held:
    """A database file, with our descriptor of it as long as anybody holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opening = threading.RLock()
        """Held while DuckDB opens the file: the first connection sets what no later one may."""
        self._holders: set[int] = set()
        self._descriptor: int | None = None
        self._state: State | None = None

    @property
    def is_open(self) -> bool:
        return bool(self._holders)

    @property
    def state(self) -> State:
        """As it was when the first of the connections opened it."""
        assert self._state is not None
        return self._state

    def take(self, holder: object) -> bool:
        """One connection more, unless the file is not the others' any more; OSError where there is none."""
        self._holders.add(id(holder))
        try:
            if len(self._holders) == 1:
                self._begin()
            elif not self._same():
                self.leave(holder)
                return False
        except BaseException:
            self.leave(holder)
            raise
        return True

    def leave(self, holder: object, *, in_use: bool = False) -> None:
        """One connection less; ``in_use`` by others in this process, whose locks a close would drop."""
        self._holders.discard(id(holder))
        if not self._holders and not in_use and self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def stands(self) -> bool:
        """Whether the file is what it was, and nobody else may write into it from here on."""
        closed = self._descriptor is None  # what DuckDB says of a connection that is closed says more
        return closed or (self._locked() and self._same())

    def _begin(self) -> None:
        if self._descriptor is None or seen(os.fstat(self._descriptor))[:2] != seen(self.path.stat())[:2]:
            left, self._descriptor = self._descriptor, os.open(self.path, os.O_RDONLY)
            if left is not None:
                os.close(left)
        self._state = self._now()

    def _now(self) -> State:
        assert self._descriptor is not None
        header = os.pread(self._descriptor, _HEADERS, 0)
        log = None
        with suppress(FileNotFoundError):
            log = seen(self.path.with_name(self.path.name + ".wal").stat())
        return State(seen(os.fstat(self._descriptor)), header, log)

    def _same(self) -> bool:
        try:
            return seen(self.path.stat()) == self.state.file and self._now() == self._state
        except OSError:
            return False

    def _locked(self) -> bool:
        """The lock that DuckDB took, for it is one for the whole process: taken again if it was dropped."""
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
    """What this process holds, and what it inherited: DuckDB has one engine for a path in a process."""

    def __init__(self, inherited: frozenset[Path] = frozenset()) -> None:
        self.lock = threading.RLock()
        self.by_path: dict[Path, Held] = {}
        self.inherited = inherited

    def in_child(self) -> _Files:
        """A child holds nothing, and no thread of it has the lock that one of its parent's may have had."""
        open_now = {path for path, held in self.by_path.items() if held.is_open}
        return _Files(self.inherited | open_now)


_FILES = _Files()


def hold(path: Path, holder: object) -> Held:
    """The file for one connection more, wherever links lead; OSError where there is none, or D602."""
    with _FILES.lock:
        where = path.resolve()
        held = _FILES.by_path.setdefault(where, Held(where))
        if held.take(holder):
            return held
    title = f"{path.name} was replaced or changed while it was open"
    raise refuse("D602", title, help="close the other connections to it, then open it again")


def let_go(held: Held, holder: object, *, in_use: bool = False) -> None:
    with _FILES.lock:
        held.leave(holder, in_use=in_use)


def inherited(path: Path) -> bool:
    """Whether DuckDB's own engine for this path is one without threads, from before a fork."""
    return path in _FILES.inherited


def changed(path: Path) -> DatabaseError:
    return refuse(
        "D602",
        f"{path.name} has changed since it was opened",
        label="what was debited stays debited; answers are of one version of the data",
        help="open it again",
    )


def _begin_anew() -> None:
    global _FILES
    _FILES = _FILES.in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

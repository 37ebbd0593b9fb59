"""The folder of a process for private rows on the disk: owner-only, removed when the process ends.

    /tmp/dpsql-x1y2/          one for the process, since connections to one file share an engine
    /tmp/dpsql-x1y2/.held     locked as long as the process lives
    /tmp/dpsql-x1y2/rows/     DuckDB's spill folder; if it is missing DuckDB creates it, readable for all
    /tmp/dpsql-x1y2/...       folders of teachers, of Spark, of copies that are attacked

A process that is killed cannot remove its folder: the next process that needs one removes the unlocked
folders of its own user. A cleaner of temporary files may remove the folder of a process that lives for weeks:
so the folder is checked before each read, and created again if necessary. DuckDB creates no folder inside a
missing one, so rows are never written outside of a folder of this module.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpsql.errors import DatabaseError, refuse

try:
    import fcntl
except ImportError:  # not there on Windows, where a killed process leaves its folder
    fcntl = None  # type: ignore[assignment]  # no such module on Windows

_PREFIX = "dpsql-"
_HELD = ".held"
_ROWS = "rows"


class _Spill:
    """The folder of this process; a forked child creates its own."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.folder: str | None = None
        self.handle: int | None = None

    def rows(self) -> str:
        """Return the folder that DuckDB spills to, after a check that it exists and belongs to dpsql."""
        with self.lock:
            with _refusing():
                rows = os.path.join(self._own(), _ROWS)
                with suppress(FileExistsError):  # it is there already
                    os.mkdir(rows, 0o700)
            return rows

    def own(self) -> str:
        """Return the folder that holds the other, after the same check."""
        with self.lock, _refusing():
            return self._own()

    def _own(self) -> str:
        if self.folder is None:
            _sweep()
            self.folder = tempfile.mkdtemp(prefix=_PREFIX)
            atexit.register(_remove, self.folder, os.getpid())
        elif not os.path.lexists(self.folder):
            os.mkdir(self.folder, 0o700)
        if fcntl is not None and not _is_private(self.folder):
            raise _replaced(self.folder)
        self._hold(self.folder)
        return self.folder

    def _hold(self, folder: str) -> None:
        """Ensure that the folder holds this process's lock file; it is locked before it becomes visible."""
        if fcntl is None:
            return
        lock = os.path.join(folder, _HELD)
        if self.handle is not None and os.path.lexists(lock):
            if not os.path.samestat(os.lstat(lock), os.fstat(self.handle)):
                raise _replaced(folder)
            return
        new, previous = os.path.join(folder, "new"), self.handle
        self.handle = os.open(new, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        fcntl.flock(self.handle, fcntl.LOCK_EX)  # stays open until the process ends
        os.rename(new, lock)
        if previous is not None:
            os.close(previous)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise refuse(
            "D602",
            "there is no folder for rows that do not fit into memory",
            label=f"a folder in {tempfile.gettempdir()} cannot be created or used",
            help="let TMPDIR name a folder that you can write, and start again",
        ) from None


_SPILL = _Spill()


def spill_folder() -> str:
    """Return this process's folder for rows; D602 if it was replaced or opened to others."""
    return _SPILL.rows()


def own_folder() -> str:
    """Return this process's folder, for folders with private rows in it: nothing outlives a kill for long."""
    return _SPILL.own()


def _is_private(folder: str) -> bool:
    """Whether only this user can read and write the folder."""
    status = os.lstat(folder)
    closed = stat.S_IMODE(status.st_mode) == 0o700 and status.st_uid == os.geteuid()
    return stat.S_ISDIR(status.st_mode) and closed


def _replaced(folder: str) -> DatabaseError:
    return refuse(
        "D602",
        "the folder for rows that do not fit into memory is not private to this process any more",
        label=f"{folder} was replaced or opened to others; what was debited stays debited",
        help="let TMPDIR name a folder that nobody else can write, and start again",
    )


def _remove(folder: str, process: int) -> None:
    if process == os.getpid():  # a forked child that exits runs its parent's handlers too
        shutil.rmtree(folder, ignore_errors=True)


def _in_child() -> None:
    """Give up the parent's folder after a fork: it may be removed when the parent ends."""
    global _SPILL
    if _SPILL.handle is not None:
        os.close(_SPILL.handle)
    _SPILL = _Spill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def _sweep() -> None:
    """Remove the folders of this user that no process has locked."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _HELD, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # not a folder of dpsql, or already removed
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # its process is alive
            continue
        finally:
            os.close(lock)

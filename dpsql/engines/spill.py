"""Where DuckDB may put what does not fit into memory: owner-only, emptied when the process ends.

    /tmp/dpsql-x1y2/          one for the process, since connections to one file share an engine
    /tmp/dpsql-x1y2/.held     locked as long as the process lives
    /tmp/dpsql-x1y2/rows/     DuckDB's own; where it is missing DuckDB makes it, for everybody to read

A process that is killed cannot empty its folder. The lock tells: the next process that needs a folder
removes those of its own user that nobody holds. Nor does a folder last for ever: what tidies up temporary
files may take it from under a process that lives for weeks. So it is looked at before each reading, and made
again; and since DuckDB makes no folder within one that is not there, rows are in no other than ours.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import threading
from contextlib import suppress
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
    """The folder of this process. A child that is forked off makes one of its own, and leaves this one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.folder: str | None = None
        self.handle: int | None = None

    def rows(self) -> str:
        """What DuckDB is told, in a folder that is there and ours."""
        with self.lock:
            try:
                folder = self._own()
                rows = os.path.join(folder, _ROWS)
                with suppress(FileExistsError):
                    os.mkdir(rows, 0o700)
            except OSError:
                raise refuse(
                    "D602",
                    "there is no place for rows that do not fit into memory",
                    label=f"no folder can be made in {tempfile.gettempdir()}, or kept there",
                    help="let TMPDIR name a folder that you can write, and start again",
                ) from None
            return rows

    def _own(self) -> str:
        if self.folder is None:
            _sweep()
            self.folder = tempfile.mkdtemp(prefix=_PREFIX)
            atexit.register(_remove, self.folder, os.getpid())
        elif not os.path.lexists(self.folder):
            os.mkdir(self.folder, 0o700)
        if fcntl is not None and not _private(self.folder):
            raise _lost(self.folder)
        self._hold(self.folder)
        return self.folder

    def _hold(self, folder: str) -> None:
        """Our lock lies in the folder, or does so from now on; nobody ever sees it there unlocked."""
        if fcntl is None:
            return
        held = os.path.join(folder, _HELD)
        if self.handle is not None and os.path.lexists(held):
            if not os.path.samestat(os.lstat(held), os.fstat(self.handle)):
                raise _lost(folder)
            return
        new, left = os.path.join(folder, "new"), self.handle
        self.handle = os.open(new, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        fcntl.flock(self.handle, fcntl.LOCK_EX)  # open to the end
        os.rename(new, held)
        if left is not None:
            os.close(left)


_SPILL = _Spill()


def spill_folder() -> str:
    """This process's own folder for rows; D602 where somebody else has put another in its place."""
    return _SPILL.rows()


def _private(folder: str) -> bool:
    """Whether nobody else can have put anything there, or read it."""
    found = os.lstat(folder)
    closed = stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == os.geteuid()
    return stat.S_ISDIR(found.st_mode) and closed


def _lost(folder: str) -> DatabaseError:
    return refuse(
        "D602",
        "the folder for rows that do not fit into memory is not this process's own any more",
        label=f"{folder} was replaced or opened to others; what was debited stays debited",
        help="let TMPDIR name a folder that nobody else can write, and start again",
    )


def _remove(folder: str, process: int) -> None:
    if process == os.getpid():  # a child that ends in order runs what its parent has registered
        shutil.rmtree(folder, ignore_errors=True)


def _in_child() -> None:
    """The parent alone holds its folder: with its end the folder may be removed, whoever else goes on."""
    global _SPILL
    if _SPILL.handle is not None:
        os.close(_SPILL.handle)
    _SPILL = _Spill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def _sweep() -> None:
    """Folders of this user that no process holds any more are removed."""
    if fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            held = os.open(folder / _HELD, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # not one of ours, or gone by now
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # somebody holds it
            continue
        finally:
            os.close(held)

"""Where DuckDB may put what does not fit into memory: owner-only, emptied when the process ends.

    /tmp/dpsql-x1y2/          one for the process, since connections to one file share an engine
    /tmp/dpsql-x1y2/.held     locked as long as the process lives

A process that is killed cannot empty its folder. The lock tells: the next process that needs a folder
removes those of its own user that nobody holds.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # not there on Windows, where a killed process leaves its folder
    fcntl = None  # type: ignore[assignment]  # no such module on Windows

_PREFIX = "dpsql-"
_HELD = ".held"


@cache
def spill_folder() -> str:
    """This process's own folder."""
    _sweep()
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    if fcntl is not None:
        new = os.path.join(folder, "new")
        fcntl.flock(os.open(new, os.O_CREAT | os.O_RDWR, 0o600), fcntl.LOCK_EX)  # open to the end
        os.rename(new, os.path.join(folder, _HELD))  # nobody sees it unlocked
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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

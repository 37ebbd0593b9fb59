"""What was typed before: a file that only its owner reads.

``DPSQL_HISTORY`` names another file, or none at all if it is empty.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory


def history() -> History:
    """The history, kept for the next session if there is a place to keep it."""
    file = _file()
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError:
        return InMemoryHistory()
    return _Kept(str(file))


def _file() -> Path | None:
    named = os.environ.get("DPSQL_HISTORY")
    if named is not None:
        return Path(named) if named else None
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:  # nobody's home
        return None
    return Path(state) / "dpsql" / "history"


class _Kept(FileHistory):
    """A full disk is no reason to stop."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)

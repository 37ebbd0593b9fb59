"""The history of typed statements, in a file that only its owner can read.

``DPSQL_HISTORY`` names another file; if it is empty, the history is not kept.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory


def history() -> History:
    """Return the history: from its file if it can be written, else in memory."""
    file = _history_path()
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
    return _HistoryFile(str(file))


def _history_path() -> Path | None:
    path = os.environ.get("DPSQL_HISTORY")
    if path is not None:
        return Path(path) if path else None
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:  # the user has no home folder
        return None
    return Path(state) / "dpsql" / "history"


class _HistoryFile(FileHistory):
    """A history file that ignores errors when writing: a full disk must not end the session."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):  # a history that cannot be written ends no session
            super().store_string(string)

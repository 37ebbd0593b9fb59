"""The owner's log: a line of JSON for each login and each question, without values and without texts.

    {"time": "2026-11-23T13:50:00Z", "event": "question", "analyst": "ana", "address": "10.0.0.7",
     "database": "clinic", "code": "ok", "cost": 0.5, "ms": 31}

What was asked is in the ledger, as its policy keeps texts. Time is outside
the promise: the log is the owner's.
Test: tests/drivers/test_server.py
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from pathlib import Path

from dpsql.errors import InterfaceError


class Log:
    """Writes to a file that only its owner can read, or to standard error."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._handle = 2 if file is None else self._opened(file)

    def _opened(self, file: Path) -> int:
        try:
            return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InterfaceError(
                f"{file} cannot be written: {error.strerror}", help="name another: --log FILE"
            ) from None

    def write(self, event: str, **fields: object) -> None:
        """Write one line, with a single call: lines of several processes do not mix."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now.replace("+00:00", "Z"), "event": event, **fields}, ensure_ascii=True)
        try:
            os.write(self._handle, line.encode() + b"\n")
        except OSError:
            print("dpsql serve: the log cannot be written", file=sys.stderr)

    def reopen(self) -> None:
        """Go on in a new file of this name: the old one was rotated away."""
        if self._file is not None:
            fresh = self._opened(self._file)
            os.close(self._handle)
            self._handle = fresh

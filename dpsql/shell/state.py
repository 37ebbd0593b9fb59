"""What a session of the shell holds: the one object here that changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from dpsql.answer import Answer
from dpsql.dbapi import Connection
from dpsql.errors import Error
from dpsql.terminal import output

Complete: TypeAlias = Callable[[str], bool]
"""Whether a text is a command, or ends a statement."""
Typed: TypeAlias = Callable[[], str]
"""The next text that somebody typed; EOFError is the end."""


def _unread(text: str, name: str) -> None:
    raise AssertionError("the loop sets this")


@dataclass(slots=True)
class Shell:
    """``confirm`` None asks before no query. ``format`` and ``margins`` are how answers are shown.

    ``asked`` is the last query, ``last`` the last answer, ``refused`` the last refusal; ``out`` is the file
    that answers go to instead of the screen. ``read`` reads a text as if it had been typed (``name`` is
    what errors call it); ``depth`` counts the files that are being read, each up to a refusal.
    ``code`` is the exit code so far, ``done`` ends the session.
    """

    db: Connection
    interactive: bool = False
    confirm: float | None = 0.25
    timing: bool = False
    expanded: bool = False
    format: str = "table"
    margins: bool = False
    last: Answer | None = None
    asked: str = ""
    refused: Error | None = None
    out: Path | None = None
    read: Callable[[str, str], None] = _unread
    depth: int = 0
    code: int = 0
    done: bool = False

    @property
    def epsilon(self) -> float:
        """What a query costs that does not say."""
        return self.db.epsilon

    @property
    def timeout(self) -> float | None:
        return self.db.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self.db.timeout = seconds

    def width(self) -> int:
        """Columns for prose and boxes: the terminal's, or 80."""
        return output.width() if self.interactive else 80

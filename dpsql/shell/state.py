"""The state of a shell session, the only mutable object of this package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from dpsql.answer import Answer
from dpsql.dbapi.direct_calls import DirectCalls
from dpsql.errors import Error
from dpsql.lazy_dataclass import dataclass
from dpsql.terminal import output

Complete: TypeAlias = Callable[[str], bool]
"""Whether a text is a command or ends a statement."""
Typed: TypeAlias = Callable[[], str]
"""Return the next typed text; raises EOFError at the end."""


def _no_reader(text: str, name: str) -> None:
    raise AssertionError("the loop sets this")


@dataclass(slots=True)
class Shell:
    """The connection, the settings, and the last query, answer and refusal.

    If ``confirm`` is None, no query asks for confirmation. ``format`` and ``margins`` say how answers are
    shown. ``asked`` is the last query, ``last`` the last answer, ``refused`` the last refusal. ``out`` is the
    file for answers instead of the screen. ``read`` runs a text as if it were typed; error messages show its
    ``name``. ``depth`` counts the nested files that ``\\i`` is reading. ``code`` is the exit code so far;
    ``done`` ends the session.
    """

    db: DirectCalls
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
    read: Callable[[str, str], None] = _no_reader
    depth: int = 0
    code: int = 0
    done: bool = False

    @property
    def epsilon(self) -> float:
        """The epsilon of a query that sets none itself."""
        return self.db.epsilon

    @property
    def timeout(self) -> float | None:
        return self.db.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self.db.timeout = seconds

    def width(self) -> int:
        """Return the columns for prose and boxes: the terminal's, or 80 without a terminal."""
        return output.width() if self.interactive else 80

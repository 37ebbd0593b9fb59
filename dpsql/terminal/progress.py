"""How far a list of work has come, on one line of a terminal, and how long the rest may take.

[########............] 16/40  visits_by_ward  0:03 left
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from dpsql.render.digits import printable
from dpsql.terminal.output import width
from dpsql.terminal.waiting import lasting

_BAR = 20


class Progress:
    """A line on standard error that is written over; nothing where nobody sits there."""

    def __init__(self, total: int, done: int = 0) -> None:
        self.total, self.done = total, done
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._began, self._first = time.monotonic(), done
        self._name, self._since = "", self._began

    def at(self, name: str) -> None:
        """The work that begins now."""
        self._name, self._since = name, time.monotonic()
        self._show("")

    def tick(self) -> None:
        """It still lasts."""
        self._show(f"  {lasting(time.monotonic() - self._since)}")

    def _show(self, lasts: str) -> None:
        filled = _BAR * self.done // max(1, self.total)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self.done}/{self.total}"
        left = lasts + self._left()
        room = max(0, width() - len(bar) - len(left) - 6)  # and for the ^C that a terminal writes
        said = printable(self._name)
        said = said if len(said) <= room else said[: max(0, room - 3)] + "..."
        self._write(f"\r\x1b[K{bar}  {said}{left}")

    def ended(self) -> None:
        """One more is done."""
        self.done += 1

    def clear(self) -> None:
        """Make room for other words."""
        self._write("\r\x1b[K")

    def _left(self) -> str:
        here = self.done - self._first
        if not here:
            return ""
        seconds = round((time.monotonic() - self._began) / here * (self.total - self.done))
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return f"  {hours}:{minutes:02}:{seconds:02} left" if hours else f"  {minutes}:{seconds:02} left"

    def _write(self, text: str) -> None:
        if self._shown:
            with suppress(OSError):
                sys.stderr.write(text)
                sys.stderr.flush()

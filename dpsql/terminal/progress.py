"""A progress bar on one line of a terminal, with an estimate of the remaining time.

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
    """A progress line on standard error; it writes nothing if that is not a terminal."""

    def __init__(self, total: int, done: int = 0) -> None:
        self.total, self.done = total, done
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._began, self._first = time.monotonic(), done
        self._name, self._since = "", self._began

    def at(self, name: str) -> None:
        """Show the name of the work that starts now."""
        self._name, self._since = name, time.monotonic()
        self._show("")

    def tick(self) -> None:
        """Show for how long the current work has been running."""
        self._show(f"  {lasting(time.monotonic() - self._since)}")

    def _show(self, lasts: str) -> None:
        filled = _BAR * self.done // max(1, self.total)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {self.done}/{self.total}"
        left = lasts + self._left()
        room = max(0, width() - len(bar) - len(left) - 6)  # leaves room for the ^C that a terminal writes
        name = printable(self._name)
        name = name if len(name) <= room else name[: max(0, room - 3)] + "..."
        self._write(f"\r\x1b[K{bar}  {name}{left}")

    def ended(self) -> None:
        """Count one more piece of work as done."""
        self.done += 1

    def clear(self) -> None:
        """Clear the line for other output."""
        self._write("\r\x1b[K")

    def _left(self) -> str:
        done_here = self.done - self._first
        if not done_here:
            return ""
        seconds = round((time.monotonic() - self._began) / done_here * (self.total - self.done))
        minutes, seconds = divmod(seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return f"  {hours}:{minutes:02}:{seconds:02} left" if hours else f"  {minutes}:{seconds:02} left"

    def _write(self, text: str) -> None:
        if self._shown:
            with suppress(OSError):  # nobody looks at it any more
                sys.stderr.write(text)
                sys.stderr.flush()

"""Run work that can be interrupted, and show the elapsed time.

After two seconds a terminal shows the elapsed time, ``12.3 s``, until the work is done. It never shows
progress: that would depend on the number of private rows.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Protocol, TypeVar

T = TypeVar("T")


class Interruptible(Protocol):
    """A connection, or another object that can interrupt its work."""

    def interrupt(self) -> None: ...


PATIENCE, _STEP = 2.0, 0.1


def beside(db: Interruptible, step: Callable[[], T], tick: Callable[[], None] | None = None) -> T:
    """Run a step in a background thread and return its result, so that signals can interrupt the engine.

    During a long step, ``tick`` is called regularly; without it, a terminal shows the elapsed time.
    """
    outcome: list[T | BaseException] = []
    started, stopped, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        try:
            if not stopped.is_set():
                outcome.append(step())
        except BaseException as error:  # raised again in the thread that waits
            outcome.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=work, daemon=True).start()  # inside the try: a signal can stop it here
        with elapsed() if tick is None else nullcontext(tick) as show:
            wait = PATIENCE
            while not done.wait(wait):
                show()
                wait = _STEP
    except (KeyboardInterrupt, SystemExit):
        stopped.set()
        while started.is_set() and not done.wait(0.05):  # repeat: the step may be between two engine calls
            db.interrupt()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@contextmanager
def elapsed() -> Iterator[Callable[[], None]]:
    """Yield a function that shows the elapsed time on a terminal; clear the line at the end."""
    started, shown = time.monotonic(), ""
    visible = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))

    def tick() -> None:
        nonlocal shown
        if visible:
            shown = lasting(time.monotonic() - started)
            _write(f"\r{shown}")

    try:
        yield tick
    finally:
        if shown:
            _write(f"\r{' ' * len(shown)}\r")


def _write(text: str) -> None:
    with suppress(OSError):  # nobody looks at it any more
        sys.stderr.write(text)
        sys.stderr.flush()


def lasting(seconds: float) -> str:
    """Format a duration: 12.3 s, or 2 min 05 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s"

"""Work that a person waits for, and may stop.

After two seconds a terminal shows for how long already: ``12.3 s``, a line that is gone when the work is
done. What share of the work is done is not shown: the engine counts private rows.
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
    """A connection, or whatever else may be stopped in the middle of its work."""

    def interrupt(self) -> None: ...


PATIENCE, _STEP = 2.0, 0.1


def beside(db: Interruptible, step: Callable[[], T], tick: Callable[[], None] | None = None) -> T:
    """What a step gives, worked out beside us: an engine at work does not listen to signals, and we do.

    While it lasts long, ``tick`` is called now and then in the place of what a terminal shows.
    """
    outcome: list[T | BaseException] = []
    begun, stopped, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        try:
            if not stopped.is_set():
                outcome.append(step())
        except BaseException as error:
            outcome.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=work, daemon=True).start()  # in here: it may be stopped while it begins
        with elapsed() if tick is None else nullcontext(tick) as show:
            wait = PATIENCE
            while not done.wait(wait):
                show()
                wait = _STEP
    except (KeyboardInterrupt, SystemExit):
        stopped.set()
        while begun.is_set() and not done.wait(0.05):  # again and again: it may be between two engines
            db.interrupt()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@contextmanager
def elapsed() -> Iterator[Callable[[], None]]:
    """On a terminal, each call says for how long this has lasted; afterwards nothing of that is left."""
    started, shown = time.monotonic(), ""
    seen = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr))

    def tick() -> None:
        nonlocal shown
        if seen:
            shown = lasting(time.monotonic() - started)
            _write(f"\r{shown}")

    try:
        yield tick
    finally:
        if shown:
            _write(f"\r{' ' * len(shown)}\r")


def _write(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def lasting(seconds: float) -> str:
    """12.3 s, or 2 min 05 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s"

"""Interrupts and time limits of queries."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpsql.errors import Error, InterfaceError, refuse

if TYPE_CHECKING:
    from dpsql.session import Session


def interrupt(session: Session) -> None:
    session.engine.interrupt()
    session.sealed.interrupt()


@contextmanager
def limited(session: Session, limit: float | None) -> Iterator[None]:
    """Interrupt what runs for longer than ``limit`` seconds, and raise D603."""
    if limit is None:
        yield
        return
    if type(limit) not in (int, float) or not 0 < limit < math.inf:
        raise InterfaceError(
            "a time limit is a positive number of seconds", help="set timeout = 30, or None for no limit"
        )
    longest = min(limit, threading.TIMEOUT_MAX)
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(longest):
            late.set()
            while not done.wait(0.05):  # repeatedly: the query may be between two engines
                interrupt(session)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    except Error as error:
        if not late.is_set() or error.code != "D601":
            raise
        raise refuse(
            "D603",
            f"the query took longer than the time limit of {limit:g} seconds",
            label="what was debited stays debited",
            help="allow more time and ask the same query again: it is completed without paying twice",
        ) from None
    finally:
        done.set()
        watching.join()  # else it could interrupt the next query

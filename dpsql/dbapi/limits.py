"""Queries that are stopped: by somebody, or by the clock."""

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
    """Nothing runs for longer than ``limit`` seconds: what does is interrupted, and D603."""
    session.sealed.start()  # it gets ready while the query is read
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
            while not done.wait(0.05):  # again and again: it may be on its way from one engine to the other
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
        watching.join()  # or it would interrupt the next query

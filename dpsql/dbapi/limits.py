"""Queries that are stopped: by somebody, or by the clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpsql.errors import Error, refuse

if TYPE_CHECKING:
    from dpsql.session import Session


def interrupt(session: Session) -> None:
    session.engine.interrupt()
    session.sealed.interrupt()


@contextmanager
def limited(session: Session, limit: float | None) -> Iterator[None]:
    """Nothing runs for longer than ``limit`` seconds: what does is interrupted, and D603."""
    if limit is None:
        yield
        return
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(limit):
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

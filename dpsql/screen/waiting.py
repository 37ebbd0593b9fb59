"""Work that a person waits for, and may stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from dpsql.dbapi import Connection

T = TypeVar("T")


def beside(db: Connection, step: Callable[[], T]) -> T:
    """What a step gives, worked out beside us: an engine at work does not listen to signals, and we do."""
    outcome: list[T | BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(step())
        except BaseException as error:
            outcome.append(error)
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    try:
        done.wait()
    except KeyboardInterrupt:
        while not done.wait(0.05):  # again and again: it may be on its way from one engine to the other
            db.interrupt()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]

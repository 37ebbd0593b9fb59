"""Time limits: one thread for all, that interrupts what is late and nothing that runs after it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from drivers.endless import ENDLESS

import dpsql
from dpsql.dbapi.limits import _ONLY


def late(db: dpsql.Connection, limit: float) -> float:
    """Ask what takes longer than the limit; return the seconds."""
    db.timeout, began = limit, time.monotonic()
    with pytest.raises(dpsql.OperationalError, match="longer than the time limit") as caught:
        db.execute(ENDLESS)
    assert caught.value.code == "D603"
    return time.monotonic() - began


def test_each_ends_at_its_own_limit(clinic: Path) -> None:
    """A longer limit that was set before does not hide a shorter one; what follows is not interrupted."""
    with dpsql.connect(clinic) as one, dpsql.connect(clinic) as two:
        took = list[float]()
        long = threading.Thread(target=lambda: took.append(late(one, 3.0)))
        long.start()
        late(two, 0.3)
        two.timeout = 60.0
        for _ in range(20):
            assert two.execute("SELECT 7 AS n").rows == [(7,)]
        long.join()
        assert took[0] >= 3.0, "the other has not been interrupted"


def test_ended_queries_are_forgotten(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        db.timeout = 3600.0
        for _ in range(200):
            db.execute("SELECT 7 AS n")
        assert len(_ONLY.get()._waiting) < 20
        assert sum(thread.name == "dpsql-time-limits" for thread in threading.enumerate()) == 1


def test_a_fork_has_a_watch_of_its_own(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        late(db, 0.2)
    child = os.fork()
    if not child:
        code = 1
        try:
            with dpsql.connect(clinic) as db:
                late(db, 0.2)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0

"""What is found once in a version of the private data, cached by Spark for one session.

    kept(SELECT k, n ...)    a temporary view `found_0`, whose rows Spark computes once and keeps

Claim   what is read there are the rows of its SELECT over the files that were opened.
Proof   The view is the SELECT itself. Its rows are the same whenever Spark computes them: once, or again
        where it had no room to keep them; files are compared with their states around each job (engine.py).
        Spark reads cached rows in the place of every equal plan of any session, whatever its files hold by
        then: so each SELECT has a condition of its own, which no other session's plan has.
Test    grammar_tests/test_spark_fixtures.py, tests/privacy/test_spark.py, tests/privacy/test_spark_connect.py

Rows that are kept on a disk are encrypted, as all that Spark spills (settings.py).
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from typing import Any

_NUMBERS = itertools.count()


class CachedRows:
    """Those of one session of Spark, whose statements ``spelled`` prints."""

    def __init__(self, session: Any, spelled: Callable[[str], str]) -> None:
        self._session, self._spelled = session, spelled
        self._frames: dict[str, Any] = {}

    def kept(self, select: str, by: str = "") -> str:
        name = f"found_{next(_NUMBERS)}"
        assert not select.startswith("WITH "), "a statement with CTEs would not read the rows that are kept"
        own = f"SELECT * FROM ({select}) AS f WHERE '{uuid.uuid4()}' IS NOT NULL"
        frame = self._session.sql(self._spelled(own)).persist()
        frame.createTempView(name)
        self._frames[name] = frame
        return name

    def drop(self, *kept: str) -> None:
        for name in kept:
            self._session.catalog.dropTempView(name)
            self._frames.pop(name).unpersist()

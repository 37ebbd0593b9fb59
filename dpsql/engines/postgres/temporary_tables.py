"""What is found once in a version of the private data, in temporary tables of a session of PostgreSQL.

    CREATE TEMPORARY TABLE pg_temp."found 0" AS SELECT ... WITH NO DATA    empty: no row is read
    INSERT INTO pg_temp."found 0" SELECT ...                               in a snapshot that only reads
    COMMIT

Claim   a table that is kept holds the rows of its SELECT in the version of the data that was opened.
Proof   It is made empty, and filled by one statement in a snapshot of that version (engine.py), or not at
        all: then nothing names it. It is the session's own, and nothing else writes to it.
Test    tests/privacy/test_postgres_corrected.py

A standby, and a database where the role may have no temporary tables, keep nothing: the SELECT stands where
its rows are read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress

from dpsql.errors import DatabaseError


class InSession:
    """``define`` runs a statement in a transaction that may write, ``fill`` in a snapshot of the data."""

    def __init__(self, define: Callable[[str], None], fill: Callable[[str], None]) -> None:
        self._define, self._fill = define, fill
        self._numbers = itertools.count()

    def kept(self, select: str, by: str = "") -> str:
        name = f'pg_temp."found {next(self._numbers)}"'
        try:
            self._define(f"CREATE TEMPORARY TABLE {name} AS {select} WITH NO DATA")
            if by:  # nothing tells the planner how many rows there are: it may join them in nested loops
                self._define(f"CREATE INDEX ON {name} ({by})")
            self._fill(f"INSERT INTO {name} {select}")
        except BaseException:  # Ctrl-C too: dropped, and raised again
            with suppress(DatabaseError):  # it has ended with its connection
                self.drop(name)
            raise
        return name

    def drop(self, *kept: str) -> None:
        for name in kept:
            self._define(f"DROP TABLE IF EXISTS {name}")


class AsWritten:
    """Keeps nothing."""

    def kept(self, select: str, by: str = "") -> str:
        return f"({select})"

    def drop(self, *kept: str) -> None:
        return None

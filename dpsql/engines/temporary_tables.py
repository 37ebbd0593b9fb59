"""Tables of a session's own, for what is found once in a version of the private data.

    kept(SELECT k, n ...)    temp.main."found 0"    filled once, read as the table that is returned here

Such tables are exact and private: they belong to the engine's own session, which drops them at its end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

_NUMBERS = itertools.count()


class Dropping(Protocol):
    def drop(self, *kept: str) -> None:
        """Let go of rows that were kept."""
        ...


class TemporaryTables(Dropping, Protocol):
    """How one engine keeps them."""

    def kept(self, select: str, by: str = "") -> str:
        """Keep the rows of a SELECT, looked ``by`` a column; return what stands for them before a name."""
        ...


@contextmanager
def dropped_if_stopped(tables: Dropping, kept: str) -> Iterator[None]:
    """Let go of rows if what reads them fails or is interrupted: nothing names them yet."""
    try:
        yield
    except BaseException:  # Ctrl-C too: dropped, and raised again
        with suppress(
            Exception
        ):  # what stopped it is raised, whatever dropping says: the engine may be closed
            tables.drop(kept)
        raise


class NamedTables:
    """Tables of DuckDB by their names. ``run`` runs a statement.

    A table whose CREATE or DROP was interrupted may be there, and is dropped with the next one.
    """

    def __init__(self, run: Callable[[str], object]) -> None:
        self._run = run
        self._unread: list[str] = []

    def make(self, name: str, select: str) -> None:
        self._drop_unread()
        self._unread.append(name)
        self._run(f"CREATE TEMP TABLE {name} AS {select}")
        self._unread.remove(name)

    def drop(self, *kept: str) -> None:
        self._unread += kept
        self._drop_unread()

    def _drop_unread(self) -> None:
        while self._unread:
            self._run(f"DROP TABLE IF EXISTS {self._unread[-1]}")
            self._unread.pop()


class InOwnInstance(NamedTables):
    """Those of DuckDB, whose instance is the session's own."""

    def kept(self, select: str, by: str = "") -> str:
        name = f'temp.main."special {next(_NUMBERS)}"'
        self.make(name, select)
        return name

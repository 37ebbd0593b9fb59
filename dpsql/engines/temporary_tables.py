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


class TemporaryTables(Protocol):
    """How one engine keeps them."""

    def kept(self, select: str, by: str = "") -> str:
        """Keep the rows of a SELECT, looked ``by`` a column; return what stands for them before a name."""
        ...

    def drop(self, kept: str) -> None:
        """Let go of rows that were kept."""
        ...


@contextmanager
def dropped_if_stopped(tables: TemporaryTables, kept: str) -> Iterator[None]:
    """Let go of rows if what reads them fails or is interrupted: nothing names them yet."""
    try:
        yield
    except BaseException:  # Ctrl-C too: dropped, and raised again
        with suppress(
            Exception
        ):  # what stopped it is raised, whatever dropping says: the engine may be closed
            tables.drop(kept)
        raise


class InOwnInstance:
    """Those of DuckDB, whose instance is the session's own. ``run`` runs a statement."""

    def __init__(self, run: Callable[[str], object]) -> None:
        self._run = run

    def kept(self, select: str, by: str = "") -> str:
        name = f'temp.main."special {next(_NUMBERS)}"'
        self._run(f"CREATE TEMP TABLE {name} AS {select}")
        return name

    def drop(self, kept: str) -> None:
        self._run(f"DROP TABLE {kept}")

"""The fetching half of a cursor: rows one by one, in batches, or as frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from dpsql.answer import Answer
from dpsql.dbapi.guard import number_of
from dpsql.errors import InterfaceError

Description = tuple[tuple[str, str, None, None, None, None, None], ...]


class Rows(ABC):
    """Returns the rows of ``answer`` in pieces; ``answer`` holds all rows and margins."""

    lastrowid = None
    """PEP 249: None, because rows have no ids."""

    def __init__(self) -> None:
        self.arraysize = 1
        self.answer: Answer | None = None
        self._at = 0

    @property
    def description(self) -> Description | None:
        if self.answer is None:
            return None
        pairs = zip(self.answer.columns, self.answer.types, strict=True)
        return tuple((name, sql, None, None, None, None, None) for name, sql in pairs)

    @property
    def rowcount(self) -> int:
        return -1 if self.answer is None else len(self.answer.rows)

    @property
    def rownumber(self) -> int | None:
        return None if self.answer is None else self._at

    @abstractmethod
    def _usable(self) -> None:
        """Raise InterfaceError if the cursor or the connection is closed."""

    def _answered(self) -> Answer:
        self._usable()
        if self.answer is None:
            raise InterfaceError("there is no answer to fetch from", help="call execute first")
        return self.answer

    def fetchone(self) -> tuple[Any, ...] | None:
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        rows = self._answered().rows
        most = number_of(self.arraysize if size is None else size)
        rows = rows[self._at : self._at + most]
        self._at += len(rows)
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.fetchmany(len(self._answered()))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """PEP 249 allows this to do nothing."""
        self._usable()

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """PEP 249 allows this to do nothing."""
        self._usable()

    # ---- the whole answer, regardless of fetched rows ----------------------------------------------

    def df(self, *, margins: bool = False, totals: str | None = None) -> Any:
        """Return the answer as a pandas DataFrame."""
        return self._answered().df(margins=margins, totals=totals)

    def pl(self, *, margins: bool = False, totals: str | None = None) -> Any:
        """Return the answer as a polars DataFrame."""
        return self._answered().pl(margins=margins, totals=totals)

    def arrow(self, *, margins: bool = False, totals: str | None = None) -> Any:
        """Return the answer as a pyarrow Table."""
        return self._answered().arrow(margins=margins, totals=totals)

    def fetchnumpy(self, *, margins: bool = False) -> dict[str, Any]:
        """Return the answer as numpy arrays, by column."""
        return self._answered().fetchnumpy(margins=margins)

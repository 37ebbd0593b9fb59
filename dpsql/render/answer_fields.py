"""What an answer says: rows, what they cost, what remains, how far the noise reaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class AnswerFields:
    """The values of an answer.

    ``margins`` holds one tuple per row: the 95 % half-width of each value, None where a value carries
    no noise, and where nobody knows how far it is off. The columns of which this is so because they rest on
    other noised numbers are ``open``. ``repeated`` says that the ledger served an answer that was paid for
    before.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    margins: list[tuple[float | None, ...]]
    cost: float
    remaining: float
    repeated: bool = False
    note: str = ""
    open: tuple[int, ...] = ()

    def noised(self, at: int) -> bool:
        """Whether a column is known to carry noise."""
        return at in self.open or any(each[at] is not None for each in self.margins)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

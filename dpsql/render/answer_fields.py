"""The fields of an answer: its rows, their margins, the cost and the remaining budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class AnswerFields:
    """The values of an answer.

    ``margins`` has one tuple per row: the 95 % half-width of each value, or None if the value has no noise
    or an unknown margin. ``open`` lists the columns with unknown margins because they are computed from
    noised numbers; ``without`` lists those that are computed in a way that gives no margin. ``totals`` are
    the keys, by row and column, that are NULL because the row is a total over them. ``repeated`` if the
    answer is a repeat from the ledger. ``paid_as`` names what paid for an answer that costs nothing.
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
    without: tuple[int, ...] = ()
    totals: frozenset[tuple[int, int]] = frozenset()
    paid_as: str = ""

    def noised(self, at: int) -> bool:
        """Whether a column has noise."""
        return at in self.open or any(row[at] is not None for row in self.margins)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

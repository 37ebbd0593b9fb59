"""Exact tables, released tables, answers: before noise, after it, and for the analyst."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dpsql.ir.column import Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


Weights: TypeAlias = "dict[tuple[Value, ...], tuple[NDArray[np.int64], NDArray[np.int64]]]"
"""Of each group the places where something lies, in order, and how much."""


class ExactTable:
    """Exact sums in grid steps, one row per group, and the weights of details: hot.

    It shows nothing and cannot be pickled.
    """

    __slots__ = ("details", "groups", "sums")

    def __init__(
        self,
        groups: list[tuple[Value, ...]],
        sums: NDArray[np.int64],
        details: tuple[Weights, ...] = (),
    ) -> None:
        assert sums.shape[0] == len(groups)
        self.groups = groups
        self.sums = sums  # one row per group, one column per statistic
        self.details = details

    def __repr__(self) -> str:
        return "ExactTable(not shown)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an ExactTable is never stored")


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedTable:
    """Noisy sums in grid steps, then the details' numbers, sorted by their keys. Anybody may see it."""

    groups: list[tuple[Value, ...]]
    sums: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What the analyst gets: rows, what they cost, what remains, how far the noise reaches.

    ``margins`` holds one tuple per row: the 95 % half-width of each value, None where a value carries
    no noise. ``repeated`` says that the ledger served an answer that was paid for before.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    margins: list[tuple[float | None, ...]]
    cost: float
    remaining: float
    repeated: bool = False
    note: str = ""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def df(self) -> Any:
        """The rows as a pandas DataFrame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(self.columns))

    def arrow(self) -> Any:
        """The rows as a pyarrow Table (needs pyarrow)."""
        import pyarrow

        columns = [[row[i] for row in self.rows] for i in range(len(self.columns))]
        return pyarrow.table(columns, names=list(self.columns))

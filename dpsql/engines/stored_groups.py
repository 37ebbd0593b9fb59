"""The private groups of an exact table, kept by the engine until a release shows some of them.

    8,000,000 URLs, 900 of them beyond the threshold    sums as arrays; 900 rows become Python objects

The sums are fetched as arrays, in the order of the rows; the keys of the rows that are shown are asked for
afterwards. The temporary table is the engine's own, and is dropped by the first such measure after nobody
holds its groups any more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeAlias, overload

from dpsql.detail_kinds import Arrays, Rows
from dpsql.engines.measure_sql import TOTAL
from dpsql.errors import DatabaseError, was_interrupted
from dpsql.ir.column import Value
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ExactGroups
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Group: TypeAlias = tuple[Value, ...]
RowsOf: TypeAlias = "Callable[[str], Rows]"
ArraysOf: TypeAlias = "Callable[[str], Arrays]"

FEW = 10_000
"""So many rows are asked for by their numbers; of more, all are read, in parts of ``PART`` rows."""

PART = 100_000

AGAIN = 100
"""Reads that are made again: of each thread that interrupts, one began before noise was drawn at most."""

_NUMBERS = itertools.count()


class StoredGroups(NotShown, ExactGroups):
    """Groups in the order of their sums."""

    __slots__ = ("_dropped", "_group", "_keys", "_length", "_name", "_rows")

    def __init__(
        self,
        name: str,
        keys: str,
        length: int,
        rows: RowsOf,
        group: Callable[[Sequence[object]], Group],
        dropped: list[str],
    ) -> None:
        self._name, self._keys, self._length = name, keys, length
        self._rows, self._group, self._dropped = rows, group, dropped

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Group: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Group]: ...
    def __getitem__(self, place: int | slice) -> Group | Sequence[Group]:
        if isinstance(place, slice):
            return self.taken(range(self._length)[place])
        return self.taken((range(self._length)[place],))[0]

    def __iter__(self) -> Iterator[Group]:
        for first in range(0, self._length, PART):
            within = f"rowid >= {first} AND rowid < {first + PART}"
            for row in self._read(f"SELECT {self._keys} FROM {self._name} WHERE {within} ORDER BY rowid"):
                yield self._group(row)

    def taken(self, places: Sequence[int]) -> list[Group]:
        if len(places) > FEW:
            wanted = frozenset(places)
            return [group for place, group in enumerate(self) if place in wanted]
        if not places:
            return []
        listed = ", ".join(map(str, places))
        named = f"SELECT {self._keys} FROM {self._name} WHERE rowid IN ({listed}) ORDER BY rowid"
        return [self._group(row) for row in self._read(named)]

    def _read(self, sql: str) -> Rows:
        """Read after noise was drawn: an interruption that began before is not heard (session/drawing.py)."""
        for _ in range(AGAIN):
            try:
                return self._rows(sql)
            except DatabaseError as error:
                if not was_interrupted(error):
                    raise
        return self._rows(sql)

    def __del__(self) -> None:
        self._dropped.append(self._name)


def new_name() -> str:
    """Return the name of a temporary table that this process has not used."""
    return f'temp.main."groups {next(_NUMBERS)}"'


class Store(Protocol):
    """Keeps the groups of measures."""

    def stored(
        self, sql: str, planned: MeasurePlan, group: Callable[[Sequence[object]], Group]
    ) -> tuple[StoredGroups, NDArray[np.int64]]:
        """Run the statement of a measure's sums, and return its groups and their sums."""
        ...


@dataclass(slots=True)
class GroupStore:
    """The stored groups of one engine: ``run`` and ``arrays`` run a measure's statements, ``rows`` others."""

    run: RowsOf
    arrays: ArraysOf
    rows: RowsOf
    _dropped: list[str] = field(default_factory=list)

    def stored(
        self, sql: str, planned: MeasurePlan, group: Callable[[Sequence[object]], Group]
    ) -> tuple[StoredGroups, NDArray[np.int64]]:
        """Run the statement of a measure's sums, and return its groups and their sums."""
        while self._dropped:
            dropped = self._dropped[-1]
            self.run(f"DROP TABLE IF EXISTS {dropped}")
            self._dropped.remove(dropped)
        name, sums = new_name(), range(len(planned.measure.statistics))
        within = (
            f"CAST(greatest(least(total{i}, {TOTAL}::HUGEINT), -{TOTAL}::HUGEINT) AS BIGINT) AS s{i}"
            for i in sums
        )
        try:
            self.run(f"CREATE TEMP TABLE {name} AS {sql}")
            columns = self.arrays(f"SELECT {', '.join(within)} FROM {name} ORDER BY rowid")
            table = np.stack([np.asarray(columns[f"s{i}"], np.int64) for i in sums], axis=1)
        except BaseException:  # Ctrl-C too: nothing names the table yet; raised again
            self._dropped.append(name)
            raise
        keys = ", ".join(f"k{i}" for i in range(len(planned.keys)))
        return StoredGroups(name, keys, len(table), self.rows, group, self._dropped), table

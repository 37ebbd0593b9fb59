"""Exact tables and released tables: before noise, and after it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from dpsql.ir.column import Value
from dpsql.ir.not_shown import NotShown
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


Mass: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"
"""The places with weight, in order, and their weights."""

Masses: TypeAlias = "Mapping[tuple[Value, ...], Mass]"
"""Those of each group."""


class ExactGroups(Sequence[tuple[Value, ...]]):
    """The groups of an exact table where they are: only those that are taken become Python objects."""

    __slots__ = ()

    @abstractmethod
    def taken(self, places: Sequence[int]) -> list[tuple[Value, ...]]:
        """Return the groups at these places, which ascend."""


class CodedGroups(NotShown, ExactGroups):
    """Groups as codes of their keys' values: a row of the array each."""

    __slots__ = ("codes",)

    def __init__(self, codes: NDArray[np.int32]) -> None:
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, place: int) -> tuple[Value, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[Value, ...]]: ...
    def __getitem__(self, place: int | slice) -> tuple[Value, ...] | Sequence[tuple[Value, ...]]:
        if isinstance(place, slice):
            return CodedGroups(self.codes[place])
        return tuple(self.codes[place].tolist())

    def taken(self, places: Sequence[int]) -> list[tuple[Value, ...]]:
        return [tuple(codes) for codes in self.codes[list(places)].tolist()]


class ExactTable(NotShown):
    """Exact sums in grid steps, one row per group, and the weights of details: private."""

    __slots__ = ("details", "groups", "sums")

    def __init__(
        self,
        groups: Sequence[tuple[Value, ...]],
        sums: NDArray[np.int64],
        details: tuple[Masses, ...] = (),
    ) -> None:
        assert sums.shape[0] == len(groups)
        self.groups = groups
        self.sums = sums  # one row per group, one column per statistic
        self.details = details


@dataclass(frozen=True, slots=True)
class Rows:
    """Released numbers as the ledger has them: a list for each group, of ``width`` numbers."""

    numbers: list[list[int]]
    width: int


class ReleasedTable:
    """Noisy sums in grid steps, then the details' numbers, sorted by group key: public.

    Those that the ledger stored are ``stored`` until somebody asks for an array.
    """

    __slots__ = ("_sums", "groups")

    def __init__(self, groups: Sequence[tuple[Value, ...]], sums: NDArray[np.int64] | Rows) -> None:
        self.groups = groups
        self._sums = sums

    @property
    def stored(self) -> Rows | None:
        return self._sums if isinstance(self._sums, Rows) else None

    @property
    def sums(self) -> NDArray[np.int64]:
        if isinstance(self._sums, Rows):
            made = np.array(self._sums.numbers, dtype=np.int64)
            self._sums = made.reshape(len(self.groups), self._sums.width)
        return self._sums

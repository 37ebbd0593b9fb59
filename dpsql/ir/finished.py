"""A column of a released table: what the analyst asked for, and how far the noise reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, TypeAlias, overload

from dpsql.ir.column import Type, Value
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Floats: TypeAlias = "NDArray[np.float64]"


_WIDE = Context(prec=80)
_HELD = 2**53
"""DOUBLEs hold all whole numbers up to this one; of powers of ten, those up to ``_TENS``."""
_TENS = 22


class Decimals(Sequence["Value"]):
    """Decimals of one scale as ``units`` of their last digit, which become objects when they are read."""

    __hash__ = None  # type: ignore[assignment]  # it is compared with lists

    def __init__(self, units: NDArray[np.int64], scale: int) -> None:
        self.units, self.scale = units, scale
        self._read: list[Decimal] | None = None

    def __len__(self) -> int:
        return len(self.units)

    @overload
    def __getitem__(self, place: int) -> Value: ...
    @overload
    def __getitem__(self, place: slice) -> Decimals: ...
    def __getitem__(self, place: int | slice) -> Value | Decimals:
        if isinstance(place, slice):
            return Decimals(self.units[place], self.scale)
        return self._values()[place]

    def __iter__(self) -> Iterator[Decimal]:
        return iter(self._values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._values() == list(other)

    def __repr__(self) -> str:
        return repr(self._values())

    def floats(self) -> Floats:
        """Return the nearest DOUBLE to each: what ``float`` returns."""
        if self.scale <= _TENS and len(self) and max(map(abs, self.ends())) <= _HELD:
            near: Floats = self.units / 10.0**self.scale
            return near
        import numpy as np

        return np.array([float(value) for value in self], dtype=np.float64)

    def ends(self) -> tuple[int, int]:
        return int(self.units.min()), int(self.units.max())

    def _values(self) -> list[Decimal]:
        if self._read is None:
            self._read = [Decimal(number).scaleb(-self.scale, _WIDE) for number in self.units.tolist()]
        return self._read


@dataclass(frozen=True, slots=True)
class Finished:
    """The values, with the half-width of each and the ends of its interval.

    These are NaN where there are none. A half-width is infinite where nobody knows how far a value is off:
    so it stays the widest wherever several become one.
    """

    name: str
    type: Type
    values: Sequence[Value]
    margins: Floats | None
    low: Floats | None = None
    high: Floats | None = None

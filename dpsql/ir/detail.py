"""Details: per-group measurements other than sums, such as weights over a public grid.

Every kind is a folder of ``dpsql/details``, with its class in it. ``BoundSearch`` alone is here: a mechanism
and the plans of bounds are made of its ladder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass


class Detail(ABC):
    """Weights on places, from which a mechanism of its own releases ``width`` numbers for each group.

    ``kind`` names the folder that answers for it
    (dpsql/detail_kinds.py). ``written`` is a tag and the fields that tell two apart, as they were first
    written: ledgers know plans by them (dpsql/plan/written_form.py).
    """

    __slots__ = ()

    kind: ClassVar[str]
    written: ClassVar[str]

    @property
    @abstractmethod
    def width(self) -> int: ...

    @property
    def numbers_read(self) -> tuple[Scalar, Scalar | None] | None:
        """The argument and the condition, if all that is done with numbers is to put them into even bins."""
        return None


@dataclass(frozen=True, slots=True)
class BoundSearch(Detail):
    """Distance of each unit's values from zero, on a ladder of limits between 2^first and 2^last.

    A unit counts at one place of the ladder. Without an argument, the value is its number of rows.
    """

    kind: ClassVar[str] = "bound_search"
    written: ClassVar[str] = "Reaches argument first last signed"

    argument: Scalar | None
    first: int
    last: int
    signed: bool

    @property
    def width(self) -> int:
        return 1

"""Bounds that nobody declares: a column's range, a table's rows per unit, or the clip that fits a measure.

MissingBound("visits", "cost")    visits.cost has no declared range
MissingBound("calls", "")         calls has no declared number of rows per unit
MissingClip("clip 1f6c...")       the query asks for a clip that is chosen on its own rows
NeededBounds((...), refusal)      a query needs these bounds, or it gets this refusal
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple, TypeAlias

from dpsql.errors import Error
from dpsql.ir.detail import Detail
from dpsql.ir.relation import Relation
from dpsql.lazy_dataclass import dataclass


class MissingBound(NamedTuple):
    """A private table and one of its columns; '' stands for the table's rows per unit."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}" if self.column else f"rows_per_unit of {self.table}"

    @property
    def said(self) -> str:
        return f"range of {self}" if self.column else str(self)


@dataclass(frozen=True, slots=True)
class MissingClip:
    """The clip of a measure, in grid steps; two measures of one ``name`` share it.

    ``detail`` is its search over the measure's relation. ``one`` is the most of one row. Where nothing is
    found, ``otherwise`` is the clip.
    """

    name: str
    relation: Relation = field(compare=False, repr=False)
    detail: Detail = field(compare=False, repr=False)
    one: int = field(compare=False)
    otherwise: int = field(compare=False)
    shown: str = field(compare=False)

    def __str__(self) -> str:
        return f"the clip of {self.shown}"

    @property
    def said(self) -> str:
        return f"clip of {self.shown}"


Missing: TypeAlias = MissingBound | MissingClip


@dataclass(frozen=True, slots=True)
class Bound:
    """A found bound, in place of a missing one: about all units lie between ``low`` and ``high``.

    ``found`` is the time when it was found, or '' while the search is still to be run. ``strength`` is the
    epsilon of the choice. ``paid`` is the price of this bound and all that were found with it. ``asker`` is a
    digest of the query that paid. If not ``is_known``, the values are the widest that the search could find.
    """

    missing: Missing
    low: int | float
    high: int | float
    found: str = ""
    strength: float = 0.0
    paid: float = 0.0
    asker: str = ""
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class NeededBounds:
    """The bounds that one place of a query needs, and the refusal if they may not be found."""

    bounds: tuple[Missing, ...]
    refusal: Error

    @classmethod
    def of_all(cls, needed: Iterable[NeededBounds]) -> NeededBounds:
        """Combine the needs of several places; keep the refusal of the first."""
        places = tuple(needed)
        bounds = dict.fromkeys(bound for place in places for bound in place.bounds)
        return cls(tuple(bounds), places[0].refusal)

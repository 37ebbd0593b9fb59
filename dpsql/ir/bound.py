"""What the policy leaves out and a query may need: a column's range, or how many rows a unit has.

MissingBound("visits", "cost")    no range is declared of visits.cost
MissingBound("calls", "")         nothing says how many rows one unit has in calls
NeededBounds({...}, refusal)      a query needs these, or it gets this refusal
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dpsql.errors import Error


class MissingBound(NamedTuple):
    """A private table and a column of it; '' stands for its number of rows per unit."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}" if self.column else f"rows_per_unit of {self.table}"

    @property
    def said(self) -> str:
        return f"range of {self}" if self.column else str(self)


@dataclass(frozen=True, slots=True)
class Bound:
    """A missing bound made good: about all units lie within.

    ``found`` is when, '' while it is still to be found.
    ``strength`` is the epsilon of the choice, ``paid`` what this and all that was found with it cost, and
    ``asker`` a digest of the query that paid. Where it ``is_known`` no better, it is the widest that could
    have been found.
    """

    missing: MissingBound
    low: int | float
    high: int | float
    found: str = ""
    strength: float = 0.0
    paid: float = 0.0
    asker: str = ""
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class NeededBounds:
    """What one place of a query needs, and the refusal that it gets where that may not be found."""

    bounds: tuple[MissingBound, ...]
    refusal: Error

    @classmethod
    def of_all(cls, needed: Iterable[NeededBounds]) -> NeededBounds:
        """What several places need together; the first one's refusal stands for them."""
        places = tuple(needed)
        bounds = dict.fromkeys(bound for each in places for bound in each.bounds)
        return cls(tuple(bounds), places[0].refusal)

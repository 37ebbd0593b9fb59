"""A private view: counts of all combinations of some columns, bought once, answered from without end.

CREATE PRIVATE VIEW census WITH (epsilon = 0.5, ranges = (age)) AS SELECT age, sex, ward FROM patients

columns    age, sex, ward, and n: how many rows have these values
ranges     ordered columns: the noise is made for all their ranges; elsewhere for values and totals
sums       columns that are summed over the rows of each combination, each measured at a share of its own
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

METHODS = ("mwem", "mst")
"""How synthetic rows are made (mechanisms/synthetic)."""

COUNT = "n"
"""The column with the number of rows."""


def with_ranges(dimensions: Sequence[str], ranges: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a view: the ranges that are no dimensions first."""
    folded = [name.casefold() for name in dimensions]
    return (*(name for name in ranges if name.casefold() not in folded), *dimensions)


@dataclass(frozen=True, slots=True)
class PrivateView:
    """What is said of a private view beside its query.

    ``columns`` are those whose combinations are counted: all of its query where none are named. With a
    ``method`` of ``METHODS``, synthetic rows are made in place of all counts. ``epsilon``
    is the price, the policy's where it is None. ``names_at`` is where its statement names columns last.
    """

    name: str
    ranges: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    epsilon: float | None = None
    method: str | None = None
    sums: tuple[str, ...] = ()
    names_at: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        folded = [name.casefold() for name in self.columns]
        if folded and any(name.casefold() not in folded for name in self.ranges):
            raise ValueError("a range is one of the columns")
        if self.method is not None and self.method not in METHODS:
            raise ValueError("a method is one of those known")
        if any(name.casefold() in folded for name in self.sums):
            raise ValueError("a column is summed, or its values are counted")

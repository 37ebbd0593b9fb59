"""The bound that covers most units, without noise: for the owner's audit only."""

from __future__ import annotations

from dpsql.details.bound_search.release import units_at
from dpsql.ir.detail import BoundSearch
from dpsql.ir.table import Masses
from dpsql.mechanisms.found_range import covering


def coarseness(detail: BoundSearch) -> float:
    """Return 0: a bound is not a number of an answer."""
    return 0.0


def covering_range(ladder: BoundSearch, weights: Masses) -> int:
    """Return the index of the narrowest candidate that covers the most units."""
    return covering(ladder, units_at(ladder, weights))

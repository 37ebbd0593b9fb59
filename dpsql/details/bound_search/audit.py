"""The bound that holds most units, without noise: for the owner's audit alone."""

from __future__ import annotations

from dpsql.details.bound_search.release import units_at
from dpsql.ir.detail import BoundSearch
from dpsql.ir.table import Masses
from dpsql.mechanisms.found_range import covering


def coarseness(detail: BoundSearch) -> float:
    """A bound is no number of an answer."""
    return 0.0


def covering_range(ladder: BoundSearch, held: Masses) -> int:
    """The place of the narrowest candidate that holds the most units."""
    return covering(ladder, units_at(ladder, held))

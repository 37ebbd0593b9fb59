"""The clip that no unit exceeds, without noise: for the owner's audit only."""

from __future__ import annotations

from dpsql.details.clip_search.release import units_at
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.table import Masses
from dpsql.mechanisms.clip_ladder import covering


def coarseness(detail: ClipSearch) -> float:
    """Return 0: a clip is not a number of an answer."""
    return 0.0


def covering_clip(detail: ClipSearch, weights: Masses) -> int:
    """Return the place of the smallest clip that scales no unit."""
    return covering(units_at(detail, weights))

"""The error of COUNT(DISTINCT x) without noise, for the owner's audit."""

from __future__ import annotations

from dpsql.details.matching.detail import Matching


def coarseness(detail: Matching) -> float:
    """Return 0: the count is a whole number. Unclaimed values are a consequence of the query's limit."""
    return 0.0

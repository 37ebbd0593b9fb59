"""How exactly different values are counted at best."""

from __future__ import annotations

from dpsql.details.matching.detail import Matching


def coarseness(detail: Matching) -> float:
    """Whole values are counted. Those that no unit may claim are a matter of the query."""
    return 0.0

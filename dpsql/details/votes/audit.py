"""The error of MODE without noise, for the owner's audit."""

from __future__ import annotations

from dpsql.details.votes.detail import Votes


def coarseness(detail: Votes) -> float:
    """Return 0: the chosen value is one of the declared values."""
    return 0.0

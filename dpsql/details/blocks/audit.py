"""The error of DP_SAMPLE without noise, for the owner's audit."""

from __future__ import annotations

from dpsql.details.blocks.detail import Blocks


def coarseness(detail: Blocks) -> float:
    """Return 0: the audit does not compare a median over blocks with the aggregate of all rows."""
    return 0.0

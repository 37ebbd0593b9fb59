"""How exactly a sample of blocks is known at best."""

from __future__ import annotations

from dpsql.details.blocks.detail import Blocks


def coarseness(detail: Blocks) -> float:
    """A median over blocks is not compared with the aggregate of all rows: no slack would do."""
    return 0.0

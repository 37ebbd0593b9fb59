"""How exactly an order statistic is known at best."""

from __future__ import annotations

from dpsql.details.quantiles.detail import Histogram


def coarseness(detail: Histogram) -> float:
    """The width of the widest bin: no value inside one is told from another."""
    return detail.grid.width

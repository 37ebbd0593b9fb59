"""The error of an order statistic without noise, for the owner's audit."""

from __future__ import annotations

from dpsql.details.quantiles.detail import Histogram


def coarseness(detail: Histogram) -> float:
    """Return the width of the widest bin: values of one bin are not distinguished."""
    return detail.grid.width

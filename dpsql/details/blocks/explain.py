"""What an explanation says of a DP_SAMPLE: over how many blocks the median is taken, and its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.details.blocks.detail import Blocks
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, each: DetailPlan[Blocks]) -> dict[str, Any]:
    """As plain values."""
    bounds = [each.detail.low, each.detail.high]
    return {"blocks": each.blocks, "bounds": bounds, "epsilon": each.epsilon}


def words(column: Mapping[str, Any], unit: str) -> list[str]:
    low, high = column["bounds"]
    return [
        f"the median over {column['blocks']} blocks of {unit}s, each held in [{low:g}, {high:g}], chosen "
        f"with epsilon {column['epsilon']:.4g}",
        "a block's value is not that of all rows, the less the smaller it is: no margin shows that",
    ]

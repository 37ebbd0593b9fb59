"""The explanation of a DP_SAMPLE column: the number of blocks, the bounds, the epsilon of the choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.details.blocks.detail import Blocks
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[Blocks]) -> dict[str, Any]:
    """Return the explanation as plain values."""
    bounds = [detail_plan.detail.low, detail_plan.detail.high]
    return {"blocks": detail_plan.blocks, "bounds": bounds, "epsilon": detail_plan.epsilon}


def words(column: Mapping[str, Any], unit: str) -> list[str]:
    low, high = column["bounds"]
    return [
        f"the median over {column['blocks']} blocks of {unit}s, each clamped to [{low:g}, {high:g}], chosen "
        f"with epsilon {column['epsilon']:.4g}",
        "the value of a small block differs from the value of all rows: no margin shows that",
    ]

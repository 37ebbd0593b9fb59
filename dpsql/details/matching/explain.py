"""The explanation of a COUNT(DISTINCT x) column: how many values one unit may claim, and the noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.details.matching.detail import Matching
from dpsql.explain.columns import noise_facts
from dpsql.explain.words import noise_words
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.render.english import one


def facts(finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[Matching]) -> dict[str, Any]:
    """Return the explanation as plain values."""
    values = {
        "sensitivity": float(detail_plan.sensitivity),
        "claimed_per_unit": detail_plan.detail.most,
        "claims_short": detail_plan.detail.short,
    }
    return values if detail_plan.noise is None else values | noise_facts(detail_plan.noise)


def words(column: Mapping[str, Any], unit: str) -> list[str]:
    parts = [f"one {unit} may claim {column['claimed_per_unit']} values that no other has claimed"]
    if column["claims_short"]:
        parts.append(f"further values of {one(unit)} may not be counted: no margin shows that")
    return [*parts, *noise_words(column)]

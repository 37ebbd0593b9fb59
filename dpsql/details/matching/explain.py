"""What an explanation says of a COUNT(DISTINCT x): how many values one unit may claim, and the noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.details.matching.detail import Matching
from dpsql.explain.columns import noise_facts
from dpsql.explain.words import noise_words
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, each: DetailPlan[Matching]) -> dict[str, Any]:
    """As plain values."""
    found = {
        "sensitivity": float(each.sensitivity),
        "claimed_per_unit": each.detail.most,
        "claims_short": each.detail.short,
    }
    return found if each.noise is None else found | noise_facts(each.noise)


def words(column: Mapping[str, Any], unit: str) -> list[str]:
    parts = [f"one {unit} may claim {column['claimed_per_unit']} values that no other has claimed"]
    if column["claims_short"]:
        parts.append(f"what a {unit} has beyond them may not be counted: no margin shows that")
    return [*parts, *noise_words(column)]

"""The explanation of a MODE column: the number of values, the epsilon, the expected error.

chosen among 3 declared values, epsilon 0.9; expected within 3.3 rows of the most frequent one (95 %)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.details.votes.detail import Votes
from dpsql.explain.words import RESTS_ON_NOISE
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[Votes]) -> dict[str, Any]:
    """Return the explanation as plain values; errors are in rows that count in full."""
    return {
        "sensitivity": float(detail_plan.sensitivity),
        "values": len(detail_plan.detail.values),
        "epsilon_of_a_choice": detail_plan.epsilon,
        "expected_error_in_rows": 3 * detail_plan.rows / detail_plan.epsilon,
    }


def words(column: Mapping[str, Any], unit: str) -> list[str]:
    parts = [f"chosen among {column['values']} declared values, epsilon {column['epsilon_of_a_choice']:.4g}"]
    if "expected_error_in_rows" in column:
        error = f"{column['expected_error_in_rows']:.3g}"
        parts.append(f"expected within {error} rows of the most frequent one (95 %)")
    return [*parts, RESTS_ON_NOISE] if "rests_on_noise" in column else parts

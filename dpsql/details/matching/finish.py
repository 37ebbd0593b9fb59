"""A noisy count of values -> the count, with the half-width of its noise."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.details.matching.detail import Matching
from dpsql.ir.column import Value
from dpsql.ir.finished import Finished
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism


def column(
    finish: Finish,
    planned: MeasurePlan,
    detail_plan: DetailPlan[Matching],
    released: ReleasedTable,
    first: int,
) -> Finished:
    """Return a whole number for each group, with its margin."""
    assert detail_plan.noise is not None
    numbers = released.sums[:, first]
    width = mechanism(detail_plan.noise.mechanism).half_width(detail_plan.noise.scale)
    half = np.full(len(numbers), np.ceil(width - 0.5) + 0.0)
    values: list[Value] = numbers.tolist()
    return Finished(finish.call.name, finish.type, values, half, numbers - half, numbers + half)


def reach(detail_plan: DetailPlan[Matching], confidence: float) -> float | None:
    """Return the half-width of the noise, rounded to whole numbers."""
    if detail_plan.noise is None:
        return None
    width = mechanism(detail_plan.noise.mechanism).half_width(detail_plan.noise.scale, confidence)
    return float(np.ceil(width - 0.5)) + 0.0


def note(detail_plans: Sequence[DetailPlan[Matching]], unit: str) -> str:
    """Return a note if a unit may have more values than it may claim."""
    claims = [detail_plan.detail.most for detail_plan in detail_plans if detail_plan.detail.short]
    if not claims:
        return ""
    values = "one value" if max(claims) == 1 else f"{max(claims):,} values"
    return (
        f"COUNT(DISTINCT ...) counts at most {values} that only one {unit} has, and may miss others: "
        "OPTIONS(max_values_contributed = 50) counts more, with more noise."
    )

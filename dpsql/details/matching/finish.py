"""A noised count of values -> the count, with the half-width of its noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.details.matching.detail import Matching
from dpsql.ir.column import Value
from dpsql.ir.finished import Finished
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism


def column(
    finish: Finish, planned: MeasurePlan, each: DetailPlan[Matching], released: ReleasedTable, first: int
) -> Finished:
    """A whole number for each group."""
    assert each.noise is not None
    numbers = released.sums[:, first]
    width = mechanism(each.noise.mechanism).half_width(each.noise.scale)
    half = np.full(len(numbers), np.ceil(width - 0.5) + 0.0)
    values: list[Value] = numbers.tolist()
    return Finished(finish.call.name, finish.type, values, half, numbers - half, numbers + half)


def reach(each: DetailPlan[Matching], confidence: float) -> float | None:
    """That of the noise, to the last whole number."""
    if each.noise is None:
        return None
    width = mechanism(each.noise.mechanism).half_width(each.noise.scale, confidence)
    return float(np.ceil(width - 0.5)) + 0.0


def note(found: Sequence[DetailPlan[Matching]], unit: str) -> str:
    """Where a unit may have more values than it may claim."""
    claims = [each.detail.most for each in found if each.detail.short]
    if not claims:
        return ""
    values = "one value" if max(claims) == 1 else f"{max(claims):,} values"
    return (
        f"COUNT(DISTINCT ...) counts at most {values} of one {unit} alone, and may miss others: "
        "OPTIONS(max_values_contributed = 50) counts more, with more noise."
    )

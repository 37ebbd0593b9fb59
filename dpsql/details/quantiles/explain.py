"""The explanation of an order statistic: the bins, the number of choices, the expected error.

chosen among 121 bins of [0, 120] (whole numbers); 1 choice, epsilon 0.9; within 3.3 rows (95 %)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsql.details.quantiles.detail import Histogram
from dpsql.details.quantiles.finish import rows_beyond
from dpsql.details.quantiles.measure import target_of
from dpsql.explain.words import RESTS_ON_NOISE
from dpsql.facts.row_guesses import clipped_by_rows
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import as_text
from dpsql.ir.grid import End, Spacing
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[Histogram]) -> dict[str, Any]:
    """Return the explanation as plain values; errors are in rows that count in full."""
    argument = fact_of(detail_plan.detail.argument, facts_of(planned.measure.relation)).type
    grid, target = detail_plan.detail.grid, target_of(finish.call)
    unit = grid.unit if grid.spacing is Spacing.WHOLE else 1
    values: dict[str, Any] = {
        "sensitivity": float(detail_plan.sensitivity),
        "bins": grid.size,
        "spacing": grid.spacing.value,
        "bounds": [grid.low / unit, grid.high / unit],
        "range": [as_text(end / unit if unit > 1 else end, argument) for end in (grid.low, grid.high)],
        "choices": detail_plan.choices,
        "epsilon_of_a_choice": detail_plan.epsilon,
    }
    if clipped_by_rows(planned.measure.relation, detail_plan.detail.argument):
        values["clipped_by_rows"] = True
    if isinstance(target, End):
        values["rows_beyond"] = rows_beyond(detail_plan)
    else:
        values["expected_error_in_rows"] = (
            6 * float(max(target, 1 - target)) * detail_plan.rows / detail_plan.epsilon
        )
    return values


def words(column: Mapping[str, Any], unit: str) -> list[str]:
    low, high = column["range"]
    number = column["choices"]
    choices = "1 choice" if number == 1 else f"{number} choices one after the other"
    parts = [
        f"chosen among {column['bins']:,} bins of [{low}, {high}] ({column['spacing']})",
        f"{choices}, epsilon {column['epsilon_of_a_choice']:.4g}{'' if number == 1 else ' each'}",
    ]
    if column.get("clipped_by_rows"):
        parts.append(
            f"the end is that of the rows of one {unit} that count: a value beyond counts as the end"
        )
    if "rows_beyond" in column:
        beyond_ = f"{column['rows_beyond']:.3g}"
        among = f"about {beyond_} rows beyond it, or a third of those that it is chosen among"
        parts.append(f"a value with {among}: no one {unit}'s own")
    elif "expected_error_in_rows" in column:
        parts.append(f"expected within ± {column['expected_error_in_rows']:.3g} rows of its place (95 %)")
    return [*parts, RESTS_ON_NOISE] if "rests_on_noise" in column else parts

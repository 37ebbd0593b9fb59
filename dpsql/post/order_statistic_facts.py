"""What an explanation says of an order statistic: among which bins it is chosen, how often, how well.

chosen among 121 bins of [0, 120] (whole numbers); 1 choice, epsilon 0.9; within 3.3 rows (95 %)
"""

from __future__ import annotations

from typing import Any

from dpsql.ir.column import Type, as_text
from dpsql.ir.detail import Histogram
from dpsql.ir.grid import End, Spacing
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan
from dpsql.mechanisms.quantiles import beyond
from dpsql.rewrite.order_statistics import target_of


def choice_facts(finish: Finish, planned: DetailPlan, detail: Histogram, argument: Type) -> dict[str, Any]:
    """As plain values. Errors are in rows that count in full."""
    grid, target = detail.grid, target_of(finish.call)
    unit = grid.unit if grid.spacing is Spacing.WHOLE else 1
    found: dict[str, Any] = {
        "bins": grid.size,
        "spacing": grid.spacing.value,
        "bounds": [grid.low / unit, grid.high / unit],
        "range": [as_text(end / unit if unit > 1 else end, argument) for end in (grid.low, grid.high)],
        "choices": planned.choices,
        "epsilon_of_a_choice": planned.epsilon,
    }
    if isinstance(target, End):
        found["rows_beyond"] = rows_beyond(planned)
    else:
        found["expected_error_in_rows"] = 6 * float(max(target, 1 - target)) * planned.rows / planned.epsilon
    return found


def rows_beyond(planned: DetailPlan) -> float:
    """How many rows that count in full lie beyond an extreme."""
    return beyond(planned.epsilon, planned.sensitivity) * planned.rows / planned.sensitivity


def choice_words(column: dict[str, Any], unit: str) -> list[str]:
    if "values" in column:
        parts = [
            f"chosen among {column['values']} declared values, epsilon {column['epsilon_of_a_choice']:.4g}"
        ]
        if "expected_error_in_rows" in column:
            error = f"{column['expected_error_in_rows']:.3g}"
            parts.append(f"expected within {error} rows of the most frequent one (95 %)")
        return parts
    low, high = column["range"]
    number = column["choices"]
    choices = "1 choice" if number == 1 else f"{number} choices one after the other"
    parts = [
        f"chosen among {column['bins']:,} bins of [{low}, {high}] ({column['spacing']})",
        f"{choices}, epsilon {column['epsilon_of_a_choice']:.4g}{'' if number == 1 else ' each'}",
    ]
    if "rows_beyond" in column:
        beyond_ = f"{column['rows_beyond']:.3g}"
        parts.append(f"a value with about {beyond_} rows beyond it, or half of all: no one {unit}'s own")
    elif "expected_error_in_rows" in column:
        parts.append(f"expected within ± {column['expected_error_in_rows']:.3g} rows of its place (95 %)")
    return parts

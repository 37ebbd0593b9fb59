"""The note on numbers lost in the noise of differences, whose range is that of both columns.

    AVG(date_diff('minute', started, finished))      -3000 ± 16000: minutes of all declared years, either way

The bounds that the query names are the noise that it pays for: the note says how to name them. It is made of
the plan and of the answer, which are released.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from dpsql.facts.subtractions import below_by_subtraction
from dpsql.ir.measure import Measure
from dpsql.ir.plan import Plan


def note_of_differences(
    plan: Plan, rows: Sequence[tuple[Any, ...]], margins: Sequence[tuple[float | None, ...]]
) -> str:
    """Return how to ask for differences with less noise, if it may be half of most numbers of an output."""
    if not rows or not any(_lost(at, rows, margins) for at in range(len(margins[0]))):
        return ""
    if not any(_of_differences(measure.measure) for measure in plan.stages[-1].measures):
        return ""
    return (
        "Noise is for all differences that the ranges of both columns allow: if they are known to be "
        "smaller, AVG(x CLAMPED BETWEEN 0 AND 300) has less."
    )


def _lost(at: int, rows: Sequence[tuple[Any, ...]], margins: Sequence[tuple[float | None, ...]]) -> bool:
    pairs = [(row[at], margin[at]) for row, margin in zip(rows, margins, strict=True)]
    return 2 * sum(_half_noise(value, margin) for value, margin in pairs) > len(pairs)


def _half_noise(value: object, margin: float | None) -> bool:
    return isinstance(value, int | float | Decimal) and margin is not None and abs(float(value)) <= 2 * margin


def _of_differences(measure: Measure) -> bool:
    return any(
        finish.call.argument is not None and below_by_subtraction(measure.relation, finish.call.argument)
        for finish in measure.finishes
    )

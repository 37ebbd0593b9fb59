"""Columns of a stored table whose every output is one released sum: computed without arrays.

    [[412], [97]] grid steps      COUNT 412 ± 9, 97 ± 9

Counts, and sums that are measured alone, as most repeats show them. All else goes through ``finish``, which
is the same function of the same numbers, for arrays.

Test: tests/unit/test_single_sums.py compares both
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from dpsql.aggregates import shelf
from dpsql.ir.column import Kind, Type, Value, decimal_size, type_range
from dpsql.ir.finished import Finished
from dpsql.ir.plan import MeasurePlan, Threshold
from dpsql.ir.statistic import CELLS, Part
from dpsql.mechanisms import mechanism

if TYPE_CHECKING:
    from dpsql.ir.finished import Floats
    from dpsql.ir.measure import Finish
    from dpsql.ir.table import Rows

_WIDE = Context(prec=80)


def columns_of(
    groups: Sequence[tuple[Value, ...]], stored: Rows | None, planned: MeasurePlan, confidence: float
) -> list[Finished] | None:
    """Return the keys and the aggregates; None unless each aggregate is a single sum of rows as stored."""
    if stored is None or not _all_single(planned):
        return None
    columns = [
        Finished(column.name, column.fact.type, [group[i] for group in groups], None)
        for i, column in enumerate(planned.keys)
    ]
    for each in planned.measure.finishes:
        ((cell,),) = each.statistics
        step = planned.measure.statistics[cell].step
        values = rounded([([row[cell] for row in stored.numbers], step)], each.type)
        half = mechanism(planned.noise.mechanism).half_width(planned.noise.scale, confidence) * float(step)
        half = delivered(half, each.type)
        numbers = [float(cast(Any, value)) for value in values]
        margins, low, high = (
            cast("Floats", array("d", ends))  # is read as a list
            for ends in (
                [half] * len(values),
                [number - half for number in numbers],
                [number + half for number in numbers],
            )
        )
        columns.append(Finished(each.call.name, each.type, values, margins, low, high))
    return columns


def _all_single(planned: MeasurePlan) -> bool:
    """Whether each output is one sum with its own noise, the same for every group."""
    measure = planned.measure
    apart = measure.derived or measure.posteriors or measure.other is not None or measure.model is not None
    together = planned.runs is not None or planned.applied is not None or planned.joint is not None
    if apart or together or planned.without_margins or isinstance(planned.rule, Threshold):
        return False
    return all(_is_single(each, planned) for each in measure.finishes)


def _is_single(finish: Finish, planned: MeasurePlan) -> bool:
    if finish.places or finish.line is not None or [len(cells) for cells in finish.statistics] != [1]:
        return False
    first = planned.measure.statistics[finish.statistics[0][0]]
    return first.part is not Part.REST and first.part not in CELLS and is_linear(finish)


def is_linear(finish: Finish) -> bool:
    """Whether an aggregate is a sum with constant weights of its statistics."""
    return len(shelf()[finish.call.function].needs) == 1


def rounded(columns: Sequence[tuple[Sequence[int], Fraction]], type: Type) -> list[Value]:
    """Return (a * first + b * second + ...) / d for each group, as exact values of a type.

    Each of the ``columns`` is a list of whole numbers with its weight; a, b, ... and d come from the weights.
    """
    scale = decimal_size(type)[1] if type.kind is Kind.DECIMAL else 0
    d = math.lcm(*(weight.denominator for _, weight in columns))
    factors = [int(weight * d * 10**scale) for _, weight in columns]
    if len(factors) == 1:
        numerators = [factors[0] * number for number in columns[0][0]]
    else:
        rows = zip(*(numbers for numbers, _ in columns), strict=True)
        numerators = [sum(a * n for a, n in zip(factors, row, strict=True)) for row in rows]
    match type.kind:
        case Kind.INTEGER:
            ends = type_range(type)
            return [int(max(ends.low, min(ends.high, (2 * n + d) // (2 * d)))) for n in numerators]
        case Kind.DECIMAL:
            most = 10 ** decimal_size(type)[0] - 1
            near = [max(-most, min(most, (2 * n + d) // (2 * d))) for n in numerators]
            return [Decimal(n).scaleb(-scale, _WIDE) for n in near]
        case _:
            return [n / d for n in numerators]


def delivered(width: float, type: Type) -> float:
    """Adjust a half-width for the rounding to the column's type; infinity stays so."""
    match type.kind:
        case Kind.INTEGER:
            return math.ceil(width - 0.5) + 0.0 if math.isfinite(width) else width
        case Kind.DECIMAL:
            return width + float(0.5 / 10 ** decimal_size(type)[1])
        case _:
            return width

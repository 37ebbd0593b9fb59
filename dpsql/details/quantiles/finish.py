"""Released bins -> the values that stand for them, in the column's type, each with its half-width.

bin 90 of [0, 120], distance 12    MEDIAN 90.0 +- 0.8
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import numpy as np

from dpsql.aggregates import Floats
from dpsql.details.quantiles.detail import Histogram
from dpsql.details.quantiles.measure import target_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind, Number, Type, Value, decimal_size
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.finished import Finished
from dpsql.ir.grid import End, Grid, Spacing, curved, straight
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms.density import distances, errors
from dpsql.mechanisms.exponential import Integers
from dpsql.mechanisms.quantiles import beyond

_DAY = datetime.date(1970, 1, 1)


def column(
    finish: Finish, planned: MeasurePlan, each: DetailPlan[Histogram], released: ReleasedTable, first: int
) -> Finished:
    """The values of bins, each with the half-width of its choice."""
    grid, facts = each.detail.grid, facts_of(planned.measure.relation)
    kind = fact_of(each.detail.argument, facts).type.kind
    chosen = [_value(grid.value(place), kind, finish.type) for place in released.sums[:, first].tolist()]
    margins = _margins(finish, each, released, first)
    return Finished(finish.call.name, finish.type, chosen, margins, *_ends(chosen, margins))


def reach(each: DetailPlan[Histogram], confidence: float) -> None:
    """It depends on the rows around the choice."""


def note(found: Sequence[DetailPlan[Histogram]], unit: str) -> str:
    """How many rows lie beyond extremes."""
    extremes = [
        rows_beyond(each) for each in found if any(isinstance(target, End) for target in each.detail.targets)
    ]
    if not extremes:
        return ""
    return (
        f"MIN and MAX have about {max(extremes):.3g} rows beyond them: where there are fewer than about "
        f"{2 * max(extremes):.3g} rows they tell next to nothing, and no margin shows that."
    )


def rows_beyond(planned: DetailPlan[Histogram]) -> float:
    """How many rows that count in full lie beyond an extreme."""
    return beyond(planned.epsilon, planned.sensitivity) * planned.rows / planned.sensitivity


def _value(number: Number | Fraction, kind: Kind, type: Type) -> Value:
    if kind is Kind.DATE:
        day = _DAY + datetime.timedelta(days=int(number))
        return day if type.kind is Kind.DATE else datetime.datetime.combine(day, datetime.time())
    if kind is Kind.TIMESTAMP:
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(number))
    match type.kind:
        case Kind.INTEGER:
            return round(number)
        case Kind.DECIMAL:
            with localcontext(prec=60):
                exact = Fraction(number)
                scaled = Decimal(exact.numerator) / Decimal(exact.denominator)
                return scaled.quantize(Decimal(1).scaleb(-decimal_size(type)[1]), ROUND_HALF_EVEN)
        case _:
            return float(number)


def _margins(finish: Finish, planned: DetailPlan[Histogram], released: ReleasedTable, first: int) -> Floats:
    """How far noise and a bin reach (95 %); NaN for extremes, dates, and where rows are few."""
    detail = planned.detail
    target, none = target_of(finish.call), np.full(len(released.groups), np.nan)
    if isinstance(target, End) or len(planned.events) == planned.choices:
        return none
    dense = planned.events[-1]
    assert isinstance(dense, ChoiceEvent)
    row = planned.sensitivity // planned.rows
    factors = errors(detail.targets, planned.epsilon, dense.epsilon, planned.sensitivity, row)
    away = np.array((*distances(detail.grid), math.nan))
    bins, places = released.sums[:, first], released.sums[:, first + 1]
    noise = away[np.clip(places, 0, len(away) - 1)] * factors[detail.targets.index(target)]
    if detail.grid.spacing is Spacing.WHOLE and detail.grid.step == 1:  # every value has its own bin
        return np.ceil(noise * detail.grid.unit - 0.5) / detail.grid.unit + 0.0  # no minus before a zero
    found: Floats = noise + 0.475 * _widths(detail.grid, bins)  # the choice of a bin moves by whole bins
    return found


def _ends(values: list[Value], margins: Floats) -> tuple[Floats, Floats]:
    """The ends of the intervals, as far below and above."""
    shown = np.array([float(v) if isinstance(v, int | float | Decimal) else math.nan for v in values])
    return shown - margins, shown + margins


def _widths(grid: Grid, bins: Integers) -> Floats:
    """How wide the bins are; those of whole numbers hold their values exactly where a step is one."""
    match grid.spacing:
        case Spacing.WHOLE:
            return np.full(len(bins), (grid.step - 1) / grid.unit)
        case Spacing.EVEN:
            return np.full(len(bins), (float(grid.high) - float(grid.low)) / grid.size)
        case Spacing.LOG:
            step = (curved(grid.high) - curved(grid.low)) / grid.size
            scale = [abs(straight(curved(grid.low) + (i + 0.5) * step)) for i in bins.tolist()]
            return (np.array(scale) + 1) * step

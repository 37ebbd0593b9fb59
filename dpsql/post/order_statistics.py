"""Released bins -> the values that stand for them, in the column's type, each with its half-width.

bin 90 of [0, 120], distance 12    MEDIAN 90.0 +- 0.8
"""

from __future__ import annotations

import datetime
import math
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import numpy as np

from dpsql.aggregates import Floats
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind, Number, Type, Value, decimal_size
from dpsql.ir.detail import Histogram
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.grid import End, Grid, Spacing, curved, straight
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms.density import distances, errors
from dpsql.mechanisms.exponential import Integers
from dpsql.rewrite.order_statistics import target_of

_DAY = datetime.date(1970, 1, 1)


def values_of(each: Finish, detail: Histogram, released: ReleasedTable, planned: MeasurePlan) -> list[Value]:
    """The value of each group's bin."""
    first = len(planned.measure.statistics) + each.places[0]
    kind = fact_of(detail.argument, facts_of(planned.measure.relation)).type.kind
    return [_value(detail.grid.value(place), kind, each.type) for place in released.sums[:, first].tolist()]


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


def margins_of(
    each: Finish, planned: DetailPlan, detail: Histogram, released: ReleasedTable, first: int
) -> Floats:
    """How far noise and a bin reach (95 %); NaN for extremes, dates, and where rows are few."""
    target, none = target_of(each.call), np.full(len(released.groups), np.nan)
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


def ends_of(values: list[Value], margins: Floats) -> tuple[Floats, Floats]:
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

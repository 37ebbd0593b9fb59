"""Released bins -> values of the column's type, each with the half-width of its margin.

bin 90 of [0, 120], distance 12    MEDIAN 90.0 +- 0.8
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

from dpsql.aggregates import Floats
from dpsql.details.quantiles.detail import Histogram
from dpsql.details.quantiles.measure import target_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind, Number, Type, Value, decimal_size
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.finished import Finished
from dpsql.ir.grid import End, Grid, Spacing, Target, curved, straight
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms.density import errors, reaches
from dpsql.mechanisms.exponential import Integers
from dpsql.mechanisms.quantiles import beyond

_DAY = datetime.date(1970, 1, 1)


def column(
    finish: Finish,
    planned: MeasurePlan,
    detail_plan: DetailPlan[Histogram],
    released: ReleasedTable,
    first: int,
) -> Finished:
    """Return the value of each chosen bin, with its margin."""
    grid, facts = detail_plan.detail.grid, facts_of(planned.measure.relation)
    kind = fact_of(detail_plan.detail.argument, facts).type.kind
    chosen = [_value(grid.value(place), kind, finish.type) for place in released.sums[:, first].tolist()]
    margins = _margins(finish, detail_plan, released, first)
    return Finished(finish.call.name, finish.type, chosen, margins, *_ends(chosen, margins))


def reach(detail_plan: DetailPlan[Histogram], confidence: float) -> None:
    """Return None: the error depends on the density of rows around the chosen bin."""


def note(detail_plans: Sequence[DetailPlan[Histogram]], unit: str) -> str:
    """Return a note on how many rows lie beyond MIN and MAX."""
    extremes = [
        (rows_beyond(detail_plan), _share(detail_plan.detail.targets))
        for detail_plan in detail_plans
        if any(isinstance(target, End) for target in detail_plan.detail.targets)
    ]
    if not extremes:
        return ""
    return (
        f"MIN and MAX have about {max(rows for rows, _ in extremes):.3g} rows beyond them: where there are "
        f"fewer than about {max(3 * rows / share for rows, share in extremes):.3g} rows they say next to "
        "nothing, and no margin shows that."
    )


def _share(targets: Sequence[Target]) -> float:
    """Return the least part of all rows that an extreme is chosen in: before or behind the quantiles."""
    shares = [target for target in targets if isinstance(target, Fraction)]
    ends = (
        (End.LEAST in targets, min(shares, default=1)),
        (End.GREATEST in targets, 1 - max(shares, default=0)),
    )
    return max(1e-9, float(min(share for there, share in ends if there)))


def rows_beyond(detail_plan: DetailPlan[Histogram]) -> float:
    """Return how many rows that count in full lie beyond an extreme."""
    size, most = detail_plan.detail.grid.size, detail_plan.sensitivity
    return beyond(detail_plan.epsilon, most, size) * detail_plan.rows / most


def _value(number: Number | Fraction, kind: Kind, type: Type) -> Value:
    if kind is Kind.DATE:
        day = _DAY + datetime.timedelta(days=int(number))
        return day if type.kind is Kind.DATE else datetime.datetime.combine(day, datetime.time())
    if kind is Kind.TIMESTAMP or kind is Kind.TIMESTAMPTZ:
        zone = datetime.UTC if kind is Kind.TIMESTAMPTZ else None
        return datetime.datetime(1970, 1, 1, tzinfo=zone) + datetime.timedelta(microseconds=int(number))
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


def _margins(
    finish: Finish, detail_plan: DetailPlan[Histogram], released: ReleasedTable, first: int
) -> Floats:
    """Return the half-widths of noise and bin width (95 %); NaN for extremes, dates, and too few rows."""
    detail = detail_plan.detail
    target, none = target_of(finish.call), np.full(len(released.groups), np.nan)
    if isinstance(target, End) or len(detail_plan.events) == detail_plan.choices:
        return none
    dense = detail_plan.events[-1]
    assert isinstance(dense, ChoiceEvent)
    row = detail_plan.sensitivity // detail_plan.rows
    factors = errors(detail.targets, detail_plan.epsilon, dense.epsilon, detail_plan.sensitivity, row)
    bins, places = released.sums[:, first], released.sums[:, first + 1]
    noise = reaches(detail.grid, places, factors[detail.targets.index(target)])
    if detail.grid.spacing is Spacing.WHOLE and detail.grid.step == 1:  # every value has its own bin
        # a choice may be the next value, however dense the rows are: the middle may be near where it ends
        return np.maximum(np.ceil(noise * detail.grid.unit - 0.5), 1.0) / detail.grid.unit
    margins: Floats = noise + 0.475 * _widths(detail.grid, bins)  # a choice is exact to a whole bin
    return margins


def _ends(values: list[Value], margins: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the symmetric intervals."""
    shown = np.array(
        [float(value) if isinstance(value, int | float | Decimal) else math.nan for value in values]
    )
    return shown - margins, shown + margins


def _widths(grid: Grid, bins: Integers) -> Floats:
    """Return the widths of the bins; 0 for whole numbers with a step of one, where a bin is one value."""
    match grid.spacing:
        case Spacing.WHOLE:
            return np.full(len(bins), (grid.step - 1) / grid.unit)
        case Spacing.EVEN:
            return np.full(len(bins), (float(grid.high) - float(grid.low)) / grid.size)
        case Spacing.LOG:
            step = (curved(grid.high) - curved(grid.low)) / grid.size
            scale = [abs(straight(curved(grid.low) + (i + 0.5) * step)) for i in bins.tolist()]
            return (np.array(scale) + 1) * step

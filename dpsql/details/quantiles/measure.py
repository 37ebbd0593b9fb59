"""MEDIAN, quantiles, MIN and MAX -> one shared histogram, with one target per order statistic.

MEDIAN(age), QUANTILE_CONT(age, 0.9), MAX(age)    a histogram of age, targets 1/2, 9/10, the greatest
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from dpsql.aggregates import shelf
from dpsql.detail_kinds import Bounds
from dpsql.details.quantiles.detail import Histogram
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind
from dpsql.ir.grid import TIMED, End, Target, grid_of
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal

_KINDS = frozenset((Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)) | TIMED


def made(
    measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds
) -> tuple[Histogram, dict[AggregateCall, tuple[int, ...]]]:
    """Return the histogram of the first call, shared by all calls on the same values of the same rows."""
    first = calls[0]
    same_values = [
        call
        for call in calls
        if shelf()[call.function].detail == shelf()[first.function].detail
        and (call.argument, call.condition) == (first.argument, first.condition)
    ]
    assert first.argument is not None
    kind = fact_of(first.argument, facts_of(measure.relation)).type.kind
    if kind not in _KINDS:
        called = first.function.upper()
        length = f"take its length in seconds: {called} of epoch(x)"
        counted = (
            "count the values: SELECT x, COUNT(*) AS n FROM ... GROUP BY x; of conditions, AVG(CASE "
            "WHEN x THEN 1 ELSE 0 END)"
        )
        raise refuse(
            "D205",
            f"{called} of {kind.value} values is not answered as a release",
            first.argument.span or first.span,
            label="the argument must be a number, a date or a timestamp",
            help=length if kind is Kind.INTERVAL else counted,
        )
    range_, fact = bounds(first)
    targets = tuple(sorted({target_of(call) for call in same_values}, key=_place))
    places = {call: 2 * targets.index(target_of(call)) for call in same_values}
    grid = grid_of(fact, range_)
    histogram = Histogram(first.argument, first.condition, grid, targets)
    return histogram, {call: (place, place + 1) for call, place in places.items()}


def target_of(call: AggregateCall) -> Target:
    """Return the order statistic that a call asks for."""
    places = [Fraction(Decimal(str(option.value))) for option in call.others if isinstance(option, Literal)]
    return shelf()[call.function].target(places[0] if places else None)


def _place(target: Target) -> Fraction:
    match target:
        case End.LEAST:
            return Fraction(0)
        case End.GREATEST:
            return Fraction(1)
        case _:
            return target

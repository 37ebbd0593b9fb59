"""Released cells of moments -> the number of rows, and the sums of values and squares.

    three cells   N = a + b + c    sum of y = b/2 + c    sum of yy = c (Bernstein), b/4 + c (Lagrange)

Nine cells are the products of three cells for each of two arguments. Two cells give rows and a total only.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.aggregates import Floats, Spread, Sums
from dpsql.aggregates.regression import SIDES
from dpsql.ir.column import Interval
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Scalar
from dpsql.ir.statistic import CELLS, Axis, Part, Statistic, width_of
from dpsql.lazy_dataclass import dataclass

_FIRST = (0, 0.5, 1)
_SECOND = {Part.BERNSTEIN: (0, 0, 1), Part.LAGRANGE: (0, 0.25, 1)}


@dataclass(frozen=True, slots=True)
class _Side:
    """An argument x = low + scale * y with y in [0, 1]."""

    low: Fraction
    scale: Fraction
    range: Interval

    def spread(self, first: Floats, second: Floats | None) -> Spread:
        return Spread(first, second, float(self.low), float(self.scale), self.range)


def sums_of_cells(call: AggregateCall, statistics: list[Statistic], sums: Floats) -> Sums:
    """Convert cells of each group to sums: one cell (rows), two (rest, value), three or nine."""
    first = statistics[0]
    shares = sums / first.most
    rows = shares.sum(axis=-1)
    if len(statistics) == 1:
        return Sums(rows=rows, units=rows)
    if len(statistics) == 9:
        table = shares.reshape(*shares.shape[:-1], 3, 3)
        sides = (_side(first, call.argument), _side(first, call.others[0]))
        along = (table.sum(axis=-1), table.sum(axis=-2))
        second = _SECOND[first.part]
        argument, other = (
            side.spread(cells @ _FIRST, cells @ second) for side, cells in zip(sides, along, strict=True)
        )
        return Sums(rows, rows, argument=argument, other=other, product=table @ _FIRST @ _FIRST)
    side = _side(first, _read(call))
    if first.part in CELLS:
        spread = side.spread(shares @ _FIRST, shares @ _SECOND[first.part])
    else:
        spread = side.spread(shares[..., 1], None)
    total = spread.low * rows + spread.scale * spread.first
    reads_other = SIDES.get(call.function) == (1,)
    return Sums(
        rows, rows, total, side.range, None if reads_other else spread, spread if reads_other else None
    )


def weights_of_cells(call: AggregateCall, statistics: list[Statistic], rows: bool) -> list[Fraction]:
    """Return the weight of each cell in the number of rows (if ``rows``) or in the total."""
    first, size = statistics[0], len(statistics)
    if rows:
        return [Fraction(1, first.most)] * size
    side = _side(first, _read(call))
    return [(side.low + side.scale * Fraction(i, size - 1)) / first.most for i in range(size)]


def _read(call: AggregateCall) -> Scalar | None:
    """Return the argument that the aggregate reads; any argument for a count."""
    return (call.argument, *call.others)[(SIDES.get(call.function) or (0,))[0]]


def _side(first: Statistic, argument: Scalar | None) -> _Side:
    """Return the affine map from [0, 1] to the values of an argument."""
    assert first.argument is not None
    if first.other is None:
        return _Side(Fraction(first.offset), first.most * first.step, Interval(first.low, first.high))
    axes = (Axis(first.argument, first.low, first.high), first.other)
    axis = axes[0] if axes[0].argument == argument else axes[1]
    scale = Fraction(width_of(axis.low, axis.high))
    return _Side(Fraction(axis.low), scale, Interval(axis.low, axis.high))

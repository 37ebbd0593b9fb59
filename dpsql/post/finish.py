"""Released sums -> the columns that the analyst asked for, each with its half-width.

    rest 3 000, value 9 000 (grid steps)      AVG 90.0 ± 1.2, COUNT 120 ± 4, SUM 10 800 ± 210

Everything here is a function of noisy numbers. A half-width says how far the noise reaches with 95 %
confidence; where an aggregate is not one sum, it is found by adding simulated noise of the same law to
the released sums. That simulation is public arithmetic: its generator is fixed, so that the same answer
always shows the same half-widths, and no private noise is ever drawn from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.aggregates import Floats, Sums, shelf
from dpsql.ir.column import Interval, Kind, Type, Value, decimal_size, type_range
from dpsql.ir.plan import Finish, Noise, Part, Planned, Statistic
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.post.other_group import MOST, with_other

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_WIDE = Context(prec=80)
_DRAWS = 400
_NUMBERS = 4_000_000  # simulated at once


@dataclass(frozen=True, slots=True)
class Finished:
    """A column of a released table, with the half-width of each value (NaN where it has none)."""

    name: str
    type: Type
    values: list[Value]
    margins: Floats | None


def finish(released: ReleasedTable, planned: Planned) -> list[Finished]:
    """The keys, then the aggregates."""
    released, spread = with_other(released, planned)
    columns = [
        Finished(column.name, column.fact.type, [group[i] for group in released.groups], None)
        for i, column in enumerate(planned.keys)
    ]
    return columns + [_finished(each, released, planned, spread) for each in planned.measure.finishes]


def _finished(each: Finish, released: ReleasedTable, planned: Planned, spread: Floats) -> Finished:
    if each.places:
        raise NotImplementedError
    statistics = [planned.measure.statistics[cells[0]] for cells in each.statistics]
    sums = np.stack([_added(released.sums, cells) for cells in each.statistics], axis=1)
    estimate = estimated(each, statistics, sums.astype(np.float64))
    if each.call.function == "avg":
        values: list[Value] = [None if math.isnan(number) else float(number) for number in estimate]
    else:
        values = _exact(each, statistics, sums)
    widths = _half_widths(each, statistics, sums, estimate, planned.noise, spread)
    margins = _as_delivered(widths, each.type)
    return Finished(each.call.name, each.type, values, margins)


def _added(sums: NDArray[np.int64], cells: tuple[int, ...]) -> NDArray[np.int64]:
    """The sum of some statistics, one number per group."""
    if len(cells) == 1:
        return sums[:, cells[0]]
    added = (sum(row) for row in sums[:, list(cells)].tolist())  # whole numbers of any size
    return np.array([max(-MOST, min(MOST, each)) for each in added], dtype=np.int64)


def estimated(each: Finish, statistics: list[Statistic], sums: Floats) -> Floats:
    """The aggregate from sums in grid steps, the last axis running over its statistics."""
    return shelf()[each.call.function].estimate(_in_units(statistics, sums))


def _in_units(statistics: list[Statistic], sums: Floats) -> Sums:
    first, last = statistics[0], statistics[-1]
    if first.part is Part.REST:  # a pair: together they count rows, the second is the total
        rows = (sums[..., 0] + sums[..., 1]) / first.most
        total = float(last.offset) * rows + sums[..., 1] * float(last.step)
        return Sums(rows, rows, total, Interval(last.low, last.high))
    number = sums[..., 0] * float(first.step)
    match first.part:
        case Part.ROWS | Part.UNITS:  # where a unit has one row, its rows count its units
            return Sums(rows=number, units=number)
        case _:
            return Sums(total=number)


def _exact(each: Finish, statistics: list[Statistic], sums: NDArray[np.int64]) -> list[Value]:
    """Counts or sums as the exact numbers that their grid steps stand for, in the column's type.

    Each is (a * first + b * last) / d for whole numbers a, b and d of the plan.
    """
    first, last = statistics[0], statistics[-1]
    of_first, of_last = Fraction(0), last.step
    if first.part is Part.REST:
        per_row = Fraction(1, first.most)
        if each.call.function in ("count", "count_units"):
            of_first = of_last = per_row
        else:
            of_first = Fraction(last.offset) * per_row
            of_last = of_first + last.step
    scale = decimal_size(each.type)[1] if each.type.kind is Kind.DECIMAL else 0
    of_first, of_last = of_first * 10**scale, of_last * 10**scale
    d = math.lcm(of_first.denominator, of_last.denominator)
    a, b = int(of_first * d), int(of_last * d)
    whole = [a * int(row[0]) + b * int(row[-1]) for row in sums.tolist()]
    match each.type.kind:
        case Kind.INTEGER:
            ends = type_range(each.type)
            return [int(max(ends.low, min(ends.high, (2 * n + d) // (2 * d)))) for n in whole]
        case Kind.DECIMAL:
            most = 10 ** decimal_size(each.type)[0] - 1
            held = [max(-most, min(most, (2 * n + d) // (2 * d))) for n in whole]
            return [Decimal(n).scaleb(-scale, _WIDE) for n in held]
        case _:
            return [n / d for n in whole]


def _as_delivered(widths: Floats, type: Type) -> Floats:
    """A half-width reaches to the last number that rounding to the column's type may deliver."""
    match type.kind:
        case Kind.INTEGER:
            reached: Floats = np.ceil(widths - 0.5)
            return reached
        case Kind.DECIMAL:
            return widths + float(0.5 / 10 ** decimal_size(type)[1])
        case _:
            return widths


def _incidence(each: Finish, cells: list[int]) -> Floats:
    """Which of these cells add up to which of a finish's numbers."""
    return np.array([[float(cell in group) for group in each.statistics] for cell in cells])


def _half_widths(
    each: Finish,
    statistics: list[Statistic],
    sums: NDArray[np.int64],
    estimate: Floats,
    noise: Noise,
    spread: Floats,
) -> Floats:
    """``spread`` is how much wider than one draw the noise of each row is: a sum of Laplace draws reaches

    less far than one wider draw, a sum of Gaussian ones exactly as far.
    """
    cells = sorted({position for group in each.statistics for position in group})
    if len(cells) == 1:
        step, width_of = float(statistics[0].step), mechanism(noise.mechanism).half_width
        by_spread = {wider: width_of(noise.scale * wider) * step for wider in set(spread.tolist())}
        return np.array([by_spread[wider] for wider in spread.tolist()], dtype=np.float64)
    generator = np.random.default_rng(0)
    size = (_DRAWS, 1, len(cells))  # the same draws for every group
    draw = generator.laplace if noise.mechanism == "laplace" else generator.normal
    drawn = draw(0, noise.scale, size) @ _incidence(each, cells)
    widths = np.empty(len(sums))
    at_once = max(1, _NUMBERS // (_DRAWS * len(statistics)))
    for start in range(0, len(sums), at_once):
        part = sums[start : start + at_once].astype(np.float64)
        noises = drawn * spread[start : start + at_once, np.newaxis]
        moved = np.abs(estimated(each, statistics, part - noises) - estimate[start : start + at_once])
        whole = np.where(np.isnan(moved), np.inf, moved)
        place = math.floor(0.95 * (_DRAWS - 1))
        found = np.partition(whole, place, axis=0)[place]
        widths[start : start + at_once] = np.where(np.isfinite(found), found, np.nan)
    return widths

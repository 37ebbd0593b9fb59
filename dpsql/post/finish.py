"""Released sums -> the columns of the answer, each with its half-width.

    rest 3 000, value 9 000 (grid steps)      AVG 90.0 ± 1.2, COUNT 120 ± 4, SUM 10 800 ± 210

Everything here is a function of noisy numbers. A half-width bounds the noise with 95 % confidence (margins).
A measure that reads numbers released by an earlier stage has no half-width: the error is not known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from dpsql.aggregates import Floats, Need, Sums, shelf
from dpsql.detail_kinds import part
from dpsql.ir.column import Interval, Kind, Type, Value, decimal_size, type_range
from dpsql.ir.finished import Decimals, Finished
from dpsql.ir.measure import Finish, Line
from dpsql.ir.plan import MeasurePlan, Noise, Threshold
from dpsql.ir.statistic import CELLS, Part, Statistic
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism, prefix
from dpsql.post.closed_margins import quantile_of
from dpsql.post.derived_margins import Follow, derived
from dpsql.post.joint import noise_of_numbers, numbers_measured, spread_of
from dpsql.post.margins import CONFIDENCE, PRECISE, Reach, above_threshold, barely_shown, plain, simulated
from dpsql.post.mean_margins import margins_of_means
from dpsql.post.moment_cells import sums_of_cells, weights_of_cells
from dpsql.post.other_group import MOST, with_other
from dpsql.post.single_sums import columns_of, delivered, is_linear, rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def finish(released: ReleasedTable, planned: MeasurePlan, confidence: float = CONFIDENCE) -> list[Finished]:
    """Return the columns of a released table: the keys, then the aggregates, then derived outputs."""
    single = columns_of(released.groups, released.stored, planned, confidence)
    if single is not None:
        return single
    columns = _with_margins(released, planned, confidence)
    return [_without(column) for column in columns] if planned.without_margins else columns


def finished_values(released: ReleasedTable, planned: MeasurePlan) -> list[Finished] | None:
    """Return the keys and the aggregates as ``finish`` does, without half-widths; None if there is more."""
    measure = planned.measure
    apart = measure.derived or measure.posteriors or any(each.places for each in measure.finishes)
    if apart:
        return None
    released, _ = with_other(released, planned)
    aggregates = (
        Finished(each.call.name, each.type, _values(each, released, planned)[0], None)
        for each in measure.finishes
    )
    return [*_keys(released, planned), *aggregates]


def _keys(released: ReleasedTable, planned: MeasurePlan) -> list[Finished]:
    return [
        Finished(column.name, column.fact.type, [group[i] for group in released.groups], None)
        for i, column in enumerate(planned.keys)
    ]


def _without(column: Finished) -> Finished:
    """Return the column with infinite half-widths and no interval; a key column is unchanged."""
    if column.margins is None:
        return column
    endless, nothing = (np.full(len(column.values), value) for value in (np.inf, np.nan))
    return replace(column, margins=endless, low=nothing, high=nothing)


def _with_margins(released: ReleasedTable, planned: MeasurePlan, confidence: float) -> list[Finished]:
    released, spread = with_other(released, planned)
    if planned.runs is not None:
        spread = np.sqrt(prefix.variances(planned.runs.branching, planned.runs.groups)[0])
    if numbers_measured(planned) is not None:
        spread = spread_of(released, planned)
    columns, finishes = _keys(released, planned), planned.measure.finishes
    columns += [_finished(finish, released, planned, spread, confidence) for finish in finishes]
    if not planned.measure.derived and not planned.measure.posteriors:
        return columns
    sums = released.sums[:, : len(planned.measure.statistics)].astype(np.float64)
    follow, near = partial(followed, planned), barely(released, planned)
    alone = numbers_measured(planned) is None
    together = None if alone else partial(noise_of_numbers, released, planned)
    further = [
        derived(output, planned, sums, spread, columns, follow, near, confidence, together)
        for output in planned.measure.derived
    ]
    return columns + further + _posteriors(released, planned, spread, follow, near)


def _posteriors(
    released: ReleasedTable, planned: MeasurePlan, spread: Floats, follow: Follow, near: Mapping[int, float]
) -> list[Finished]:
    if not planned.measure.posteriors:
        return []
    from dpsql.post.posteriors import posterior_columns

    return posterior_columns(released, planned, spread, follow, near)


def barely(released: ReleasedTable, planned: MeasurePlan) -> dict[int, float]:
    """Return the groups with a number of units near the threshold."""
    rule, units = planned.rule, planned.measure.units
    if not isinstance(rule, Threshold) or units is None:
        return {}
    numbers = released.sums[:, units].astype(np.float64)
    return barely_shown(numbers, _chosen(released, planned, rule), rule.steps, planned.noise)


def _chosen(released: ReleasedTable, planned: MeasurePlan, rule: Threshold) -> list[bool]:
    """Return for each group whether it is shown because it reached the threshold."""
    always = set() if rule.listed is None else {number for number, _ in rule.listed.sets}
    return [not planned.measure.sets or group[0] not in always for group in released.groups]


def followed(planned: MeasurePlan, finish: Finish, cells: Floats) -> Floats:
    """Compute an aggregate from the sums of all cells (the last axis)."""
    return shelf()[finish.call.function].estimate(_behind(planned, finish, cells))


def rows_behind(planned: MeasurePlan, finish: Finish, cells: Floats) -> Floats | None:
    """Return the number of rows that a mean divides by, from the sums of all cells."""
    return _behind(planned, finish, cells).rows


def _behind(planned: MeasurePlan, finish: Finish, cells: Floats) -> Sums:
    statistics = [planned.measure.statistics[group[0]] for group in finish.statistics]
    sums = np.stack([cells[..., list(group)].sum(axis=-1) for group in finish.statistics], axis=-1)
    return _in_units(finish, statistics, sums)


def _finished(
    finish: Finish, released: ReleasedTable, planned: MeasurePlan, spread: Floats, confidence: float
) -> Finished:
    if finish.places:
        detail = planned.detail_at(finish.places[0])
        first = len(planned.measure.statistics) + finish.places[0]
        return part("finish", detail.detail.kind).column(finish, planned, detail, released, first)
    values, sums = _values(finish, released, planned)
    statistics = [planned.measure.statistics[cells[0]] for cells in finish.statistics]
    reach = _reach(finish, statistics, sums.astype(np.float64), released, planned, spread, confidence)
    below, above = as_delivered(reach.below, finish.type), as_delivered(reach.above, finish.type)
    delivered = _numbers(values)
    half = np.maximum(np.abs(below), np.abs(above))
    return Finished(finish.call.name, finish.type, values, half, delivered - below, delivered + above)


def _values(
    finish: Finish, released: ReleasedTable, planned: MeasurePlan
) -> tuple[Sequence[Value], NDArray[np.int64]]:
    """Return the values of an aggregate, and the sums that they are computed from."""
    statistics = [planned.measure.statistics[cells[0]] for cells in finish.statistics]
    sums = np.stack([_added(released.sums, cells) for cells in finish.statistics], axis=1)
    if is_linear(finish):
        return _exact(finish, statistics, sums), sums
    estimate = estimated(finish, statistics, sums.astype(np.float64))
    return [None if math.isnan(number) else float(number) for number in estimate], sums


def _numbers(values: Sequence[Value]) -> Floats:
    """Return the values of an aggregate as floats, NaN where there is none."""
    if isinstance(values, Decimals):
        return values.floats()
    numbers = [math.nan if value is None else float(value) for value in values]  # type: ignore[arg-type]  # numbers of aggregates
    return np.array(numbers, dtype=np.float64)


def reach_anywhere(finish: Finish, planned: MeasurePlan, confidence: float) -> float | None:
    """Return the margin of an aggregate for any value; None if the margin depends on the value."""
    if planned.without_margins or numbers_measured(planned) is not None:
        return None
    if finish.places:
        detail = planned.detail_at(finish.places[0])
        return part("finish", detail.detail.kind).reach(detail, confidence)
    if not is_linear(finish):
        return None
    cells = sorted({position for group in finish.statistics for position in group})
    statistics = [planned.measure.statistics[group[0]] for group in finish.statistics]
    if len(cells) == 1:
        width = mechanism(planned.noise.mechanism).half_width(planned.noise.scale, confidence)
        return delivered(width * _step(finish, statistics), finish.type)
    reach = _linear(finish, statistics, cells, planned.noise, confidence)
    return float(max(as_delivered(side, finish.type)[0] for side in (reach.below, reach.above)))


def _added(sums: NDArray[np.int64], cells: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the sum of some statistics, one number per group, saturated."""
    if len(cells) == 1:
        return sums[:, cells[0]]
    added = (sum(row) for row in sums[:, list(cells)].tolist())  # whole numbers of any size
    return np.array([max(-MOST, min(MOST, number)) for number in added], dtype=np.int64)


def estimated(finish: Finish, statistics: list[Statistic], sums: Floats) -> Floats:
    """Compute an aggregate from the sums of its statistics (the last axis), in grid steps."""
    return shelf()[finish.call.function].estimate(_in_units(finish, statistics, sums))


def _in_units(finish: Finish, statistics: list[Statistic], sums: Floats) -> Sums:
    measured = _measured(finish, statistics, sums)
    return measured if finish.line is None else _on_line(finish.line, measured)


def _on_line(line: Line, measured: Sums) -> Sums:
    """Return the sums of a line of the argument; without an offset, the number of rows is not needed."""
    assert measured.total is not None
    total = float(line.slope) * measured.total
    if line.offset:
        assert measured.rows is not None
        total = total + float(line.offset) * measured.rows
    ends = measured.range
    return Sums(measured.rows, measured.units, total, ends and Interval(*line.ends(ends.low, ends.high)))


def _measured(finish: Finish, statistics: list[Statistic], sums: Floats) -> Sums:
    first = statistics[0]
    if first.part is Part.REST or first.part in CELLS:
        return sums_of_cells(finish.call, statistics, sums)
    number = sums[..., 0] * float(first.step)
    if len(statistics) == 2:  # rows, and a total that is measured apart
        total = statistics[1]
        added = sums[..., 1] * float(total.step)
        return Sums(rows=number, total=added, range=Interval(total.low, total.high))
    match first.part:
        case Part.ROWS | Part.UNITS:  # where a unit has one row, its rows count its units
            return Sums(rows=number, units=number)
        case _:
            return Sums(total=number)


def _exact(finish: Finish, statistics: list[Statistic], sums: NDArray[np.int64]) -> Sequence[Value]:
    """Convert counts or sums from grid steps to exact values of the column's type.

    Each value is (a * first + b * second + ...) / d, with integers a, b, ... and d from the plan.
    """
    weights = [statistics[0].step]
    if statistics[0].part is Part.REST or statistics[0].part in CELLS:
        rows = Need.TOTAL not in shelf()[finish.call.function].needs
        weights = weights_of_cells(finish.call, statistics, rows)
    if finish.line is not None:
        weights = [finish.line.slope * weight for weight in weights]
        if finish.line.offset:
            counts = weights_of_cells(finish.call, statistics, True)
            pairs = zip(weights, counts, strict=True)
            weights = [total + finish.line.offset * count for total, count in pairs]
    if len(weights) == 1 and finish.type.kind is Kind.INTEGER and _is_small(sums, weights[0]):
        ends = type_range(finish.type)
        near = _nearest(sums, weights[0])
        return list(np.clip(near, int(max(ends.low, -MOST)), int(min(ends.high, MOST))).tolist())
    if len(weights) == 1 and finish.type.kind is Kind.DECIMAL:
        width, scale = decimal_size(finish.type)
        if _is_small(sums, weights[0] * 10**scale):
            most = min(10**width - 1, MOST)
            return Decimals(np.clip(_nearest(sums, weights[0] * 10**scale), -most, most), scale)
    numbers = [sums[:, 0].tolist()] if len(weights) == 1 else sums.T.tolist()
    return rounded(list(zip(numbers, weights, strict=True)), finish.type)


def _nearest(sums: NDArray[np.int64], weight: Fraction) -> NDArray[np.int64]:
    """Return the whole numbers next to the weighted sums, halves upwards."""
    factor, d = weight.as_integer_ratio()
    near: NDArray[np.int64] = (2 * factor * sums[:, 0] + d) // (2 * d)
    return near


def _is_small(sums: NDArray[np.int64], weight: Fraction) -> bool:
    """Whether 64 bits hold each sum times twice the factor, with the divisor added twice."""
    factor, d = weight.as_integer_ratio()
    most = max(map(abs, (int(sums.min()), int(sums.max())))) if sums.size else 0
    return max(most, 1) * 2 * abs(factor) + 2 * d <= MOST


def as_delivered(widths: Floats, type: Type) -> Floats:
    """Adjust half-widths for the rounding to the column's type."""
    match type.kind:
        case Kind.INTEGER:
            reached: Floats = np.ceil(widths - 0.5) + 0.0  # no minus before a zero
            return reached
        case Kind.DECIMAL:
            return widths + float(0.5 / 10 ** decimal_size(type)[1])
        case _:
            return widths


def _step(finish: Finish, statistics: list[Statistic]) -> float:
    """Return what one step of a single sum adds to the aggregate."""
    return float(statistics[0].step * (1 if finish.line is None else abs(finish.line.slope)))


def _incidence(finish: Finish, cells: list[int]) -> Floats:
    """Return the matrix that maps cells (rows) to the statistics of an aggregate (columns)."""
    return np.array([[float(cell in group) for group in finish.statistics] for cell in cells])


def _linear(
    finish: Finish, statistics: list[Statistic], cells: list[int], noise: Noise, confidence: float
) -> Reach:
    """Return the margin of a weighted sum of several cells, the same for any value."""
    estimate, incidence = partial(estimated, finish, statistics), _incidence(finish, cells)
    quantile = quantile_of(noise, len(cells), confidence)
    if quantile is None:
        return simulated(
            estimate, np.zeros((1, len(statistics))), incidence, noise, np.ones(1), confidence, PRECISE
        )
    weights = estimate(np.eye(len(statistics))) - estimate(np.zeros(len(statistics)))
    half = noise.scale * quantile((incidence @ weights)[np.newaxis])
    return Reach(half, half)


def _reach(
    finish: Finish,
    statistics: list[Statistic],
    sums: Floats,
    released: ReleasedTable,
    planned: MeasurePlan,
    spread: Floats,
    confidence: float,
) -> Reach:
    cells = sorted({position for group in finish.statistics for position in group})
    spread = spread if spread.ndim == 1 else spread[:, cells[0]]
    if len(cells) > 1:
        if is_linear(finish):
            reach = _linear(finish, statistics, cells, planned.noise, confidence)
            return Reach(reach.below * spread, reach.above * spread)
        incidence = _incidence(finish, cells)
        quotient = shelf()[finish.call.function].quotient
        found = quotient(_in_units(finish, statistics, sums))
        weights = quotient(_in_units(finish, statistics, np.eye(sums.shape[1])))
        if found is not None and weights is not None:
            laws = incidence @ weights[0], incidence @ weights[1]
            return margins_of_means(*found, laws, planned.noise, spread, confidence)
        estimate = partial(estimated, finish, statistics)
        return simulated(estimate, sums, incidence, planned.noise, spread, confidence)
    reach = plain(_step(finish, statistics), planned.noise, spread, confidence)
    rule = planned.rule
    if not isinstance(rule, Threshold) or cells != [planned.measure.units]:
        return reach
    chosen = _chosen(released, planned, rule)
    return above_threshold(reach, sums[:, 0], chosen, rule.steps, statistics[0], planned.noise, confidence)

"""Facts on a released column: its bounds and their origin, its noise and expected error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from dpsql.aggregates import shelf
from dpsql.detail_kinds import part
from dpsql.facts.origin import Origin, origins_of
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.row_guesses import clipped_by_rows, share_an_end
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Interval, bounded_range
from dpsql.ir.measure import Finish
from dpsql.ir.plan import MeasurePlan, Noise
from dpsql.ir.scalar import Scalar
from dpsql.ir.statistic import CELLS, Part, Statistic
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism, prefix
from dpsql.plan.measure_facts import rows_declared_in
from dpsql.policy.catalogue import Known
from dpsql.post.finish import finish as finished
from dpsql.post.single_sums import delivered

BoundsFrom: TypeAlias = Callable[[frozenset[Origin]], list[str]]
"""From the columns that an argument reads to where their bounds come from."""

Axes: TypeAlias = Sequence[tuple[Scalar, float | int, float | int]]
"""Arguments of an aggregate, with their bounds."""


def bounds_from(known: Known) -> BoundsFrom:
    """Return what says where bounds come from: thousands of sums of a fit read the same columns."""

    @cache
    def told(origins: frozenset[Origin]) -> list[str]:
        return [_declared(*each, known) for each in sorted(origins) if _is_bounded(*each, known)]

    return lambda origins: [*told(origins)]


def column_facts(
    finish: Finish, planned: MeasurePlan, known: Known, told: BoundsFrom | None = None
) -> dict[str, Any]:
    facts = _facts(finish, planned, known, told or bounds_from(known))
    if "expected_error" in facts:  # a count within 25.3 of the truth is within 25
        facts["expected_error"] = delivered(float(facts["expected_error"]), finish.type)
    if planned.without_margins:
        facts = {key: value for key, value in facts.items() if not key.startswith("expected_error")}
        facts["rests_on_noise" if planned.rests_on_noise else "synthetic"] = True
    return facts


def _facts(finish: Finish, planned: MeasurePlan, known: Known, told: BoundsFrom) -> dict[str, Any]:
    if finish.places:
        return _of_detail(finish, planned)
    statistics = [planned.measure.statistics[cells[0]] for cells in finish.statistics]
    chosen, cells = mechanism(planned.noise.mechanism), max(map(len, finish.statistics), default=1)
    width = chosen.half_width(planned.noise.scale)
    if cells > 1:  # nearly normal
        width = 1.96 * chosen.deviation(planned.noise.scale) * cells**0.5
    last = statistics[-1]
    slope = 1 if finish.line is None else abs(finish.line.slope)
    low, high = _on_line(finish, last.low, last.high)
    facts: dict[str, Any] = {
        "name": finish.call.name,
        "aggregate": finish.call.function,
        "type": finish.type.sql,
        "cells": cells,
    }
    if statistics[0].part in CELLS:
        return facts | _of_cells(finish, statistics[0], planned, known, told)
    if last.argument is not None and last.part in (Part.VALUE, Part.REST):
        facts["bounds"] = [low, high]
        facts |= _bounds_from([(last.argument, last.low, last.high)], planned, known, told)
    deviations, (_, clip) = planned.deviations(), planned.bound
    if deviations is not None:
        wide = deviations[:, finish.statistics[0][0]].max()
        facts["scale"] = float(planned.noise.scale * wide * last.step)
        facts["sensitivity"] = float(clip * last.step)
        facts["expected_error"] = float(chosen.half_width(planned.noise.scale * wide) * last.step)
        return facts
    if planned.runs is not None:
        variances = prefix.variances(planned.runs.branching, planned.runs.groups)
        groups, totals = (math.sqrt(planned.max()) for planned in variances)
        facts["scale"] = float(planned.noise.scale * groups * last.step)
        facts["sensitivity"] = float(planned.runs.clip * last.step)
        facts["expected_error"] = float(chosen.half_width(planned.noise.scale * groups) * last.step)
        facts["expected_error_of_totals"] = float(chosen.half_width(planned.noise.scale * totals) * last.step)
        return facts
    if statistics[0].part is Part.ROWS and len(statistics) == 2:
        facts["scale"] = float(planned.noise.scale * last.step * slope)
        facts["sensitivity"] = float(planned.noise.sensitivity * last.step * slope)
        # an error of both, where a row is as large as its grid was made for
        facts["expected_error_at_1000_rows"] = float(math.sqrt(2) * width * last.step * slope) / 1000
        return facts
    if statistics[0].part is not Part.REST:
        facts["scale"] = float(planned.noise.scale * last.step * slope)
        facts["sensitivity"] = float(planned.noise.sensitivity * last.step * slope)
        facts["expected_error"] = float(width * last.step * slope)
        return facts
    facts["scale"] = float(planned.noise.scale * last.step * slope)
    facts["sensitivity"] = float(planned.noise.sensitivity * last.step * slope)
    rule, step = shelf()[finish.call.function], width / statistics[0].most
    error, of_many = rule.expected_error(step, float(low), float(high))
    facts["expected_error_at_1000_rows" if of_many else "expected_error"] = error
    return facts


def _of_detail(finish: Finish, measure: MeasurePlan) -> dict[str, Any]:
    planned = measure.detail_at(finish.places[0])
    facts = {"name": finish.call.name, "aggregate": finish.call.function, "type": finish.type.sql}
    return facts | part("explain", planned.detail.kind).facts(finish, measure, planned)


def noise_facts(noise: Noise) -> dict[str, Any]:
    """Return the facts on the noise of a detail; its grid step is one row."""
    return {
        "mechanism": noise.mechanism,
        "scale": noise.scale,
        "expected_error": mechanism(noise.mechanism).half_width(noise.scale),
    }


_EVEN = {Part.BERNSTEIN: (1 / 3, 1 / 3, 1 / 3), Part.LAGRANGE: (1 / 6, 2 / 3, 1 / 6)}
"""Share of each cell, for values that are distributed uniformly over their range."""


def _bounds_from(axes: Axes, planned: MeasurePlan, known: Known, told: BoundsFrom) -> dict[str, Any]:
    """Return where bounds come from: columns, and the rows of a unit where they end a number of these."""
    relation = planned.measure.relation
    said = [each for argument, _, _ in axes for each in told(origins_of(relation, argument))]
    for argument, low, high in axes if planned.measure.model is None else ():
        ends = fact_of(argument, facts_of(relation)).domain
        if clipped_by_rows(relation, argument) and share_an_end(ends, Interval(low, high)):
            owned = ownership_of(relation)
            one_row = isinstance(owned, Owned) and owned.at_most == 1
            origins = [*said, rows_declared_in(planned.measure, known)]
            return {"bounds_from": origins, "clipped_by_rows": True, "clamped_lifts": one_row}
    return {"bounds_from": said}


def _of_cells(
    finish: Finish, first: Statistic, planned: MeasurePlan, known: Known, told: BoundsFrom
) -> dict[str, Any]:
    """Return the facts on moments; the error is simulated for 1,000 rows, uniform over the ranges."""
    axes = [] if first.argument is None else [(first.argument, first.low, first.high)]
    axes += [] if first.other is None else [(first.other.argument, first.other.low, first.other.high)]
    arguments = (finish.call.argument, *finish.call.others)
    by_argument = {axis[0]: axis for axis in axes}  # REGR_SXY(x, x) has x twice, and AVG(x) beside it once
    read = [by_argument[argument] for argument in arguments if argument in by_argument] or axes
    sums = np.zeros((1, planned.measure.width), dtype=np.int64)
    for position in (position for cells in finish.statistics for position in cells):
        cell = planned.measure.statistics[position]
        even = _EVEN[cell.part]
        share = even[cell.cell] if cell.other is None else even[cell.cell // 3] * even[cell.cell % 3]
        sums[0, position] = round(1000 * cell.most * share)
    plain = replace(planned.measure, finishes=(finish,), other=None, derived=())
    alone = replace(planned, rests_on_noise=False, measure=plain)
    margins = finished(ReleasedTable([(None,) * len(planned.keys)], sums), alone)[-1].margins
    assert margins is not None
    error = {"expected_error_at_1000_rows": float(margins[0])} if math.isfinite(margins[0]) else {}
    return error | {
        "bounds": [end for _, *ends in read for end in _on_line(finish, *ends)],
        **_bounds_from(read, planned, known, told),
        "scale": float(planned.noise.scale / first.most),
        "sensitivity": float(planned.noise.sensitivity / first.most),
    }


def _on_line(finish: Finish, low: float | int, high: float | int) -> tuple[float | int, float | int]:
    return (low, high) if finish.line is None else finish.line.ends(low, high)


def _is_bounded(table: str, column: str, known: Known) -> bool:
    entry = known.table(table)
    facts = [] if entry is None else [listed.fact for listed in entry.columns if listed.name == column]
    return any(bounded_range(fact) is not None for fact in facts)


def _declared(table: str, column: str, known: Known) -> str:
    entry = known.table(table)
    if entry is not None and column in entry.found:
        return f"{table}.{column} (found privately)"
    line = dict(entry.lines).get(column) if entry is not None else None
    return f"{table}.{column}" + (f" ({known.policy_name}:{line})" if line else " (its type)")

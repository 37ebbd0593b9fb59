"""Noise of numbers that are measured together: cells, or sums of the same cells, so that they vary together.

A strategy's noisy sums give the cells by least squares; a number is a sum of cells. All of this is linear, so
the noise of the numbers is the same linear map of the noise that was added.
"""

from __future__ import annotations

from dpsql.aggregates import Floats
from dpsql.ir.group_order import order_of
from dpsql.ir.plan import MeasurePlan, PublicKeys
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms.null_groups import shown
from dpsql.post.non_negative import raised_cells

_LARGEST = 2**61


def numbers_of(cells: ReleasedTable, planned: MeasurePlan, every_group: bool = False) -> ReleasedTable:
    """Return the numbers that are sums of released cells, of the groups that are shown."""
    joint = planned.joint
    assert joint is not None
    assert isinstance(planned.rule, PublicKeys)
    places = {group: place for place, group in enumerate(joint.first_groups())}
    found = [0] * joint.applied.strategy.cells
    for group, row in zip(cells.groups, cells.sums, strict=True):
        if group in places:
            found[places[group]] = int(row[0])
    if planned.measure.non_negative is not None:
        found = raised_cells(found, joint.applied)
    groups = planned.rule.groups()
    numbers = [max(-_LARGEST, min(_LARGEST, number)) for number in joint.rows.exact_sums(found)]
    sums = np.array(numbers, dtype=np.int64).reshape(len(groups), -1)
    kept = np.ones(len(groups), dtype=np.bool_) if every_group else shown(groups, sums, planned)
    left = [groups[place] for place in np.flatnonzero(kept)]
    order = order_of(left)
    return ReleasedTable([left[place] for place in order], sums[kept][order])


def numbers_measured(planned: MeasurePlan) -> int | None:
    """Return how many numbers are measured in place of a measure's own; None where these are."""
    applied = planned.applied if planned.joint is None else planned.joint.applied
    return None if applied is None else applied.strategy.numbers


def spread_of(released: ReleasedTable, planned: MeasurePlan) -> Floats:
    """Return the deviation of each released number for noise of deviation 1: groups by statistics."""
    deviations = planned.deviations()
    assert deviations is not None
    return deviations[_places(released, planned)]


def noise_of_numbers(released: ReleasedTable, planned: MeasurePlan, drawn: Floats) -> Floats:
    """Return the noise of the released numbers: groups by statistics by draws.

    ``drawn`` has the noise of what is measured, a row for each sum.
    """
    if planned.joint is not None:
        cells = planned.joint.applied.strategy.solve(drawn)
        numbers = planned.joint.rows.sums(cells)
    else:
        assert planned.applied is not None
        numbers = planned.applied.strategy.solve(drawn)[list(planned.applied.places)]
    by_group = numbers.reshape(-1, len(planned.measure.statistics), drawn.shape[1])
    return by_group[_places(released, planned)]


def _places(released: ReleasedTable, planned: MeasurePlan) -> list[int]:
    """Return where the released groups are in the list of all groups."""
    assert isinstance(planned.rule, PublicKeys)
    listed = {group: place for place, group in enumerate(planned.rule.groups())}
    return [listed[group] for group in released.groups]

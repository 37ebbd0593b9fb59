"""Matrices that are measured in place of groups: ranges of groups in order, and strategies of cells.

    A x    exact, whole, private; noise is added to it      ``measured``
    x      by least squares, made whole: released           ``_from_runs``, ``_cells``

The proofs are in mechanisms/prefix.py and mechanisms/strategies/strategy.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.group_order import order_of
from dpsql.ir.plan import Applied, MeasurePlan
from dpsql.ir.table import ExactTable
from dpsql.mechanisms import prefix
from dpsql.mechanisms.strategies.whole_cells import whole
from dpsql.release.completed import completed

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_LARGEST = 2**61


def has_matrix(planned: MeasurePlan) -> bool:
    """Whether a matrix is measured in place of a measure's own groups."""
    return planned.runs is not None or planned.applied is not None


def measured(exact: ExactTable, planned: MeasurePlan) -> list[int]:
    """Return A x: private, like the sums of groups."""
    groups, sums = completed(exact, planned)
    if planned.runs is not None:
        return prefix.measured(planned.runs.branching, [int(sums[i, 0]) for i in order_of(groups)])
    assert planned.applied is not None
    return planned.applied.strategy.measured(_summed(sums, planned.applied))


def noised(
    exact: ExactTable, planned: MeasurePlan, draw: Draw
) -> tuple[Sequence[tuple[Value, ...]], NDArray[np.int64]]:
    """Return the groups of a measure and their noisy numbers."""
    groups, sums = completed(exact, planned)
    if planned.runs is not None:
        return groups, _from_runs(groups, sums, exact, planned, draw)
    if planned.applied is not None:
        return groups, _spread(_cells(exact, planned, draw), planned.applied)
    return groups, sums + draw(planned.noise, sums.size).reshape(sums.shape)


def _noisy(exact: ExactTable, planned: MeasurePlan, draw: Draw) -> list[int]:
    numbers = measured(exact, planned)
    return [number + int(n) for number, n in zip(numbers, draw(planned.noise, len(numbers)), strict=True)]


def _from_runs(
    groups: Sequence[tuple[Value, ...]],
    sums: NDArray[np.int64],
    exact: ExactTable,
    planned: MeasurePlan,
    draw: Draw,
) -> NDArray[np.int64]:
    """Estimate the sums of groups from noisy sums over ranges of consecutive groups."""
    runs = planned.runs
    assert runs is not None
    estimates = np.zeros_like(sums)
    noisy = _noisy(exact, planned, draw)
    estimates[order_of(groups), 0] = prefix.groups_from(runs.branching, runs.groups, noisy, runs.unit)
    return estimates


def _cells(exact: ExactTable, planned: MeasurePlan, draw: Draw) -> NDArray[np.int64]:
    """Return whole estimates of a strategy's cells: every number is a sum of these, so all numbers agree."""
    applied = planned.applied
    assert applied is not None
    cells, _ = whole(applied.strategy.solve(_noisy(exact, planned, draw)), applied.gram, unit=applied.unit)
    return cells


def _summed(sums: NDArray[np.int64], applied: Applied) -> list[int]:
    """Add up the groups of each cell; a sum that no table has is cut, which brings sums no further apart."""
    cells = [0] * applied.strategy.cells
    for place, number in zip(applied.places, sums[:, 0].tolist(), strict=True):
        if place >= 0:
            cells[place] += number
    return [max(-_LARGEST, min(_LARGEST, cell)) for cell in cells]


def _spread(cells: NDArray[np.int64], applied: Applied) -> NDArray[np.int64]:
    """Return the cells as groups: a cell of several groups stands in the first of them."""
    numbers = np.zeros((len(applied.places), 1), dtype=np.int64)
    for cell, number in enumerate(cells.tolist()):
        numbers[applied.places.index(cell), 0] = number
    return numbers

"""Matrices that are measured in place of groups: ranges of groups in order, and strategies of cells.

    A x    exact, whole, private; noise is added to it      ``measured``
    x      by least squares, made whole: released           ``_from_runs``, ``_from_cells``

The proofs are in mechanisms/prefix.py and mechanisms/strategies/strategy.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.group_order import order_of
from dpsql.ir.plan import Applied, MeasurePlan, Runs
from dpsql.ir.table import ExactTable
from dpsql.late_numpy import np
from dpsql.mechanisms import prefix
from dpsql.mechanisms.strategies.whole_cells import whole_for
from dpsql.release.completed import completed

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_LARGEST = 2**61


def has_matrix(planned: MeasurePlan) -> bool:
    """Whether a matrix is measured in place of a measure's own groups."""
    return planned.runs is not None or planned.applied is not None


def measured(exact: ExactTable, planned: MeasurePlan) -> list[int]:
    """Return A x: private, like the sums of groups."""
    return _measured(*completed(exact, planned), planned)


def noised(
    exact: ExactTable, planned: MeasurePlan, draw: Draw
) -> tuple[Sequence[tuple[Value, ...]], NDArray[np.int64]]:
    """Return the groups of a measure and their noisy numbers."""
    groups, sums = completed(exact, planned)
    if planned.runs is not None:
        return groups, _from_runs(groups, _noisy(groups, sums, planned, draw), planned.runs)
    if planned.applied is not None:
        return groups, _from_cells(_noisy(groups, sums, planned, draw), planned.applied)
    return groups, sums + draw(planned.noise, sums.size).reshape(sums.shape)


def _measured(
    groups: Sequence[tuple[Value, ...]], sums: NDArray[np.int64], planned: MeasurePlan
) -> list[int]:
    if planned.runs is not None:
        return prefix.measured(planned.runs.branching, [int(sums[i, 0]) for i in order_of(groups)])
    assert planned.applied is not None
    return planned.applied.strategy.measured(_summed(sums, planned.applied))


def _noisy(
    groups: Sequence[tuple[Value, ...]], sums: NDArray[np.int64], planned: MeasurePlan, draw: Draw
) -> list[int]:
    numbers = _measured(groups, sums, planned)
    return [number + int(n) for number, n in zip(numbers, draw(planned.noise, len(numbers)), strict=True)]


def _from_runs(groups: Sequence[tuple[Value, ...]], noisy: list[int], runs: Runs) -> NDArray[np.int64]:
    """Estimate the sums of groups from noisy sums over ranges of consecutive groups."""
    estimates = np.zeros((len(groups), 1), dtype=np.int64)
    estimates[order_of(groups), 0] = prefix.groups_from(runs.branching, runs.groups, noisy, runs.unit)
    return estimates


def _from_cells(noisy: list[int], applied: Applied) -> NDArray[np.int64]:
    """Return whole estimates of the cells: every number is a sum of these, so all numbers agree.

    A cell of several groups stands in the first of them.
    """
    cells, _ = whole_for(applied.strategy.solve(noisy), applied.gram, applied.unit)
    numbers = np.zeros((len(applied.places), 1), dtype=np.int64)
    numbers[applied.first_places(), 0] = cells
    return numbers


def _summed(sums: NDArray[np.int64], applied: Applied) -> list[int]:
    """Add up the groups of each cell; a sum that no table has is cut, which brings sums no further apart."""
    cells = [0] * applied.strategy.cells
    for place, number in zip(applied.places, sums[:, 0].tolist(), strict=True):
        if place >= 0:
            cells[place] += number
    return [max(-_LARGEST, min(_LARGEST, cell)) for cell in cells]

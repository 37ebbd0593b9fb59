"""ExactTable -> ReleasedTable: the only such arrow in the program.

Every number gets its own draw of the planned noise. Public groups are completed first, so that an empty
group is noise around zero; where keys are private, a group is shown when its noisy count of units
reaches the threshold. What leaves here is sorted by its keys: the engine's order depends on the data.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.group_order import order_of
from dpsql.ir.plan import MeasurePlan, Noise, Threshold
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactGroups, ExactTable, ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.exponential import Choose
from dpsql.mechanisms.null_groups import shown
from dpsql.release.completed import always_shown
from dpsql.release.details import chosen_by_system, released_detail
from dpsql.release.matrices import noised

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def from_system(noise: Noise, size: int) -> NDArray[np.int64]:
    """Draw noise from the operating system's randomness. The session uses nothing else."""

    return mechanism(noise.mechanism).draw(noise.scale, size, os.urandom)


def release(
    exact: ExactTable,
    planned: MeasurePlan,
    draw: Draw,
    threshold: int | None = None,
    choose: Choose = chosen_by_system,
) -> ReleasedTable:
    """Add noise to all sums, keep the groups that the key rule shows, then release their details.

    The owner's audit passes a ``threshold`` that replaces the planned one, and a ``draw`` of zeros; it gets
    all listed groups.
    """
    if isinstance(planned.rule, SyntheticRows):
        from dpsql.release.synthetic import released_marginals

        return released_marginals(exact, planned, draw, choose)
    groups, noisy = noised(exact, planned, draw)
    if isinstance(planned.rule, Threshold):
        steps = planned.rule.steps if threshold is None else threshold
        kept = noisy[:, planned.rule.statistic] >= steps
        kept[: always_shown(planned)] = True
        groups, noisy = _only(kept, groups, noisy)
    if threshold is None:
        groups, noisy = _only(shown(groups, noisy, planned), groups, noisy)
    order, ordered = _in_order(groups, planned)
    numbers = [noisy[order]]
    for detail_plan, weights in zip(planned.details, exact.details, strict=True):
        numbers.append(released_detail(detail_plan, weights, ordered, draw, choose))
    return ReleasedTable(ordered, np.concatenate(numbers, axis=1))


def _in_order(
    groups: Sequence[tuple[Value, ...]], planned: MeasurePlan
) -> tuple[Sequence[int], Sequence[tuple[Value, ...]]]:
    """Return the order in which groups are released, and the groups in it."""
    listed = planned.rule.groups_listed()
    if listed is not None and groups is listed.groups:
        return listed.order, listed.ordered
    order = order_of(groups)
    return order, [groups[place] for place in order]


def _only(
    kept: NDArray[np.bool_], groups: Sequence[tuple[Value, ...]], noisy: NDArray[np.int64]
) -> tuple[Sequence[tuple[Value, ...]], NDArray[np.int64]]:
    if kept.all() and not isinstance(groups, ExactGroups):
        return groups, noisy
    places = np.flatnonzero(kept).tolist()
    taken = groups.taken(places) if isinstance(groups, ExactGroups) else [groups[place] for place in places]
    return taken, noisy[kept]

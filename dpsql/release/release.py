"""ExactTable -> ReleasedTable: the only such arrow in the program.

Every number gets its own draw of the planned noise. Public groups are completed first, so that an empty
group is noise around zero; where keys are private, a group is shown when its noisy count of units
reaches the threshold. What leaves here is sorted by its keys: the engine's order depends on the data.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan, Noise, PublicKeys, Threshold
from dpsql.ir.table import ExactGroups, ExactTable, ReleasedTable
from dpsql.mechanisms import mechanism, prefix
from dpsql.mechanisms.exponential import Choose
from dpsql.release.details import chosen_by_system, released_detail
from dpsql.release.groups import plain
from dpsql.release.null_groups import shown

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
    groups, sums = completed(exact, planned)
    if planned.runs is None:
        noisy = sums + draw(planned.noise, sums.size).reshape(sums.shape)
    else:
        noisy = _from_runs(groups, sums, planned, draw)
    if isinstance(planned.rule, Threshold):
        steps = planned.rule.steps if threshold is None else threshold
        kept = noisy[:, planned.rule.statistic] >= steps
        kept[: _always_shown(planned)] = True
        groups, noisy = _only(kept, groups, noisy)
    if threshold is None:
        groups, noisy = _only(shown(groups, noisy, planned), groups, noisy)
    order = _order(groups)
    ordered = [groups[i] for i in order]
    numbers = [noisy[order]]
    for detail_plan, weights in zip(planned.details, exact.details, strict=True):
        numbers.append(released_detail(detail_plan, weights, ordered, draw, choose))
    return ReleasedTable(ordered, np.concatenate(numbers, axis=1))


def _only(
    kept: NDArray[np.bool_], groups: Sequence[tuple[Value, ...]], noisy: NDArray[np.int64]
) -> tuple[list[tuple[Value, ...]], NDArray[np.int64]]:
    places = np.flatnonzero(kept).tolist()
    taken = groups.taken(places) if isinstance(groups, ExactGroups) else [groups[place] for place in places]
    return taken, noisy[kept]


def _order(groups: Sequence[tuple[Value, ...]]) -> list[int]:
    return sorted(range(len(groups)), key=lambda i: tuple(rank(value) for value in groups[i]))


def in_runs(exact: ExactTable, planned: MeasurePlan) -> list[int]:
    """Return the exact sums over ranges of consecutive groups: private, like the sums of groups."""
    groups, sums = completed(exact, planned)
    assert planned.runs is not None
    return prefix.measured(planned.runs.branching, [int(sums[i, 0]) for i in _order(groups)])


def _from_runs(
    groups: Sequence[tuple[Value, ...]], sums: NDArray[np.int64], planned: MeasurePlan, draw: Draw
) -> NDArray[np.int64]:
    """Estimate the sums of groups from noisy sums over ranges of consecutive groups."""
    runs, order = planned.runs, _order(groups)
    assert runs is not None
    exact = prefix.measured(runs.branching, [int(sums[i, 0]) for i in order])
    noisy = [number + int(n) for number, n in zip(exact, draw(planned.noise, len(exact)), strict=True)]
    estimates = np.zeros_like(sums)
    estimates[order, 0] = prefix.groups_from(runs.branching, runs.groups, noisy, runs.unit)
    return estimates


def completed(
    exact: ExactTable, planned: MeasurePlan
) -> tuple[Sequence[tuple[Value, ...]], NDArray[np.int64]]:
    """Return the groups with their sums: all combinations of public keys first, and no others of them.

    Private keys: the groups of the exact table.
    """
    listed = _public_keys(planned)
    if listed is None:
        return exact.groups, exact.sums
    places = {plain(group): i for i, group in enumerate(exact.groups)}
    groups = listed.groups()
    sums = np.zeros((len(groups), exact.sums.shape[1]), dtype=np.int64)
    for i, group in enumerate(groups):
        place = places.get(plain(group))
        if place is not None:
            sums[i] = exact.sums[place]
    if isinstance(planned.rule, PublicKeys):
        return groups, sums
    public = {number for number, _ in listed.sets}
    unlisted = [i for i, group in enumerate(exact.groups) if group[0] not in public]
    return groups + [exact.groups[i] for i in unlisted], np.concatenate((sums, exact.sums[unlisted]))


def _public_keys(planned: MeasurePlan) -> PublicKeys | None:
    return planned.rule if isinstance(planned.rule, PublicKeys) else planned.rule.listed


def _always_shown(planned: MeasurePlan) -> int:
    """Return how many of the first groups are shown whatever their numbers."""
    listed = _public_keys(planned)
    return 0 if listed is None else len(listed.groups())


def rank(value: Value) -> tuple[int, float | Decimal, str]:
    """Return a sort key for group keys: numbers, then text, NaN and NULL last."""
    if value is None:
        return (3, 0, "")
    if isinstance(value, bool | int | Decimal):
        return (0, Decimal(value), "")
    if isinstance(value, float):
        return (2, 0, "") if math.isnan(value) else (0, value, "")
    return (1, 0, str(value))

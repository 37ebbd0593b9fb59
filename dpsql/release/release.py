"""ExactTable -> ReleasedTable: the only such arrow in the program.

Every number gets its own draw of the planned noise. Public groups are completed first, so that an empty
group is noise around zero; where keys are private, a group is shown when its noisy count of units
reaches the threshold. What leaves here is sorted by its keys: the engine's order depends on the data.
"""

from __future__ import annotations

import math
import os
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan, Noise, PublicKeys, Threshold
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.mechanisms import mechanism, prefix
from dpsql.mechanisms.exponential import Choose
from dpsql.release.details import chosen_by_system, released_detail
from dpsql.release.groups import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def from_system(noise: Noise, size: int) -> NDArray[np.int64]:
    """Noise from the operating system's randomness. The session uses nothing else."""

    return mechanism(noise.mechanism).draw(noise.scale, size, os.urandom)


def release(
    exact: ExactTable,
    planned: MeasurePlan,
    draw: Draw,
    threshold: int | None = None,
    choose: Choose = chosen_by_system,
) -> ReleasedTable:
    """Noise on everything, then only what the key rule shows; of that, the details.

    ``threshold`` replaces the planned one in the owner's audit, where ``draw`` gives zeros.
    """
    groups, sums = completed(exact, planned)
    if planned.runs is None:
        noisy = sums + draw(planned.noise, sums.size).reshape(sums.shape)
    else:
        noisy = _from_runs(groups, sums, planned, draw)
    if isinstance(planned.rule, Threshold):
        steps = planned.rule.steps if threshold is None else threshold
        kept = noisy[:, planned.rule.statistic] >= steps
        kept[: _always(planned)] = True
        groups = [group for group, keep in zip(groups, kept, strict=True) if keep]
        noisy = noisy[kept]
    order = _order(groups)
    shown = [groups[i] for i in order]
    numbers = [noisy[order]]
    for each, weights in zip(planned.details, exact.details, strict=True):
        numbers.append(released_detail(each, weights, shown, draw, choose))
    return ReleasedTable(shown, np.concatenate(numbers, axis=1))


def _order(groups: list[tuple[Value, ...]]) -> list[int]:
    return sorted(range(len(groups)), key=lambda i: tuple(rank(value) for value in groups[i]))


def in_runs(exact: ExactTable, planned: MeasurePlan) -> list[int]:
    """What the noise is added to where runs of groups are measured: exact, and so as hot as groups are."""
    groups, sums = completed(exact, planned)
    assert planned.runs is not None
    return prefix.measured(planned.runs.branching, [int(sums[i, 0]) for i in _order(groups)])


def _from_runs(
    groups: list[tuple[Value, ...]], sums: NDArray[np.int64], planned: MeasurePlan, draw: Draw
) -> NDArray[np.int64]:
    """The groups that fit best to noisy sums of runs of them."""
    runs, order = planned.runs, _order(groups)
    assert runs is not None
    exact = prefix.measured(runs.branching, [int(sums[i, 0]) for i in order])
    noisy = [number + int(n) for number, n in zip(exact, draw(planned.noise, len(exact)), strict=True)]
    found = np.zeros_like(sums)
    found[order, 0] = prefix.groups_from(runs.branching, runs.groups, noisy, runs.unit)
    return found


def completed(exact: ExactTable, planned: MeasurePlan) -> tuple[list[tuple[Value, ...]], NDArray[np.int64]]:
    """Public keys: all combinations and no others, first. Private keys: the groups that are there."""
    listed = _public_keys(planned)
    if listed is None:
        return exact.groups, exact.sums
    places = {plain(group): i for i, group in enumerate(exact.groups)}
    groups = listed.groups()
    sums = np.zeros((len(groups), exact.sums.shape[1]), dtype=np.int64)
    for i, group in enumerate(groups):
        found = places.get(plain(group))
        if found is not None:
            sums[i] = exact.sums[found]
    if isinstance(planned.rule, PublicKeys):
        return groups, sums
    public = {number for number, _ in listed.sets}
    others = [i for i, group in enumerate(exact.groups) if group[0] not in public]
    return groups + [exact.groups[i] for i in others], np.concatenate((sums, exact.sums[others]))


def _public_keys(planned: MeasurePlan) -> PublicKeys | None:
    return planned.rule if isinstance(planned.rule, PublicKeys) else planned.rule.listed


def _always(planned: MeasurePlan) -> int:
    """How many of the first groups appear whatever their numbers."""
    listed = _public_keys(planned)
    return 0 if listed is None else len(listed.groups())


def rank(value: Value) -> tuple[int, float | Decimal, str]:
    """A total order of keys: numbers, then text, NaN and NULL last."""
    if value is None:
        return (3, 0, "")
    if isinstance(value, bool | int | Decimal):
        return (0, Decimal(value), "")
    if isinstance(value, float):
        return (2, 0, "") if math.isnan(value) else (0, value, "")
    return (1, 0, str(value))

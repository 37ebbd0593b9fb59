"""Groups of NULL among public keys: shown only where a noisy number says that they have rows.

    device    COUNT(*)
    phone         9204 ± 41
    NULL           -15 ± 41      left out

A count says it where there is one, of rows or of units; else any sum that is beyond its margin.

Claim   leaving a group out costs nothing and tells nothing more.
Proof   It depends on a number that is released anyway, which was noised before: post-processing.
Test    tests/unit/test_null_groups.py

A listed value is shown with a count of nothing too, since somebody listed it. NULL is listed by nobody: it is
possible, and in most columns it does not occur.

Where SQL above adds the groups up (a total, a share of the total), those of NULL stay: left out by their
noise, they would be missing in every sum, by more than its margin says.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan, PublicKeys
from dpsql.ir.synthetic import SyntheticRows
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_NORMAL = 1.96
"""Half-width of the middle 95 % of a normal distribution, in deviations."""


def shown(
    groups: Sequence[tuple[Value, ...]], noisy: NDArray[np.int64], planned: MeasurePlan
) -> NDArray[np.bool_]:
    """Return for each group whether it is shown: not if it is a listed one of NULL and seems empty."""
    measure, kept = planned.measure, np.ones(len(groups), dtype=np.bool_)
    if measure.added_up or not measure.statistics or planned.runs is not None or measure.view is not None:
        return kept  # groups of runs and of a view are there to be added up
    assert not isinstance(planned.rule, SyntheticRows), "they are of a view"
    listed = planned.rule if isinstance(planned.rule, PublicKeys) else planned.rule.listed
    if listed is None or None not in chain.from_iterable(groups):
        return kept
    seems_empty = _seem_empty(noisy[: len(groups)], planned)
    every = tuple(range(len(planned.keys)))
    places: dict[Value, tuple[int, ...]] = dict(listed.sets)
    for i, group in enumerate(groups):
        keys = places.get(group[0], ()) if places else every
        if any(group[place] is None for place in keys) and seems_empty[i]:
            kept[i] = False
    return kept


def _seem_empty(noisy: NDArray[np.int64], planned: MeasurePlan) -> NDArray[np.bool_]:
    """Return for each group whether its count is less than its margin; without one, whether all sums are."""
    counted = planned.measure.counted
    if counted:
        count = noisy[:, list(counted)].sum(axis=1)
        return np.asarray(count < _reach(planned, len(noisy), [counted])[:, 0], dtype=np.bool_)
    single = [(place,) for place in range(len(planned.measure.statistics))]
    within = np.abs(noisy[:, : len(single)]) < _reach(planned, len(noisy), single)
    return np.asarray(within.all(axis=1), dtype=np.bool_)


def _reach(planned: MeasurePlan, groups: int, numbers: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
    """Return the half-widths of the margins of each group's numbers, each a sum of statistics."""
    if planned.joint is None:
        widths = [_half_width(planned, len(cells)) for cells in numbers]
        return np.array([widths] * groups, dtype=np.float64).reshape(groups, len(numbers))
    usual = _NORMAL * mechanism(planned.noise.mechanism).deviation(planned.noise.scale)
    squares = np.square(planned.joint.deviations().reshape(groups, -1))
    of_numbers = [np.sqrt(squares[:, list(cells)].sum(axis=1)) for cells in numbers]
    return np.asarray(usual * np.stack(of_numbers, axis=1), dtype=np.float64)


def _half_width(planned: MeasurePlan, cells: int) -> float:
    """Return the half-width of the margin of a count, in grid steps; of many cells it is nearly normal."""
    noise, chosen = planned.noise, mechanism(planned.noise.mechanism)
    if cells == 1:
        return chosen.half_width(noise.scale)
    return float(_NORMAL * chosen.deviation(noise.scale) * cells**0.5)

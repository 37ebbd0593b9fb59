"""The groups of an exact table, with the listed ones that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from dpsql.ir.column import Value
from dpsql.ir.listed_groups import ListedGroups
from dpsql.ir.plan import MeasurePlan, PublicKeys, Threshold
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactTable
from dpsql.late_numpy import np
from dpsql.release.groups import keyed

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def completed(
    exact: ExactTable, planned: MeasurePlan
) -> tuple[Sequence[tuple[Value, ...]], NDArray[np.int64]]:
    """Return the groups with their sums: all combinations of public keys first, and no others of them.

    Private keys: the groups of the exact table.
    """
    listed = _public_keys(planned)
    if listed is None:
        return exact.groups, exact.sums
    groups = listed.groups()
    of = _places(exact.groups, listed.listed())
    sums = np.zeros((len(groups), exact.sums.shape[1]), dtype=np.int64)
    sums[of >= 0] = exact.sums[of[of >= 0]]
    if isinstance(planned.rule, PublicKeys):
        return groups, sums
    public = {number for number, _ in listed.sets}
    unlisted = [i for i, group in enumerate(exact.groups) if group[0] not in public]
    return [*groups, *(exact.groups[i] for i in unlisted)], np.concatenate((sums, exact.sums[unlisted]))


def _places(exact: Sequence[tuple[Value, ...]], listed: ListedGroups) -> NDArray[np.int64]:
    """Return the place of each listed group in the exact table; -1 where it is not there."""
    measured, shown = keyed(exact, listed)
    places = dict(zip(measured, range(len(measured)), strict=True))
    return np.fromiter(map(places.get, shown, repeat(-1)), np.int64, len(shown))


def _public_keys(planned: MeasurePlan) -> PublicKeys | None:
    match planned.rule:
        case PublicKeys():
            return planned.rule
        case Threshold(listed=listed):
            return listed
        case SyntheticRows():
            return None


def always_shown(planned: MeasurePlan) -> int:
    """Return how many of the first groups are shown whatever their numbers."""
    listed = _public_keys(planned)
    return 0 if listed is None else len(listed.groups())

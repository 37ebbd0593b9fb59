"""Many releases of one exact table, and scores that tell them from those of a neighbour.

The score of a release is larger the likelier it is on ours than on theirs: of noised numbers by the laws of
the noise, of what is chosen by how often it was chosen in the first half of the releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpsql.ir.column import Value
from dpsql.ir.plan import Norm, Planned
from dpsql.ir.table import ExactTable
from dpsql.release.groups import plain
from dpsql.release.release import completed, from_system, release

if TYPE_CHECKING:
    from numpy.typing import NDArray

Group: TypeAlias = tuple[tuple[str, Value], ...]

EVERY = -(2**62)
"""A threshold that every group passes: that showing groups is safe is held against the chances themselves."""

_MOST = 50_000


@dataclass(frozen=True, slots=True, repr=False)
class Releases:
    """Numbers by release, group (those that both neighbours have) and number."""

    ours: NDArray[np.int64]
    theirs: NDArray[np.int64]
    exact: tuple[NDArray[np.int64], NDArray[np.int64]]  # the sums of these groups, on both sides


def releases(each: Planned, ours: ExactTable, theirs: ExactTable, trials: int) -> Releases:
    """So many releases of each of two neighbours."""
    here, there = _places(each, ours), _places(each, theirs)
    both = [group for group in here if group in there]
    sums = tuple(
        completed(table, each)[1][[places[group] for group in both]]
        for table, places in ((ours, here), (theirs, there))
    )
    drawn = [_drawn(each, table, both, trials) for table in (ours, theirs)]
    return Releases(drawn[0], drawn[1], (sums[0], sums[1]))


def _places(each: Planned, exact: ExactTable) -> dict[Group, int]:
    return {plain(group): i for i, group in enumerate(completed(exact, each)[0])}


def _drawn(each: Planned, exact: ExactTable, groups: list[Group], trials: int) -> NDArray[np.int64]:
    found = []
    order: list[int] | None = None
    for _ in range(trials):
        released = release(exact, each, from_system, threshold=EVERY)
        if order is None:
            places = {plain(group): i for i, group in enumerate(released.groups)}
            order = [places[group] for group in groups]
        found.append(released.sums[order])
    return np.array(found)


def noise_of(each: Planned, drawn: Releases) -> NDArray[np.int64]:
    """What was added to our sums: of so many releases as suffice."""
    width = len(each.measure.statistics)
    added = drawn.ours[:, :, :width] - drawn.exact[0]
    return added[: max(1, _MOST // max(1, added[0].size))].ravel()


def sum_scores(each: Planned, drawn: Releases) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By the law of the noise: Gaussian noise along the difference, Laplace noise number by number."""
    width = len(each.measure.statistics)
    a, b = (sums.astype(np.float64) for sums in drawn.exact)

    def score(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        x = numbers[:, :, :width].astype(np.float64)
        if each.noise.norm is Norm.L2 or each.runs is not None:
            return np.asarray(((x - (a + b) / 2) * (a - b)).sum(axis=(1, 2)))
        return np.asarray((np.abs(x - b) - np.abs(x - a)).sum(axis=(1, 2)))

    return score(drawn.ours), score(drawn.theirs)


def detail_scores(first: int, width: int, drawn: Releases) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """By how often each number came in the first half: of details, whose numbers are chosen."""
    ours, theirs = (each[:, :, first : first + width] for each in (drawn.ours, drawn.theirs))
    half = len(ours) // 2
    scores = [np.zeros(len(each)) for each in (ours, theirs)]
    for group in range(ours.shape[1]):
        for number in range(width):
            mine, other = ours[:, group, number], theirs[:, group, number]
            values, places = np.unique(np.concatenate((mine, other)), return_inverse=True)
            here, there = places[: len(mine)], places[len(mine) :]
            seen = [np.bincount(each[:half], minlength=len(values)) + 1.0 for each in (here, there)]
            ratio = np.log(seen[0] / seen[1])
            scores[0] += ratio[here]
            scores[1] += ratio[there]
    return scores[0], scores[1]

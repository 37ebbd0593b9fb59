"""Repeated releases of two neighbours' exact tables, and scores that distinguish them.

The score of a release grows with its likelihood ratio of ours to theirs, by the distribution of the noise.
Details that are chosen instead of noised are audited by their probabilities: ``chances``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan, Noise, Norm
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactTable
from dpsql.lazy_dataclass import dataclass
from dpsql.release.completed import completed
from dpsql.release.groups import plain
from dpsql.release.release import from_system, release
from dpsql.release.synthetic import TOTAL, counts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Group: TypeAlias = tuple[tuple[str, Value], ...]

EVERY = -(2**62)
"""A threshold that every group passes: the safety of showing groups is tested by probabilities instead."""

_MOST = 50_000


@dataclass(frozen=True, slots=True, repr=False)
class Releases:
    """Numbers by release, group (those of both neighbours) and statistic; ``exact``: without noise."""

    ours: NDArray[np.int64]
    theirs: NDArray[np.int64]
    exact: tuple[NDArray[np.int64], NDArray[np.int64]]

    def of(self, first: int, width: int) -> Releases:
        """Return the releases of ``width`` statistics only."""
        inside = slice(first, first + width)
        a, b = self.exact
        return Releases(self.ours[:, :, inside], self.theirs[:, :, inside], (a[:, inside], b[:, inside]))

    def noise(self) -> NDArray[np.int64]:
        """Return the noise that was added to our numbers, for as many releases as needed."""
        added = self.ours - self.exact[0]
        return added[: max(1, _MOST // max(1, added[0].size))].ravel()


def releases(
    planned: MeasurePlan, ours: ExactTable, theirs: ExactTable, trials: int, going: Callable[[], None]
) -> Releases:
    """Draw releases of two neighbours: the sums, then the details with noise."""
    noised = replace(planned, details=tuple(detail for detail in planned.details if detail.noise is not None))
    sides = [_Side(planned, noised, table) for table in (ours, theirs)]
    both = [group for group in sides[0].places if group in sides[1].places]
    exact = [side.numbers(both) for side in sides]
    drawn = [side.drawn(both, trials, going) for side in sides]
    return Releases(drawn[0], drawn[1], (exact[0], exact[1]))


class _Side:
    """The exact table of one of two neighbours."""

    def __init__(self, planned: MeasurePlan, noised: MeasurePlan, table: ExactTable) -> None:
        pairs = zip(planned.details, table.details, strict=True)
        self._details = tuple(weights for detail, weights in pairs if detail.noise is not None)
        self._planned, self._table = noised, ExactTable(table.groups, table.sums, self._details)
        groups, self._sums = _always_released(table, planned)
        self.places: dict[Group, int] = {plain(group): i for i, group in enumerate(groups)}

    def numbers(self, groups: list[Group]) -> NDArray[np.int64]:
        """Return the exact numbers of some groups."""
        weights_of = [
            {plain(group): int(w.sum()) for group, (_, w) in weights.items()} for weights in self._details
        ]
        counts = [[weights_by.get(group, 0) for group in groups] for weights_by in weights_of]
        sums = self._sums[[self.places[group] for group in groups]]
        return np.concatenate(
            (sums, np.array(counts, np.int64).reshape(len(weights_of), len(groups)).T), axis=1
        )

    def drawn(self, groups: list[Group], trials: int, going: Callable[[], None]) -> NDArray[np.int64]:
        numbers = []
        order: list[int] | None = None
        for _ in range(trials):
            going()
            released = release(self._table, self._planned, from_system, threshold=EVERY)
            if order is None:
                places = {plain(group): i for i, group in enumerate(released.groups)}
                order = [places[group] for group in groups]
            numbers.append(released.sums[order])
        return np.array(numbers)


def _always_released(
    table: ExactTable, planned: MeasurePlan
) -> tuple[Sequence[tuple[Value, ...]], NDArray[np.int64]]:
    """Return the numbers that each release has in the same place: of synthetic rows the total alone."""
    if not isinstance(planned.rule, SyntheticRows):
        return completed(table, planned)
    return [TOTAL], counts_of(table, planned).marginal(()).reshape(1, 1)


def scores(noise: Noise, runs: bool, drawn: Releases) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of releases: projections on the difference (Gaussian), log ratios (Laplace)."""
    a, b = (sums.astype(np.float64) for sums in drawn.exact)

    def score(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        x = numbers.astype(np.float64)
        if noise.norm is Norm.L2 or runs:
            return np.asarray(((x - (a + b) / 2) * (a - b)).sum(axis=(1, 2)))
        return np.asarray((np.abs(x - b) - np.abs(x - a)).sum(axis=(1, 2)))

    return score(drawn.ours), score(drawn.theirs)

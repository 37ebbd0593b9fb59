"""Distances for the margins of quantiles: how far the true one may be, as far as the rows near it tell.

    a median of 90.0, and a distance of 0.8 within which about 200 rows lie, evenly
    the choice of the median errs by 3.4 rows (95 %)     ->   90.0 +- 0.03

    a median of 22.10, between the prices 19.99 and 24.99
    within 2.9, enough rows lie on both sides of the rank     ->   22.10 +- 2.9

The margin of a quantile depends on the rows around it, which are private and which the quantile itself does
not reveal. So a part of the price buys a distance, in one of two ways:

    even     within it about ``WANTED`` deviations of rows lie, on both sides, in its inner half too, and few
             of them share a value. Then rows are taken to be spread evenly, and the margin is as much less as
             the rows that the choice may err by are fewer
    sure     the least within which the rank of the quantile is passed by ``SAFE`` deviations of rows on both
             sides. Nothing is supposed of the rows: prices, zeros, two heaps with nothing between

If there are fewer than half as many rows as wanted, "too few rows" wins and there is no margin.

Claim   choosing the distances of all quantiles of all groups costs what one choice of epsilon costs.
Proof   each choice reads only the rows between the middles to its neighbours. These parts are disjoint, and a
        unit's weights in them add up to at most D. A weight w in one part moves each number of rows within a
        distance, or on a side of it, by at most w, and so what single bins have beyond a constant each, in
        all, the number of all rows of the part, and a fraction of it, rounded down. The difference of a
        number of rows and of this fraction moves by at most w, too: both move the same way. Losses are least
        and greatest ones of such numbers less constants. So losses move by at most w, and at the rate
        epsilon / (2 D) the price is linear in w, as in ``quantiles``.
Test    tests/unit/test_density.py
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from dpsql.ir.grid import End, Grid, Spacing, Target, curved
from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choices, Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, tree, wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

SHARE = Fraction(15, 100)
"""The share of a histogram's price that buys the distances."""

WANTED = 10
"""Rows within an even distance, in deviations of the choice's error: 2 D / epsilon is one."""

SAFE = 5
"""Rows on both sides of the rank within a sure distance, in deviations."""

_RARER = math.exp(-2.5)
"""The base weight of a sure distance, against that of an even one, which is smaller where both hold."""

BLOCKS = (2, 8)
"""Bins in the blocks in which heaps are sought, powers of two."""

_DRAWS = 20_000


def distances(grid: Grid) -> tuple[float, ...]:
    """Return the candidates, from the whole range down to half a bin, in steps of a quarter octave.

    They are in the argument's units.
    """
    low, high = float(grid.low), float(grid.high)
    least = (high - low) / grid.size / 2
    if grid.spacing is Spacing.WHOLE:
        low, high, least = low / grid.unit, high / grid.unit, grid.step / grid.unit / 2
    if grid.spacing is Spacing.LOG:
        least = (curved(high) - curved(low)) / grid.size / 2
    number = int(np.ceil(4 * np.log2(max(1.0, (high - low) / least)))) if high > low else 0
    return tuple(max(high - low, least) * 2 ** (-i / 4) for i in range(number + 1))


def reached(grid: Grid, bins: Integers) -> tuple[Integers, Integers]:
    """Return for every bin and distance the first and the last bin within it."""
    away = np.array(distances(grid))[np.newaxis, :]
    column = bins[:, np.newaxis]
    if grid.spacing is Spacing.LOG:
        low, high = curved(grid.low), curved(grid.high)
        place = low + (column + 0.5) / grid.size * (high - low)
        middle = np.copysign(np.expm1(np.abs(place)), place)

        def bin_of(values: NDArray[np.float64]) -> Integers:
            on_scale = np.copysign(np.log1p(np.abs(values)), values)
            return np.asarray(np.floor((on_scale - low) / (high - low) * grid.size), np.int64)

        first, last = bin_of(middle - away), bin_of(middle + away)
    else:
        is_whole = grid.spacing is Spacing.WHOLE
        width = grid.step / grid.unit if is_whole else (float(grid.high) - float(grid.low)) / grid.size
        steps = np.floor(away / max(width, 2.0**-1000)).astype(np.int64)
        first, last = column - steps, column + steps
    return np.clip(first, 0, grid.size - 1), np.clip(last, 0, grid.size - 1)


def rows_wanted(epsilon: float, most: int) -> int:
    """Return the weight that should lie within an even distance."""
    return _deviations(WANTED, epsilon, most)


def _deviations(number: int, epsilon: float, most: int) -> int:
    """Return so many deviations of a choice's error, in weight; no more than three of which fit 64 bits."""
    return min(int(number * 2 * most / epsilon) + 1, 2**60)


def chosen_distances(
    histograms: Histograms,
    grid: Grid,
    targets: tuple[Target, ...],
    answers: Integers,
    epsilon: float,
    most: int,
    choose: Choose,
    answer_epsilon: float,
    row: int,
) -> Integers:
    """Choose a place for every answer: of an even distance, behind all of them of a sure one, or none.

    ``answer_epsilon`` is that of the choice of an answer: a heap matters if it has more than half of its
    deviation, and than one ``row``.
    """
    count = len(histograms.starts) - 1
    offsets = np.arange(count) * grid.size
    rows = _Rows(histograms, grid.size, max(int(most / answer_epsilon), row * 3 // 2))
    wanted, safe = rows_wanted(epsilon, most), _deviations(SAFE, epsilon, most)
    number = len(distances(grid))
    starts, sizes = np.arange(count + 1) * (2 * number + 1), np.tile(_sizes(number), count)
    chosen = np.full(answers.shape, 2 * number, np.int64)
    for i, target in enumerate(targets):
        if isinstance(target, End):
            continue
        part = _part(answers, i, offsets, grid.size)
        first, last = (ends[:, np.newaxis] for ends in part)
        low, high = (offsets[:, np.newaxis] + ends for ends in reached(grid, answers[:, i]))
        low, high = np.maximum(low, first), np.minimum(high, last)
        upto, within = rows.before(low), rows.before(high + 1)
        answer, end = offsets + answers[:, i], np.maximum(part[0], part[1] + 1)
        # of the answer's own bin, which is in the part of a neighbour with the same answer
        own, behind = (
            rows.before(np.clip(bins, part[0], end))[:, np.newaxis] for bins in (answer, answer + 1)
        )
        all_ = np.maximum(rows.before(part[1] + 1) - rows.before(part[0]), 0)
        if len(targets) == 1:
            rank = (rows.before(part[0]) + _share(target, all_))[:, np.newaxis]
            slack = np.minimum(within - rank, rank - upto)
        else:  # the rank of one among several depends on the rows of all parts: beyond the answer's own bin
            slack = np.minimum(within - behind, own - upto)
        side = np.minimum(within - own, behind - upto)
        even = _even(within - upto, side, rows.heaps((low, high), (first, last)), wanted)
        few = np.maximum(all_ - wanted // 2, 0)
        losses = np.column_stack((even, _sure(slack, safe), few)).reshape(-1)
        choices = Choices(starts, sizes, losses, np.zeros(len(losses), np.int64))
        runs, _ = choose(choices, Fraction(epsilon) / (2 * most))
        chosen[:, i] = runs - starts[:-1]
    return chosen


def _part(answers: Integers, i: int, offsets: Integers, size: int) -> tuple[Integers, Integers]:
    """Return the first and the last bin, over all histograms, that are nearer to an answer than to others."""
    first, last = offsets, offsets + size - 1
    if i > 0:
        first = offsets + (answers[:, i - 1] + answers[:, i]) // 2 + 1
    if i + 1 < answers.shape[1]:
        last = offsets + (answers[:, i] + answers[:, i + 1]) // 2
    return first, last


def _share(target: Fraction, weight: Integers) -> Integers:
    """Return the weight below a quantile, rounded down, where its product may not fit 64 bits."""
    n, d = target.numerator, target.denominator
    return n * (weight // d) + n * (weight % d) // d


class _Rows:
    """The weight of the rows before a bin, over all histograms, and that of heaps: bins among empty ones.

    In blocks of two bins, and of eight, a heap is what one bin has beyond all others and ``most``.
    """

    def __init__(self, histograms: Histograms, size: int, most: int) -> None:
        groups = np.repeat(np.arange(len(histograms.starts) - 1), np.diff(histograms.starts))
        self._keys, self._below = groups * size + histograms.bins, histograms.below
        self._heaps = [_heaps(self._keys, histograms.weights, width, most) for width in BLOCKS]

    def before(self, bins: Integers) -> Integers:
        weight: Integers = self._below[np.searchsorted(self._keys, bins)]
        return weight

    def heaps(self, ends: tuple[Integers, Integers], part: tuple[Integers, Integers]) -> Integers:
        """Return the weight of heaps in all blocks of a part that reach between two bins of it."""
        found = np.zeros_like(ends[0])
        for width, (blocks, below) in zip(BLOCKS, self._heaps, strict=True):
            first = np.maximum(ends[0] // width, -(-part[0] // width))
            end = np.minimum(-(-(ends[1] + 1) // width), (part[1] + 1) // width)
            inside = below[np.searchsorted(blocks, end)] - below[np.searchsorted(blocks, first)]
            found = np.maximum(found, inside)
        return found


def _heaps(keys: Integers, weights: Integers, width: int, most: int) -> tuple[Integers, Integers]:
    """Return the blocks that have rows, over all histograms, and the weight of heaps before each."""
    of_keys = keys >> (width.bit_length() - 1)
    starts = np.flatnonzero(np.concatenate(([len(keys) > 0], of_keys[1:] != of_keys[:-1])))  # bins ascend
    if not len(starts):
        return starts, np.zeros(1, np.int64)
    heaviest, together = np.maximum.reduceat(weights, starts), np.add.reduceat(weights, starts)
    heaps = np.maximum(2 * heaviest - together - most, 0)
    return of_keys[starts], np.concatenate((np.zeros(1, np.int64), np.cumsum(heaps)))


def _even(near: Integers, side: Integers, heaps: Integers, wanted: int) -> Integers:
    """Return the losses of distances, the largest first, within which rows should be spread evenly.

    ``near`` counts the rows within each, ``side`` those on its emptier side, ``heaps`` those of heaps.
    """
    nearer = np.minimum(np.arange(near.shape[1]) + 2, near.shape[1] - 1)  # less by the root of two
    gap, lean = wanted // 2 - near[:, nearer], 3 * wanted // 8 - side
    losses: Integers = np.max([np.abs(near - wanted), heaps - wanted // 8, gap, lean], axis=0)
    return losses


def _sure(slack: Integers, safe: int) -> Integers:
    """Return the losses of distances, of which the least is sought where the slack of the rank is safe."""
    closer = np.concatenate((slack[:, 1:], np.zeros((len(slack), 1), np.int64)), axis=1)
    losses: Integers = np.max([safe - slack, closer - safe, np.zeros_like(slack)], axis=0)
    return losses


def _sizes(number: int) -> Integers:
    """Return the base weights: proportional to the root of the distance, so that many tiny ones do not win.

    Too few rows has more weight than all of them.
    """
    roots = 2.0 ** (20 - np.arange(number) / 8)
    return np.append(np.maximum(1, np.concatenate((roots, roots * _RARER)).astype(np.int64)), 2**24)


def reaches(grid: Grid, places: Integers, factor: float) -> NDArray[np.float64]:
    """Return how far the true quantiles may be (95 %), by the places of their distances; NaN for none."""
    away = np.array(distances(grid))
    found: NDArray[np.float64] = np.concatenate((away * factor, away, [math.nan]))[
        np.clip(places, 0, 2 * len(away))
    ]
    return found


@cache
def errors(
    targets: tuple[Target, ...], epsilon: float, dense: float, most: int, row: int
) -> tuple[float, ...]:
    """Return the factors that turn a target's even distance into a margin of 95 %.

    The error of a choice in rank has the Laplace law of deviation 2 D s / epsilon (see ``quantiles``), and
    an answer lies anywhere between two rows. A target between two others inherits a part of their errors. The
    number of rows within the distance has an error of its own. All of it is simulated with a fixed generator:
    public arithmetic that draws no private noise.
    """
    generator = np.random.default_rng(0)
    drawn: dict[int, NDArray[np.float64]] = {}
    none = np.zeros(_DRAWS)
    for node in tree(targets):
        part = wanted(node, targets)
        if isinstance(part, End):
            continue
        scale = 2 * most * float(max(part, 1 - part)) / epsilon
        noise = generator.laplace(0, scale, _DRAWS)
        low = none if node.left is None else drawn[node.left]
        high = none if node.right is None else drawn[node.right]
        drawn[node.target] = noise + (1 - float(part)) * low + float(part) * high
    ratios = 2.0 ** np.linspace(-6, 6, 4001)
    law = np.cumsum(np.sqrt(ratios) * np.exp(-np.abs(ratios - 1) * WANTED))
    dense_by = ratios[np.searchsorted(law, generator.random(_DRAWS) * law[-1]).clip(max=4000)]
    between = generator.uniform(-1, 1, _DRAWS) * np.where(np.arange(_DRAWS) % 2, 1.0, 0.5) * row
    aim = rows_wanted(dense, most)
    return tuple(
        float(np.quantile(np.abs(drawn[i] + between) / dense_by, 0.95)) / (aim / 2) if i in drawn else np.nan
        for i in range(len(targets))
    )

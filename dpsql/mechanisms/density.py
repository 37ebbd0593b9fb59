"""The density of rows near a quantile, for its margin: a distance within which a known number of rows lies.

    a median of 90.0, and the distance 0.8 within which about 80 rows lie
    the choice of the median errs by 3.4 rows (95 %)   ->   90.0 +- 0.07

The margin of a quantile depends on the density of rows there, which is private and which the quantile itself
does not reveal. So a small share of the price buys a distance within which ``WANTED`` deviations of rows lie.
If there are fewer than half as many rows, "too few rows" wins and there is no margin.

Claim   choosing the distances of all quantiles of all groups costs what one choice of epsilon costs.
Proof   each choice reads only the rows between the middles to its neighbours. These parts are disjoint, and a
        unit's weights in them add up to at most D. A weight w in one part moves each number of rows within a
        distance by at most w, and so the number of all rows; it is compared with a constant.
        So losses move by at most w, and at the rate epsilon / (2 D) the price is linear in w, as in
        ``quantiles``.
Test    tests/unit/test_density.py
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from dpsql.ir.grid import End, Grid, Spacing, Target, curved
from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choices, Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, tree, wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

SHARE = Fraction(1, 10)
"""The share of a histogram's price that buys the distances."""

WANTED = 5
"""Rows within a distance, in deviations of the choice's error: 2 D / epsilon is one."""

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
    """Return the weight that should lie within a distance."""
    return int(WANTED * 2 * most / epsilon) + 1


def chosen_distances(
    histograms: Histograms,
    grid: Grid,
    targets: tuple[Target, ...],
    answers: Integers,
    epsilon: float,
    most: int,
    choose: Choose,
) -> Integers:
    """Choose for every answer a position in ``distances``; one behind the last means too few rows."""
    count = len(histograms.starts) - 1
    groups = np.repeat(np.arange(count), np.diff(histograms.starts))
    keys, below = groups * grid.size + histograms.bins, histograms.below
    offsets = np.arange(count) * grid.size
    number, aim = len(distances(grid)), rows_wanted(epsilon, most)
    chosen = np.full(answers.shape, number, np.int64)
    for i, target in enumerate(targets):
        if isinstance(target, End):
            continue
        first = np.zeros(count, np.int64) if i == 0 else (answers[:, i - 1] + answers[:, i]) // 2 + 1
        last = np.full(count, grid.size - 1)
        if i + 1 < len(targets):
            last = (answers[:, i] + answers[:, i + 1]) // 2
        low, high = reached(grid, answers[:, i])
        low, high = np.maximum(low, first[:, np.newaxis]), np.minimum(high, last[:, np.newaxis])
        above = below[np.searchsorted(keys, offsets[:, np.newaxis] + high, "right")]
        near = np.maximum(above - below[np.searchsorted(keys, offsets[:, np.newaxis] + low)], 0)
        upto = below[np.searchsorted(keys, offsets + last, "right")]
        all_ = np.maximum(upto - below[np.searchsorted(keys, offsets + first)], 0)
        losses = np.column_stack((np.abs(near - aim), np.maximum(all_ - aim // 2, 0)))
        starts = np.arange(count + 1) * (number + 1)
        flat = np.ascontiguousarray(losses).reshape(-1)
        choices = Choices(starts, np.tile(_sizes(number), count), flat, np.zeros(len(flat), np.int64))
        runs, _ = choose(choices, Fraction(epsilon) / (2 * most))
        chosen[:, i] = runs - starts[:-1]
    return chosen


def _sizes(number: int) -> Integers:
    """Return the base weights: proportional to the root of the distance, so that many tiny ones do not win.

    Too few rows has more weight than all of them.
    """
    roots = 2.0 ** (20 - np.arange(number) / 8)
    return np.append(np.maximum(1, roots.astype(np.int64)), 2**24)


@cache
def errors(
    targets: tuple[Target, ...], epsilon: float, dense: float, most: int, row: int
) -> tuple[float, ...]:
    """Return the factors that turn a target's distance into a margin of 95 %.

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

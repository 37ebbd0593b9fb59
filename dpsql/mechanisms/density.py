"""How far from a quantile the rows lie that its noise may have passed over: what its margin is made of.

    a median of 90.0, and the distance 0.8 within which about 80 rows lie
    the choice of the median errs by 3.4 rows (95 %)   ->   90.0 +- 0.07

The margin of a quantile depends on how dense the rows are there, which is private, and which the quantile
itself does not tell. So a small share of the price buys a distance within which ``WANTED`` deviations of
rows lie; if there are fewer than half of that, "too few rows" wins and there is no margin.

Claim   choosing the distances of all quantiles of all groups costs what one choice of epsilon costs.
Proof   each looks at the rows between the middles to its neighbours only: these parts are disjoint, and a
        unit's weights in them add up to at most D. Of a weight w in one part, each number of rows within a
        distance moves by at most w, and so does the number of all; what it is compared with is a constant.
        So losses move by at most w, and at the rate epsilon / (2 D) the price is linear in w, as in
        ``quantiles``.
Test    tests/unit/test_density.py
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dpsql.ir.grid import End, Grid, Spacing, Target, curved
from dpsql.mechanisms.exponential import Choices, Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, tree, wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

SHARE = Fraction(1, 10)
"""Of a histogram's price, for the distances."""

WANTED = 5
"""Rows within a distance, in deviations of their choice: 2 D / epsilon is one."""

_DRAWS = 20_000


def distances(grid: Grid) -> tuple[float, ...]:
    """From the whole range down to half a bin, each a quarter of an octave less; in the argument's units."""
    low, high = float(grid.low), float(grid.high)
    least = (high - low) / grid.size / 2
    if grid.spacing is Spacing.WHOLE:
        low, high, least = low / grid.unit, high / grid.unit, grid.step / grid.unit / 2
    if grid.spacing is Spacing.LOG:
        least = (curved(high) - curved(low)) / grid.size / 2
    number = int(np.ceil(4 * np.log2(max(1.0, (high - low) / least)))) if high > low else 0
    return tuple(max(high - low, least) * 2 ** (-i / 4) for i in range(number + 1))


def reached(grid: Grid, bins: Integers) -> tuple[Integers, Integers]:
    """Of every bin and distance the first and the last bin within it."""
    away = np.array(distances(grid))[np.newaxis, :]
    held = bins[:, np.newaxis]
    if grid.spacing is Spacing.LOG:
        low, high = curved(grid.low), curved(grid.high)
        place = low + (held + 0.5) / grid.size * (high - low)
        middle = np.copysign(np.expm1(np.abs(place)), place)

        def bin_of(values: NDArray[np.float64]) -> Integers:
            on_scale = np.copysign(np.log1p(np.abs(values)), values)
            return np.asarray(np.floor((on_scale - low) / (high - low) * grid.size), np.int64)

        first, last = bin_of(middle - away), bin_of(middle + away)
    else:
        whole = grid.spacing is Spacing.WHOLE
        width = grid.step / grid.unit if whole else (float(grid.high) - float(grid.low)) / grid.size
        steps = np.floor(away / max(width, 2.0**-1000)).astype(np.int64)
        first, last = held - steps, held + steps
    return np.clip(first, 0, grid.size - 1), np.clip(last, 0, grid.size - 1)


def rows_wanted(epsilon: float, most: int) -> int:
    """The weight that is to lie within a distance."""
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
    """For every answer the place of a distance in ``distances``, or behind the last: too few rows."""
    count = len(histograms.starts) - 1
    groups = np.repeat(np.arange(count), np.diff(histograms.starts))
    keys, below = groups * grid.size + histograms.bins, histograms.below
    own = np.arange(count) * grid.size
    number, aim = len(distances(grid)), rows_wanted(epsilon, most)
    found = np.full(answers.shape, number, np.int64)
    for i, target in enumerate(targets):
        if isinstance(target, End):
            continue
        first = np.zeros(count, np.int64) if i == 0 else (answers[:, i - 1] + answers[:, i]) // 2 + 1
        last = np.full(count, grid.size - 1)
        if i + 1 < len(targets):
            last = (answers[:, i] + answers[:, i + 1]) // 2
        low, high = reached(grid, answers[:, i])
        low, high = np.maximum(low, first[:, np.newaxis]), np.minimum(high, last[:, np.newaxis])
        above = below[np.searchsorted(keys, own[:, np.newaxis] + high, "right")]
        near = np.maximum(above - below[np.searchsorted(keys, own[:, np.newaxis] + low)], 0)
        upto = below[np.searchsorted(keys, own + last, "right")]
        all_ = np.maximum(upto - below[np.searchsorted(keys, own + first)], 0)
        losses = np.column_stack((np.abs(near - aim), np.maximum(all_ - aim // 2, 0)))
        starts = np.arange(count + 1) * (number + 1)
        flat = np.ascontiguousarray(losses).reshape(-1)
        choices = Choices(starts, np.tile(_sizes(number), count), flat, np.zeros(len(flat), np.int64))
        runs, _ = choose(choices, Fraction(epsilon) / (2 * most))
        found[:, i] = runs - starts[:-1]
    return found


def _sizes(number: int) -> Integers:
    """How often each is a candidate: in proportion to the root of the distance, lest many tiny ones win.

    Too few rows weighs more than all of them.
    """
    roots = 2.0 ** (20 - np.arange(number) / 8)
    return np.append(np.maximum(1, roots.astype(np.int64)), 2**24)


@cache
def errors(
    targets: tuple[Target, ...], epsilon: float, dense: float, most: int, row: int
) -> tuple[float, ...]:
    """What a target's distance is to be multiplied with for a margin of 95 %.

    The error of a choice in rank has the Laplace law of deviation 2 D s / epsilon (see ``quantiles``), and
    an answer lies anywhere between two rows; a target between two others takes over a part of their errors.
    The number of rows within the distance has an error of its own. All of it is simulated with a fixed
    generator: public arithmetic, that draws no private noise.
    """
    generator = np.random.default_rng(0)
    drawn: dict[int, NDArray[np.float64]] = {}
    none = np.zeros(_DRAWS)
    for node in tree(targets):
        part = wanted(node, targets)
        if isinstance(part, End):
            continue
        scale = 2 * most * float(max(part, 1 - part)) / epsilon
        own = generator.laplace(0, scale, _DRAWS)
        low = none if node.left is None else drawn[node.left]
        high = none if node.right is None else drawn[node.right]
        drawn[node.target] = own + (1 - float(part)) * low + float(part) * high
    ratios = 2.0 ** np.linspace(-6, 6, 4001)
    law = np.cumsum(np.sqrt(ratios) * np.exp(-np.abs(ratios - 1) * WANTED))
    dense_by = ratios[np.searchsorted(law, generator.random(_DRAWS) * law[-1]).clip(max=4000)]
    between = generator.uniform(-1, 1, _DRAWS) * np.where(np.arange(_DRAWS) % 2, 1.0, 0.5) * row
    aim = rows_wanted(dense, most)
    return tuple(
        float(np.quantile(np.abs(drawn[i] + between) / dense_by, 0.95)) / (aim / 2) if i in drawn else np.nan
        for i in range(len(targets))
    )

"""Order statistics of many histograms at once: quantiles, and the k-th least and greatest value.

    quartiles of 1,000 ages, epsilon 1    the median first, then the others, each in its own part: 2 levels

A histogram has integer weights on the bins 0, 1, 2... of a public grid. The targets of one histogram are
ordered. The middle one is chosen first and cuts the histogram in two parts; the others are chosen in these.

Claim   all choices of one level together, over all histograms, cost what one choice of epsilon costs, where
        one unit's weight is at most D over all histograms together; so d levels cost d times that.
Proof   1. A target splits weight W in parts q and 1 - q: the loss of a bin is the distance of q W to the
           weights [below, below or inside] that it spans. An added weight w, wherever it is, moves q W by q w
           and each end by 0 or w: the loss moves by at most max(q, 1 - q) w. An extreme wants the weight
           k' = min(k, floor(W / 3)) beyond it; a missing weight counts in full, one too many counts half. k'
           grows by some x between 0 and w, what a bin has beyond it by 0 to w, so their difference moves by
           -x to w - x. Then losses rise by at most max(x, (w - x) / 2) and fall by at most
           max(w - x, x / 2). The sum of both is at most 3 w / 2 in each of the four cases: up to a number
           that all losses share, which changes no chance, they move by at most 3 w / 4. With the rate
           epsilon / (2 D s), s = max(q, 1 - q) or 3 / 4, a unit of weight w costs one choice at most
           epsilon w / D (see ``exponential``).
        2. The parts of one level are disjoint: a cut is a bin and one of its n cells, and of the weight v of
           the cut bin floor(v (2 j + 1) / 2n) goes to one side, the rest to the other. Both grow with v and
           add up to it, so a unit's w is split into w1 + w2 = w, here and at all cuts below. If choices
           read w1, w2, ... of one unit, their losses add up to epsilon (w1 + w2 + ...) / D <= epsilon. The
           same holds for bounded range: ranges add up, and each one's price is convex and 0 at 0.
        3. A loss counts up to a public limit: the smaller of it and a constant rises and falls no further.
        4. A part's losses are a function of its own weights, of q and of cuts that are already chosen.
Test    tests/privacy/test_quantiles.py

Claim   in a part of weight 3 k or more, an extreme is a bin before all rows, or behind all, with a chance of
        at most ``MISSED``, wherever the range begins. A least value that weight 3 k shares is found with a
        chance of 1 - ``MISSED`` or more. (k needs the logarithm: no choice of this price finds the one
        value, of n, that weight far below D / epsilon ln n shares.)
Proof   The other bins have losses of k at least: k before all rows, (W - k) / 2 >= k behind all, or behind a
        bin of weight 3 k. They are fewer than ``size``, a bin of loss 0 is exp(k rate) times as likely as
        each, and k >= ln(size / MISSED) / rate.
Test    tests/privacy/test_quantiles.py

Every bin has the same base measure, filled or not. The bin that was cut stays a candidate on both sides,
since many equal values may hold several quantiles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from dpsql.ir.grid import End, Target
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.exponential import Choices, Choose, Integers

CELLS = 16
"""Number of places in a bin where a quantile may cut it; an extreme cuts in the middle."""

FAR = 89
"""Losses are capped at this exponent: candidates beyond it have a probability of 10^-38 anyway."""

MOST = 2**61
"""Weights stay below this."""


@dataclass(frozen=True, slots=True)
class Node:
    """A target, and the targets of earlier levels that enclose it (None: the histogram's own ends)."""

    target: int
    left: int | None
    right: int | None
    level: int
    leaf: bool


@cache
def tree(targets: tuple[Target, ...]) -> tuple[Node, ...]:
    """Return the order in which ordered targets are chosen; extremes last: they say little about others."""
    nodes: list[Node] = []

    def add(first: int, last: int, left: int | None, right: int | None, level: int) -> None:
        if first > last:
            return
        inner = [i for i in range(first, last + 1) if not isinstance(targets[i], End)]
        middle = inner[len(inner) // 2] if inner else first
        nodes.append(Node(middle, left, right, level, first == last))
        add(first, middle - 1, left, middle, level + 1)
        add(middle + 1, last, middle, right, level + 1)

    add(0, len(targets) - 1, None, None, 0)
    return tuple(sorted(nodes, key=lambda node: node.level))


def levels(targets: tuple[Target, ...]) -> int:
    """Return the number of successive choices that answer these targets."""
    return max(node.level for node in tree(targets)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """Many histograms, one after the other: filled bins in order, and the positive weight in each."""

    starts: Integers
    bins: Integers
    weights: Integers

    @property
    def below(self) -> Integers:
        """The weight of all bins before each, over all histograms; the last entry is the total."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.weights)))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """For every histogram the bins from ``low`` to ``high`` and the weight from ``start`` to ``end``.

    Weights are counted over all histograms, as in ``Histograms.below``.
    """

    low: Integers
    high: Integers
    start: Integers
    end: Integers


MISSED = 0.05
"""The greatest chance of an extreme beyond all rows, where there are enough of them."""

_PER_LOSS = {End.LEAST: (1, 2), End.GREATEST: (2, 1)}
"""The weight that costs one, on the left and on the right of the rank: too much beyond counts half."""

_EXTREME = Fraction(3, 4)
"""How far a unit's weight moves the losses of an extreme."""

_SHARE = 3
"""At most one in so many rows is beyond an extreme: both ends of the rows are then equally unlikely."""


def beyond(epsilon: float, most: int, size: int) -> int:
    """Return the weight that should lie beyond an extreme, so that few choices among the bins miss all rows.

    It would be a third more if too much beyond counted in full.
    """
    return math.ceil(2 * most * float(_EXTREME) / epsilon * math.log(size / MISSED))


def answers(
    histograms: Histograms,
    size: int,
    targets: tuple[Target, ...],
    epsilon: Fraction,
    most: int,
    extreme: int,
    choose: Choose,
) -> Integers:
    """Choose a bin of 0 ... size - 1 for every histogram and target; ``targets`` are ordered.

    ``epsilon`` is that of one level, ``most`` the weight of a unit, ``extreme`` the weight beyond an extreme.
    """
    below, count = histograms.below, len(histograms.starts) - 1
    chosen = np.zeros((count, len(targets)), np.int64)
    cuts: dict[int, Integers] = {}
    for node in tree(targets):
        left, right = node.left, node.right
        part = Part(
            np.zeros(count, np.int64) if left is None else chosen[:, left],
            np.full(count, size - 1) if right is None else chosen[:, right],
            below[histograms.starts[:-1]] if left is None else cuts[left],
            below[histograms.starts[1:]] if right is None else cuts[right],
        )
        chosen[:, node.target], cuts[node.target] = _choose_bins(
            histograms.bins, below, part, wanted(node, targets), node.leaf, epsilon / most, extreme, choose
        )
    return chosen


def wanted(node: Node, targets: Sequence[Target]) -> Target:
    """Return the target as a fraction of the weight between its neighbours in the tree."""
    target = targets[node.target]
    if isinstance(target, End):
        return target
    low = Fraction(0) if node.left is None else targets[node.left]
    high = Fraction(1) if node.right is None else targets[node.right]
    assert isinstance(low, Fraction)
    assert isinstance(high, Fraction)
    return (target - low) / (high - low)


def _choose_bins(
    bins: Integers,
    below: Integers,
    part: Part,
    target: Target,
    leaf: bool,
    price: Fraction,
    extreme: int,
    choose: Choose,
) -> tuple[Integers, Integers]:
    """Choose a bin for every histogram's part, and return the weight at which it is cut."""
    cells = 1 if leaf or isinstance(target, End) else CELLS
    rank, more, scale = _rank(part, target, extreme)
    rate = price / (2 * scale)
    reach = min(MOST, math.ceil(FAR / rate))
    left, right = _PER_LOSS[target] if isinstance(target, End) else (1, 1)
    runs = _runs(bins, below, part, rank, (left * reach, right * reach), cells)
    if isinstance(target, End):
        choices = _extreme_choices(runs, rank, target, reach)
    else:
        choices = _choices(runs, rank, more, target.denominator, reach)
    run, inside = choose(choices, rate)
    chosen, cuts = runs.bins[run] + inside // cells, runs.cuts[run]
    for i in np.flatnonzero(runs.merged[run]):
        cuts[i] = _cut(bins, below, part, int(i), int(chosen[i]), int(inside[i]) % cells, cells)
    return chosen, cuts


def _cut(bins: Integers, below: Integers, part: Part, which: int, bin: int, cell: int, cells: int) -> int:
    """Return the weight at which a cell of a bin cuts one histogram's part."""
    start, end = int(part.start[which]), int(part.end[which])
    first, last = (int(ends[which]) for ends in _filled_range(below, part))
    i = first + int(np.searchsorted(bins[first:last], bin))
    low = min(end, max(start, int(below[i])))
    if i == last or bins[i] != bin:
        return low
    return low + (min(end, int(below[i + 1])) - low) * (2 * cell + 1) // (2 * cells)


def _rank(part: Part, target: Target, extreme: int) -> tuple[Integers, Integers, Fraction]:
    """Return the target weight (integer part, numerator of the rest) and its change per unit of weight."""
    weight = part.end - part.start
    nothing = np.zeros_like(weight)
    match target:
        case End.LEAST:
            return part.start + np.minimum(extreme, weight // _SHARE), nothing, _EXTREME
        case End.GREATEST:
            return part.end - np.minimum(extreme, weight // _SHARE), nothing, _EXTREME
        case _:
            d = target.denominator
            rest = target.numerator * (weight % d)  # below d * d: fits 64 bits
            rank = part.start + target.numerator * (weight // d) + rest // d
            return rank, rest % d, max(target, 1 - target)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Consecutive bins of equal loss: the first bin, the number of candidates, the weights spanned, the cut.

    ``merged`` marks bins of any weight beyond the reach: their cuts differ.
    """

    starts: Integers
    bins: Integers
    sizes: Integers
    low: Integers
    high: Integers
    cuts: Integers
    merged: Integers


def _filled_range(below: Integers, part: Part) -> tuple[Integers, Integers]:
    """Return the first filled bin of every part, and the one after the last."""
    first = np.searchsorted(below[1:], part.start, "right")
    last = np.maximum(first, np.searchsorted(below[:-1], part.end, "left"))
    return first, np.where(part.end > part.start, last, first)


def _runs(
    bins: Integers, below: Integers, part: Part, rank: Integers, reach: tuple[int, int], cells: int
) -> Runs:
    """Build the runs of every part, from left to right; ``reach`` is that to the left and to the right.

    First all bins beyond the reach on the left; then, for every filled bin, the empty bins before it and its
    cells; then the empty bins after the last; then all bins beyond the reach on the right.
    """
    first, last = _filled_range(below, part)
    near = np.clip(np.searchsorted(below[1:], rank - reach[0], "right"), first, last)
    beyond = np.clip(np.searchsorted(below[:-1], rank + reach[1] + 1, "left"), near, last)
    filled, width = beyond - near, 1 + cells
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(filled * width + 3)))
    group = np.repeat(np.arange(len(filled)), filled)
    before = np.cumsum(filled) - filled
    which = np.arange(filled.sum()) - before[group] + near[group]  # every filled bin within reach
    filled_bins, some = bins[which], filled > 0
    ends = np.append(bins, 0)  # read only where such a bin exists
    left = np.where(near > first, ends[near - 1], part.low - 1)  # the last bin beyond the reach on the left
    right = np.where(beyond < last, ends[beyond], part.high + 1)
    previous = np.empty_like(filled_bins)
    previous[1:] = filled_bins[:-1]
    previous[before[some]] = left[some]
    final = left.copy()
    final[some] = ends[beyond[some] - 1]
    low = np.maximum(below[which], part.start[group])
    weight = np.minimum(below[which + 1], part.end[group]) - low
    table = np.zeros((6, int(starts[-1])), np.int64)
    table[:, starts[:-1]] = (part.low, (left - part.low + 1) * cells, *(part.start,) * 3, np.ones_like(left))
    rows = (1 + np.arange(len(which)) * width + 3 * group)[:, np.newaxis]
    gaps = np.maximum(filled_bins - previous - 1, 0)  # 0 where the part begins with weight of its first bin
    table[:5, rows[:, 0]] = (previous + 1, gaps * cells, low, low, low)
    cell = np.arange(cells)[np.newaxis, :]
    spans = [low[:, np.newaxis] + _times(weight, 2 * cell + half, 2 * cells) for half in (0, 2, 1)]
    for row, values in zip(table[:5], (filled_bins[:, np.newaxis], 1, *spans), strict=True):
        row[rows + 1 + cell] = values
    at = np.clip(below[beyond], part.start, part.end)
    table[:5, starts[1:] - 2] = (final + 1, (right - final - 1) * cells, at, at, at)
    table[:, starts[1:] - 1] = (right, (part.high - right + 1) * cells, *(part.end,) * 3, np.ones_like(left))
    return Runs(starts, *table)


def _times(weight: Integers, numerators: Integers, denominator: int) -> Integers:
    """Return floor(weight * numerator / denominator) within 64 bits."""
    weight = weight[:, np.newaxis]
    return weight // denominator * numerators + weight % denominator * numerators // denominator


def _choices(runs: Runs, rank: Integers, more: Integers, denominator: int, reach: int) -> Choices:
    """Return the losses: the distance of rank + more / denominator to a run's span, at most the reach."""
    lengths = np.diff(runs.starts)
    target, rest = np.repeat(rank, lengths), np.repeat(more, lengths)
    short, far = target - runs.high, runs.low - target
    above = far > 0
    borrowed = above & (rest > 0)
    distance = np.where(above, far - borrowed, np.maximum(short, 0))
    part = np.where(above, np.where(borrowed, denominator - rest, 0), np.where(short >= 0, rest, 0))
    part[distance >= reach] = 0
    return Choices(runs.starts, runs.sizes, np.minimum(distance, reach), part, denominator)


def _extreme_choices(runs: Runs, rank: Integers, end: End, reach: int) -> Choices:
    """Return the losses: the distance of the rank to a run's span, half of it where more lies beyond."""
    target = np.repeat(rank, np.diff(runs.starts))
    left, right = _PER_LOSS[end]
    # twice the losses: weights are below 2^61, so they fit 64 bits
    twice = np.maximum(0, np.maximum((target - runs.high) * (2 // left), (runs.low - target) * (2 // right)))
    is_far = twice >= 2 * reach
    whole, part = np.where(is_far, reach, twice // 2), np.where(is_far, 0, twice % 2)
    return Choices(runs.starts, runs.sizes, whole, part, 2)

"""MST: a spanning tree of marginals of two columns, for tables too large to hold (McKenna et al. 2021).

    sex - age - ward    sex and ward depend on each other through age alone: rows have an age first, then a
            |           sex and a drug that follow the measured tables of (age, sex) and (age, drug)
           drug

1. Measure the total, and the marginal of every column.
2. Choose columns - 1 pairs, one after the other, each joining two parts of the tree to be: those whose
   marginal is farthest from what noisy marginals of one column say of independent columns.
3. Measure these. Combine all by least squares (``consistent``), none negative, and make the tables of two
   columns add up to those of one by iterative proportional fitting.

Claim   costs the events of its plan. The tables of the tree, and so rows from the same bytes, have the same
        bits on every machine; ``marginal`` of other columns multiplies them, to a float's precision.
Proof   exact counts reach ``Spending`` alone: marginals, which a unit moves by at most the clip in L2, and
        scores: distances from products of *noisy* marginals, which are fixed whole numbers then, so that it
        moves them by at most the clip in either direction (``counts``), minus a public number. What is
        chosen follows from choices made before. The fit reads released marginals; for its bits see ``mwem``.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from dpsql.ir.synthetic import SyntheticPlan
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.strategy import Floats, Integers
from dpsql.mechanisms.synthetic import systematic
from dpsql.mechanisms.synthetic.consistent import (
    Estimates,
    estimates,
    not_negative,
    running_sum,
    within_limits,
)
from dpsql.mechanisms.synthetic.counts import MOST_TOTAL, Columns, Counts, distance
from dpsql.mechanisms.synthetic.draws import Spending
from dpsql.mechanisms.synthetic.measured import Measured, check, measure
from dpsql.mechanisms.synthetic.plan import MOST_CELLS, Allow, Shape, Shares, bought

METHOD = "mst"
SHARES = Shares(Fraction(20, 100), choices=Fraction(15, 100), two_columns=Fraction(65, 100))
ALONE = Shares(Fraction(1), choices=Fraction(0), two_columns=Fraction(0))

_PENALTY = 0.5
"""As in ``mwem``."""

_PASSES = 50
_GUARD = 1e-6
"""Part of the total that is added to every cell, so that no row or column is empty."""


def cells(sizes: Sequence[int]) -> int:
    """Return the cells of the largest table that is held: of two columns."""
    return math.prod(sorted(sizes)[-2:])


def plan(shape: Shape, allow: Allow) -> SyntheticPlan:
    """Return the events; ValueError for two columns with too many values."""
    if cells(shape.sizes) > MOST_CELLS:
        raise ValueError(f"two columns of {cells(shape.sizes)} cells: at most {MOST_CELLS}")
    columns = len(shape.sizes)
    shares = SHARES if columns > 1 else ALONE
    return bought(METHOD, shape, shares, (columns, columns - 1, columns - 1), allow)


def measured(plan: SyntheticPlan, counts: Counts, spending: Spending) -> Measured:
    """Spend the plan's events on these counts."""
    check(plan, counts)
    marginals = [measure((), plan.total, counts, spending)]
    for column, noise in enumerate(plan.one_column):
        marginals.append(measure((column,), noise, counts, spending))
    released = estimates(plan.sizes, marginals)
    pairs = _chosen(plan, released, counts, spending)
    for columns, noise in zip(pairs, plan.two_columns, strict=True):
        marginals.append(measure(columns, noise, counts, spending))
    return Measured(METHOD, plan.sizes, plan.step, tuple(marginals))


def fitted(measured: Measured) -> Tree:
    """Return the tree that fits the measured marginals."""
    return Tree(measured)


def _chosen(plan: SyntheticPlan, released: Estimates, counts: Counts, spending: Spending) -> list[Columns]:
    """Choose a spanning tree, an edge at a time (Kruskal)."""
    if len(plan.sizes) == 1:
        return []
    total = within_limits(released.total, plan.step)
    one_column = [not_negative(numbers, total) for numbers in released.one_column]
    scale = plan.two_columns[0].scale
    scores = {
        (i, j): distance(counts.marginal((i, j)), _independent(one_column[i], one_column[j], total))
        - _penalty(scale, plan.sizes[i] * plan.sizes[j])
        for i, j in itertools.combinations(range(len(plan.sizes)), 2)
    }
    part = list(range(len(plan.sizes)))
    tree = list[Columns]()
    for choice in plan.choices:
        joining = [(i, j) for i, j in scores if part[i] != part[j]]
        i, j = joining[spending.choose([scores[pair] for pair in joining], plan.clip, choice)]
        tree.append((i, j))
        part = [part[i] if each == part[j] else each for each in part]
    return tree


def _independent(rows: Floats, columns: Floats, total: float) -> Floats:
    return np.multiply.outer(rows / total, columns).ravel()


def _penalty(scale: float, cells: int) -> int:
    return min(MOST_TOTAL, math.ceil(_PENALTY * math.sqrt(2 / math.pi) * scale * cells))


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    """A column, the one from which it is reached, and their counts: a row for each of its values."""

    parent: int
    child: int
    counts: Floats


@dataclass(frozen=True, eq=False)
class Tree:
    """The tree of marginals that fits the measured ones."""

    measured: Measured

    @property
    def total(self) -> float:
        """The number of rows, as it was measured."""
        return self._total / self.measured.step

    @property
    def edges(self) -> tuple[Columns, ...]:
        """The pairs of columns whose marginals were measured."""
        return tuple(each.columns for each in self.measured.marginals if len(each.columns) == 2)

    def marginal(self, columns: Columns) -> Floats:
        """Return the fitted counts of these columns' values, in rows."""
        below, order = self._below(0, frozenset(columns))
        found = self.one_column[0] @ below / self.measured.step
        axes = [self.measured.sizes[column] for column in order]
        return found.reshape(axes).transpose([order.index(column) for column in columns]).ravel()

    def rows(self, rows: int, words: Words) -> Integers:
        """Draw whole rows, column by column down the tree: a code for each row and column."""
        codes = np.zeros((rows, len(self.measured.sizes)), dtype=np.int64)
        shares = systematic.counts(self.one_column[0], rows, words)
        codes[:, 0] = np.repeat(np.arange(len(shares)), shares)[systematic.secret_order(rows, words)]
        for edge in self.down:
            shuffled = systematic.secret_order(rows, words)
            ordered = shuffled[np.argsort(codes[shuffled, edge.parent], kind="stable")]
            groups = np.bincount(codes[:, edge.parent], minlength=len(edge.counts))
            drawn = [
                np.repeat(np.arange(len(weights)), systematic.counts(weights, int(size), words))
                for weights, size in zip(edge.counts, groups, strict=True)
            ]
            codes[ordered, edge.child] = np.concatenate(drawn)
        return codes

    @cached_property
    def _estimated(self) -> Estimates:
        return estimates(self.measured.sizes, self.measured.marginals)

    @cached_property
    def _total(self) -> float:
        return within_limits(self._estimated.total, self.measured.step)

    @cached_property
    def one_column(self) -> tuple[Floats, ...]:
        """The counts of each column's values, in grid steps."""
        return tuple(
            _guarded(not_negative(numbers, self._total), self._total)
            for numbers in self._estimated.one_column
        )

    @cached_property
    def down(self) -> tuple[_Edge, ...]:
        """All columns but the first, each after the one from which it is reached."""
        reached, edges = [0], list[_Edge]()
        for parent in reached:
            for i, j in self.edges:
                child = j if i == parent else i
                if parent in (i, j) and child not in reached:
                    table = self._fitted((i, j))
                    reached.append(child)
                    edges.append(_Edge(parent, child, table if i == parent else table.T))
        return tuple(edges)

    def _fitted(self, columns: Columns) -> Floats:
        """Return the counts of two columns such that they add up to those of each."""
        rows, across = (self.one_column[column] for column in columns)
        table = _guarded(not_negative(self._estimated.two_columns[columns], self._total), self._total)
        for _ in range(_PASSES):
            table = table * (rows / np.cumsum(table, axis=1)[:, -1])[:, None]
            table = table * (across / np.cumsum(table, axis=0)[-1])
        return table

    def _below(self, column: int, kept: frozenset[int]) -> tuple[Floats, list[int]]:
        """Return the shares of the kept columns' values at and below a column, for each of its values."""
        found, order = np.ones((self.measured.sizes[column], 1)), list[int]()
        for edge in self.down:
            if edge.parent == column:
                below, more = self._below(edge.child, kept)
                shares = edge.counts / edge.counts.sum(axis=1, keepdims=True)
                found = _crossed(found, shares @ below)
                order += more
        if column in kept:
            return _crossed(np.eye(len(found)), found), [column, *order]
        return found, order


def _guarded(counts: Floats, total: float) -> Floats:
    """Add a little everywhere, and keep the total."""
    raised = counts + _GUARD * total
    return raised * (total / running_sum(raised.ravel()))


def _crossed(left: Floats, right: Floats) -> Floats:
    """Return all products of a row's numbers on the left and on the right."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)

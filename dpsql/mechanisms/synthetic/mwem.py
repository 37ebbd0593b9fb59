"""MWEM: a table of all columns, from the marginals of two columns that it has wrong most (Hardt et al. 2012).

    round    choose the two columns whose marginal is farthest from the table's, beyond what noise would add
             measure their marginal
             fit the table to all that was measured so far
    30       rounds, or as many as there are pairs of columns, if fewer

The table is fitted to least squares estimates of the measured marginals (``consistent``) by iterative
proportional fitting, a multiplicative update for each of them, again and again; from a uniform one, so that
where nothing was measured columns are independent. The stored marginals alone give the last table again.

Claim   costs the events of its plan. The table has the same bits on every machine.
Proof   exact counts reach ``Spending`` alone: marginals, which a unit moves by at most the clip in L2, and
        scores: a distance, which it moves by at most the clip in either direction (both claimed and proved
        in ``counts``), minus a public number. The fitted table is a function of released marginals.
        Its updates are + - * / of floats and running sums in a fixed order (``np.bincount`` adds the
        weights one after the other); no logarithm, no BLAS.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property

from dpsql.ir.synthetic import SyntheticPlan
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.strategy import Floats, Integers
from dpsql.mechanisms.synthetic import systematic
from dpsql.mechanisms.synthetic.consistent import estimates, not_negative, running_sum, within_limits
from dpsql.mechanisms.synthetic.counts import MOST_TOTAL, Columns, Counts, distance, index
from dpsql.mechanisms.synthetic.draws import Spending
from dpsql.mechanisms.synthetic.measured import Marginal, Measured, check, measure
from dpsql.mechanisms.synthetic.plan import MOST_CELLS, Allow, Shape, Shares, bought

METHOD = "mwem"
ROUNDS = 30
SHARES = Shares(one_column=Fraction(0), choices=Fraction(3, 10), two_columns=Fraction(7, 10))

_PENALTY = 0.5
"""Of the noise expected in a marginal: averages with others and with zero take the rest off."""

_PASSES = 2
_LAST_PASSES = 20
_GUARD = 1e-6
"""Part of the total that is added where a count may be 0."""


def cells(sizes: Sequence[int]) -> int:
    """Return the cells of the largest table that is held: of all columns."""
    return math.prod(sizes)


def plan(shape: Shape, allow: Allow) -> SyntheticPlan:
    """Return the events; ValueError for a table with too many cells."""
    if cells(shape.sizes) > MOST_CELLS:
        raise ValueError(f"a table of {cells(shape.sizes)} cells: at most {MOST_CELLS}")
    rounds = min(ROUNDS, len(_candidates(shape.sizes)))
    return bought(METHOD, shape, SHARES, (0, rounds, rounds), allow)


def measured(plan: SyntheticPlan, counts: Counts, spending: Spending) -> Measured:
    """Spend the plan's events on these counts."""
    check(plan, counts)
    grid = _Grid(plan.sizes)
    candidates = _candidates(plan.sizes)
    exact = [counts.marginal(columns) for columns in candidates]
    marginals = [measure((), plan.total, counts, spending)]
    table = grid.uniform
    for choice, noise in zip(plan.choices, plan.two_columns, strict=True):
        table = _fitted(grid, table, plan.step, marginals, _PASSES)
        fitted = grid.pairs(table)
        scores = [
            distance(numbers, fitted[columns]) - _penalty(noise.scale, len(numbers))
            for columns, numbers in zip(candidates, exact, strict=True)
        ]
        columns = candidates[spending.choose(scores, plan.clip, choice)]
        marginals.append(measure(columns, noise, counts, spending))
    return Measured(METHOD, plan.sizes, plan.step, tuple(marginals))


def fitted(measured: Measured) -> Table:
    """Return the table that fits the measured marginals."""
    return Table(measured)


@dataclass(frozen=True, eq=False)
class Table:
    """The table that fits the measured marginals."""

    measured: Measured

    @property
    def total(self) -> float:
        """The number of rows, as it was measured."""
        return float(running_sum(self.cells))

    @cached_property
    def cells(self) -> Floats:
        """All cells in rows; the last column's values are next to each other."""
        each = self.measured
        fitted = _fitted(self._grid, self._grid.uniform, each.step, each.marginals, _LAST_PASSES)
        return fitted / each.step

    def marginal(self, columns: Columns) -> Floats:
        """Return the fitted counts of these columns' values, in rows."""
        return self._grid.marginal(self.cells, columns)

    def rows(self, rows: int, words: Words) -> Integers:
        """Draw whole rows: a code for each row and column."""
        taken = systematic.counts(self.cells, rows, words)
        places = np.repeat(np.arange(len(taken)), taken)[systematic.secret_order(rows, words)]
        return np.stack(np.unravel_index(places, self.measured.sizes), axis=1).astype(np.int64)

    @cached_property
    def _grid(self) -> _Grid:
        return _Grid(self.measured.sizes)


def _candidates(sizes: Sequence[int]) -> list[Columns]:
    """Return every two columns; a single column is its own."""
    return list(itertools.combinations(range(len(sizes)), min(2, len(sizes))))


def _penalty(scale: float, cells: int) -> int:
    """Return the distance that a public part of the noise would have in these cells."""
    return min(MOST_TOTAL, math.ceil(_PENALTY * math.sqrt(2 / math.pi) * scale * cells))


def _fitted(grid: _Grid, table: Floats, step: int, marginals: Sequence[Marginal], passes: int) -> Floats:
    """Return the table after so many updates for each measured marginal; the later half are small."""
    estimated = estimates(grid.sizes, marginals)
    total = within_limits(estimated.total, step)
    targets = estimated.two_columns or {
        each.columns: estimated.one_column[0] for each in marginals if len(each.columns) == 1
    }
    wanted = {columns: not_negative(numbers, total).ravel() for columns, numbers in targets.items()}
    guard = _GUARD * total
    table = table * (total / running_sum(table))
    for strength in _strengths(passes):
        for columns, numbers in wanted.items():
            ratio = (numbers + guard) / (grid.marginal(table, columns) + guard)
            table = table * (1 + strength * (ratio - 1))[grid.place(columns)]
    return table * (total / running_sum(table))


def _strengths(passes: int) -> Iterator[float]:
    """Full updates first; then smaller ones, as marginals without negative cells need not agree exactly."""
    yield from (1.0 if 2 * done < passes else 0.25 for done in range(passes))


@dataclass(frozen=True, eq=False)
class _Grid:
    """The cells of a table, and their places in its marginals."""

    sizes: tuple[int, ...]
    _places: dict[Columns, Integers] = field(default_factory=dict)

    @property
    def uniform(self) -> Floats:
        return np.ones(math.prod(self.sizes))

    @cached_property
    def codes(self) -> tuple[Integers, ...]:
        return np.unravel_index(np.arange(math.prod(self.sizes)), self.sizes)

    def place(self, columns: Columns) -> Integers:
        if columns not in self._places:
            self._places[columns] = index(self.codes, self.sizes, columns)
        return self._places[columns]

    def marginal(self, table: Floats, columns: Columns) -> Floats:
        cells = math.prod(self.sizes[column] for column in columns)
        found: Floats = np.bincount(self.place(columns), table, cells).astype(np.float64, copy=False)
        return found

    def pairs(self, table: Floats) -> Mapping[Columns, Floats]:
        """Return all marginals of two columns, dropping one column after the other; of one, itself."""
        if len(self.sizes) == 1:
            return {(0,): table}
        found = dict[Columns, Floats]()
        for i, size in enumerate(self.sizes[:-1]):
            for j in range(i + 1, len(self.sizes)):
                between, after = math.prod(self.sizes[i + 1 : j]), math.prod(self.sizes[j + 1 :])
                split = table.reshape(size, between, self.sizes[j], after)
                found[i, j] = split.sum(axis=3).sum(axis=1).ravel()
            table = table.reshape(size, -1).sum(axis=0)
        return found

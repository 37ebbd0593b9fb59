"""How near are synthetic rows to the rows that they are made from?

Made-up data in which each column depends on two others; a price of 1 with delta 1e-6 under ``zcdp``, one row
to a unit. Figures are total variation distances between normalised marginals, averaged over all marginals of
so many columns and over the data sets:

    independent   two columns, if the exact marginals of one column were all that was known
    measured      two columns, each marginal measured alone at an equal share of the price; none negative
    fitted        what the method says of one, two and three columns
    rows          two columns of as many whole rows as there were
"""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Report, Runs, Setting, Table, Verdict
from dpsql.accounting import Budget, accountant
from dpsql.ir.allowance import Allowance
from dpsql.mechanisms import gaussian
from dpsql.mechanisms.strategies.nonnegative import with_total
from dpsql.mechanisms.synthetic.counts import Columns, RowCounts
from dpsql.mechanisms.synthetic.draws import Draws
from dpsql.mechanisms.synthetic.methods import METHODS, Fitted
from dpsql.mechanisms.synthetic.plan import Shape

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Marginal = Callable[[Columns], Floats]

GRID = 2**20
BUDGET = Budget(1.0, 1e-6)

EIGHT = (2, 3, 4, 5, 6, 2, 3, 4)
BINARY = (2,) * 10
MIXED = (2, 30, 3, 24, 4, 10)
LARGEST = (2,) * 17

MOST = {("mwem", 5_000): 0.03, ("mwem", 50_000): 0.01, ("mst", 5_000): 0.045, ("mst", 50_000): 0.065}
"""The distance of two columns that eight attributes should have at most."""


def made_up(sizes: Columns, rows: int, seed: int) -> Codes:
    """Return rows of codes in which each column depends on two columns before it."""
    generator = np.random.default_rng(seed)
    codes = np.zeros((rows, len(sizes)), dtype=np.int64)
    for column, size in enumerate(sizes):
        parents = generator.choice(column, min(2, column), replace=False) if column else []
        case = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            case = case * sizes[parent] + codes[:, parent]
        cases = math.prod(sizes[parent] for parent in parents)
        ends = np.cumsum(generator.dirichlet(np.full(size, 0.4), cases), axis=1)
        drawn = (generator.random(rows)[:, None] > ends[case]).sum(axis=1)
        codes[:, column] = np.minimum(drawn, size - 1)
    return codes


def allow(share: Fraction) -> Allowance:
    """Return what a share of the price buys."""
    return accountant("zcdp").allowance(BUDGET.epsilon, BUDGET, share, thresholds=False)


def counts_of(codes: Codes, sizes: Columns) -> RowCounts:
    return RowCounts(codes, np.full(len(codes), GRID), sizes, GRID)


def made(method: str, codes: Codes, sizes: Columns, seed: str) -> Fitted:
    """Spend the price on these rows."""
    chosen = METHODS[method]
    plan = chosen.plan(Shape(sizes, GRID, GRID), allow)
    draws = Draws.from_bytes(plan.events, random.Random(seed).randbytes)
    return chosen.fitted(chosen.measured(plan, counts_of(codes, sizes), draws))


def off(said: Marginal, true: Marginal, columns: int, together: int) -> float:
    """Return the mean distance of marginals of so many columns together."""
    distances = []
    for each in itertools.combinations(range(columns), together):
        ours, theirs = said(each), true(each)
        distances.append(np.abs(ours / ours.sum() - theirs / theirs.sum()).sum() / 2)
    return float(np.mean(distances))


def run(setting: Setting) -> Report:
    sets = 1 if setting.quick else 10
    table = Table(
        f"total variation, mean of {sets} data sets",
        (
            "columns",
            "rows",
            "method",
            "independent",
            "measured",
            "one column",
            "two",
            "three",
            "rows, two",
            "ms",
        ),
    )
    asked = [("8 of 2 to 6 values", EIGHT, 5_000), ("8 of 2 to 6 values", EIGHT, 50_000)]
    if not setting.quick:
        asked += [("10 of 2", BINARY, 5_000), ("10 of 2", BINARY, 50_000), ("6 of 2 to 30", MIXED, 5_000)]
        asked += [("17 of 2", LARGEST, 50_000)]
    for name, sizes, rows in asked:
        for method in METHODS:
            found = [_figures(method, sizes, rows, seed) for seed in range(sets if sizes != LARGEST else 1)]
            means = [float(np.mean(column)) for column in zip(*(each for each, _ in found), strict=True)]
            table.rows.append((name, rows, method, *means, Runs(tuple(taken for _, taken in found))))
    return Report((table,), tuple(_verdicts(table)))


def _verdicts(table: Table) -> list[Verdict]:
    return [
        Verdict(f"{rows:,} rows, {method}: two columns", two, MOST[method, rows])
        for name, rows, method, _, _, _, two, *_ in table.rows
        if name.startswith("8")
    ]


def _figures(method: str, sizes: Columns, rows: int, seed: int) -> tuple[tuple[float, ...], float]:
    codes = made_up(sizes, rows, seed)
    true = counts_of(codes, sizes).marginal
    start = time.perf_counter()
    fitted = made(method, codes, sizes, f"{method} {seed}")
    fitted.marginal((0,))
    taken = 1e3 * (time.perf_counter() - start)
    drawn = counts_of(fitted.rows(rows, random.Random(seed).randbytes), sizes).marginal
    columns = len(sizes)
    figures = (
        off(_independent(true, rows), true, columns, 2),
        off(_alone(true, rows, columns, seed), true, columns, 2),
        *(off(fitted.marginal, true, columns, together) for together in (1, 2, 3)),
        off(drawn, true, columns, 2),
    )
    return figures, taken


def _independent(true: Marginal, rows: int) -> Marginal:
    def said(columns: Columns) -> Floats:
        first, second = (true((column,)) / rows for column in columns)
        return np.multiply.outer(first, second).ravel()

    return said


def _alone(true: Marginal, rows: int, columns: int, seed: int) -> Marginal:
    deviation = allow(Fraction(1, math.comb(columns, 2))).gaussian
    assert deviation is not None
    scale, words = gaussian.scale_for(GRID, deviation), random.Random(seed).randbytes

    def said(columns: Columns) -> Floats:
        exact = true(columns)
        return with_total((exact + gaussian.draw(scale, len(exact), words)).astype(float), rows * GRID)

    return said

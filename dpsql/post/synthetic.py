"""Noisy marginals -> the rows of a synthetic view: combinations of values, and how many rows have each.

    measured    (sex), (sex, ward), ...        what the ledger keeps
    fitted      a table, or a tree of tables   the same bits on every machine (mechanisms/synthetic)
    rows        (F, Oncology) 412, ...         at most ``MOST_ROWS``; of more, each stands for several

Claim   reads released numbers alone: post-processing. The same marginals give the same rows.
Proof   the words that order and place the sample are a hash of the marginals; nothing else is read.
Test    tests/privacy/test_synthetic_views.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from hashlib import shake_256
from itertools import count, groupby

from dpsql.ir.column import Value
from dpsql.ir.group_order import order_of
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.synthetic import SyntheticPlan, SyntheticRows
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.strategy import Integers
from dpsql.mechanisms.synthetic.counts import Columns
from dpsql.mechanisms.synthetic.measured import Marginal, Measured
from dpsql.mechanisms.synthetic.methods import METHODS, Fitted

MOST_ROWS = 100_000
"""Whole rows that SQL over a view reads; of more, each stands for several."""


def synthetic_of(planned: MeasurePlan) -> SyntheticRows:
    """Return the rule of a measure of synthetic rows."""
    assert isinstance(planned.rule, SyntheticRows)
    return planned.rule


def rows_of(released: ReleasedTable, planned: MeasurePlan) -> ReleasedTable:
    """Return the combinations that synthetic rows have, each with its count in grid steps."""
    rule = synthetic_of(planned)
    codes, counts = _combinations(_measured(released, rule.plan))
    groups = valued(rule, codes)
    order = order_of(groups)
    return ReleasedTable([groups[place] for place in order], (counts[order] * rule.plan.step).reshape(-1, 1))


def fitted_of(released: ReleasedTable, planned: MeasurePlan) -> Fitted:
    """Return what fits the released marginals: rows are drawn from it."""
    rule = synthetic_of(planned)
    return METHODS[rule.plan.method].fitted(_measured(released, rule.plan))


def valued(rule: SyntheticRows, codes: Integers) -> list[tuple[Value, ...]]:
    """Return rows of codes as rows of values."""
    columns = zip(rule.domains, codes.T.tolist(), strict=True)
    return list(zip(*([values[code] for code in column] for values, column in columns), strict=True))


def deviation_of_total(released: ReleasedTable, planned: MeasurePlan) -> float:
    """Return the deviation, in grid steps, of the total that all marginals together say.

    A marginal of c cells says it with c times the variance of a cell; the weights are by precision.
    """
    marginals = _measured(released, synthetic_of(planned).plan).marginals
    return math.sqrt(1 / sum(1 / (each.scale**2 * len(each.numbers)) for each in marginals))


def noise_of_pairs(released: ReleasedTable, planned: MeasurePlan) -> list[tuple[tuple[str, ...], float]]:
    """Return the pairs of columns that were measured, with the part of all rows that their noise misplaces.

    That is the total variation distance that the noise alone is expected to make; a fit makes it less.
    """
    whole, *others = _measured(released, synthetic_of(planned).plan).marginals
    total, titles = max(1.0, float(whole.numbers[0])), planned.measure.titles
    precision = dict[Columns, float]()
    for each in others:  # a pair may be measured several times
        precision[each.columns] = precision.get(each.columns, 0.0) + 1 / each.scale**2
    found = []
    for pair, precise in precision.items():
        if len(pair) == 2:
            cells = math.prod(len(synthetic_of(planned).domains[column]) for column in pair)
            misplaced = cells / math.sqrt(2 * math.pi * precise) / total
            found.append((tuple(titles[column] for column in pair), min(1.0, misplaced)))
    return found


def _measured(released: ReleasedTable, plan: SyntheticPlan) -> Measured:
    events = (plan.total, *plan.one_column, *plan.two_columns)
    numbers = iter(released.sums[:, 0].tolist())
    marginals = []
    for (number, first, second), cells in groupby(released.groups, key=lambda group: group[:3]):
        assert isinstance(number, int)
        columns = tuple(column for column in (first, second) if isinstance(column, int) and column >= 0)
        own = tuple(next(numbers) for _ in cells)
        marginals.append(Marginal(columns, own, events[number].scale))
    return Measured(plan.method, plan.sizes, plan.step, tuple(marginals))


@lru_cache(maxsize=4)  # a view is asked again and again
def _combinations(measured: Measured) -> tuple[Integers, Integers]:
    """Return the codes of each combination, and how many rows it stands for; all together the total."""
    fitted = METHODS[measured.method].fitted(measured)
    total = max(1, round(fitted.total))
    rows = min(total, MOST_ROWS)
    codes, times = np.unique(fitted.rows(rows, _words(measured)), axis=0, return_counts=True)
    ends = np.array([0, *(int(end) * total // rows for end in np.cumsum(times))], dtype=np.int64)
    return codes, ends[1:] - ends[:-1]


def _words(measured: Measured) -> Words:
    """Return words that follow from the marginals alone."""
    seed = repr(measured).encode()
    calls: Iterator[int] = count()
    return lambda size: shake_256(seed + b" %d" % next(calls)).digest(size)

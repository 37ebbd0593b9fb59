"""Least squares of noisy marginals: what each of them says of the others, in closed form.

    marginals (sex, ward) and (sex, age)    both add up to counts of sexes: these are averaged, the noisier
                                            one counting less, and both tables then add up to the average

A table of two columns is total / cells, and an effect of each column on its cells, and what is left. Noise of
one deviation in all cells is independent in these three parts. So each part is averaged over all marginals
that have it, weighted by their precision; no system of equations is left to solve.

Claim   reads noisy marginals alone: post-processing. It gives the same bits on every machine.
Proof   beside + - * / of floats there are running sums only, whose order is fixed.
Test    tests/privacy/test_synthetic.py: against least squares of the whole matrix
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.nonnegative import with_total
from dpsql.mechanisms.strategies.strategy import Floats
from dpsql.mechanisms.synthetic.counts import MOST_TOTAL, Columns
from dpsql.mechanisms.synthetic.measured import Marginal


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimated counts in grid steps: of all rows, of each column's values, of two columns where measured."""

    total: float
    one_column: tuple[Floats, ...]
    two_columns: dict[Columns, Floats]


class _Average:
    """An average of arrays, weighted by precision."""

    def __init__(self, *shape: int) -> None:
        self.weighted, self.precision = np.zeros(shape), 0.0

    def add(self, numbers: Floats, precision: float) -> None:
        self.weighted = self.weighted + numbers * precision
        self.precision += precision

    @property
    def mean(self) -> Floats:
        return self.weighted / self.precision if self.precision else self.weighted


def estimates(sizes: Sequence[int], marginals: Iterable[Marginal]) -> Estimates:
    """Return the least squares estimates from marginals of no column, of one and of two."""
    total, effects = _Average(), [_Average(size) for size in sizes]
    rests = dict[Columns, _Average]()
    for each in marginals:
        table = each.floats.reshape([sizes[column] for column in each.columns])
        precision = 1 / (each.scale * each.scale)
        mean = running_sum(table.ravel()) / table.size
        total.add(np.array(mean * table.size), precision / table.size)
        found = [_sums(table, axis) - mean * (table.size / size) for axis, size in enumerate(table.shape)]
        for column, effect in zip(each.columns, found, strict=True):
            effects[column].add(effect, precision * sizes[column] / table.size)
        if len(each.columns) == 2:
            rest = table - mean - _spread(found, table.shape)
            rests.setdefault(each.columns, _Average(*table.shape)).add(rest, precision)
    whole = float(total.mean)
    means = [effect.mean for effect in effects]
    return Estimates(
        whole,
        tuple(mean + whole / len(mean) for mean in means),
        {
            (i, j): rest.mean
            + _spread([means[i], means[j]], (sizes[i], sizes[j]))
            + whole / (sizes[i] * sizes[j])
            for (i, j), rest in rests.items()
        },
    )


def not_negative(numbers: Floats, total: float) -> Floats:
    """Return the nearest numbers with no negative one and this total, in the shape that they have."""
    found: Floats = with_total(numbers.ravel(), total).reshape(numbers.shape)
    return found


def within_limits(total: float, step: int) -> float:
    """Return the total, or the nearest one between a single row and what counts are added up to."""
    return min(max(total, float(step)), float(MOST_TOTAL))


def running_sum(numbers: Floats) -> float:
    """Add up numbers from the first to the last."""
    return float(np.cumsum(numbers)[-1])


def _sums(table: Floats, axis: int) -> Floats:
    """Return the sums for each value of one column."""
    if table.ndim == 1:
        return table
    return np.cumsum(table, axis=0)[-1] if axis else np.cumsum(table, axis=1)[:, -1]


def _spread(effects: Sequence[Floats], shape: tuple[int, ...]) -> Floats:
    """Return what the effects of two columns add to each cell: a cell has its part of a value's effect."""
    rows, columns = effects
    spread: Floats = (rows / shape[1])[:, None] + (columns / shape[0])[None, :]
    return spread

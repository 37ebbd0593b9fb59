"""Replicas of a released table: what else it might have said, were its numbers the true ones.

    released     COUNT 120         SUM 10 800
    replica 1          117             10 655
    replica 2          124             10 910

SQL above the release is computed on them too; how far the results are apart is its margin.

Claim   replicas cost nothing and tell nothing more.
Proof   They are computed from the released table and from the plan, both public, and from a generator that
        is seeded by these numbers alone. The noise of the release comes from elsewhere (release.from_system)
        and is never seen here. So they are post-processing, and a repeat has the same ones.
Test    tests/unit/test_replicas.py

The noise of each measured number is drawn evenly: its replicas are the quantiles of the law in a random
order, scaled to its exact deviation. Numbers of one row share cells (a count and a mean of it), and vary
together. What is chosen and not noised (a quantile, an extreme) has a law that depends on the data: it has no
replicas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256

from dpsql.aggregates import Floats, Need, shelf
from dpsql.ir.column import Kind
from dpsql.ir.measure import BEYOND, REPLICAS, Finish
from dpsql.ir.model import Fit
from dpsql.ir.plan import MeasurePlan, Threshold
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms import mechanism, prefix
from dpsql.post.finish import barely, followed, rows_behind
from dpsql.post.joint import noise_of_numbers, numbers_measured
from dpsql.post.margins import counts_behind, even_quantiles

MOST = 4_000
"""The most numbers of an answer that have replicas: more would take longer than a second."""


MOST_OF_VIEWS = 40_000
"""The same of a private view: its questions are free, and may take some seconds. The replicas of 100,000
combinations take longer than the ten seconds that the owner's limits usually are."""


@dataclass(frozen=True, slots=True)
class Replica:
    """The replicas of a released number, one row of them per group; None where nobody can draw them."""

    name: str
    numbers: Floats


def replicas_of(
    released: ReleasedTable,
    planned: MeasurePlan,
    number: int,
    steps: Sequence[tuple[MeasurePlan, ReleasedTable]] = (),
) -> list[Replica] | None:
    """Return the replicas of all numbers with additive noise; None if the table has none.

    ``number`` tells tables of one answer apart that hold the same. A fit in steps is computed from all of its
    ``steps``.
    """
    if planned.without_margins or planned.again is not None:
        return None
    model = planned.measure.model
    if model is not None and model.before:
        from dpsql.post import linear, logistic

        noises = [_noise(table, each, number)[0].T for each, table in steps]
        drawn = (logistic if model.fit is Fit.LOGISTIC else linear).replicas(steps, model, noises)
        return [Replica(model.numbers[0], drawn)]
    if model is not None:
        from dpsql.post import models

        numbers = models.replicas(released, planned, model, _noise(released, planned, number)[0].T)
        return [Replica(model.numbers[0], numbers)]
    simple = [finish for finish in planned.measure.finishes if not finish.places]
    simple = [each for each in simple if set(shelf()[each.call.function].needs) <= _ADDITIVE]
    if len(released.groups) * len(simple) > (MOST if planned.measure.view is None else MOST_OF_VIEWS):
        return None
    sums = np.moveaxis(_sums(released, planned, number), -1, 0)
    return [Replica(finish.call.name, _numbers(finish, planned, sums)) for finish in simple]


_ADDITIVE = {Need.ROWS, Need.UNITS, Need.TOTAL}


def _numbers(finish: Finish, planned: MeasurePlan, sums: Floats) -> Floats:
    """Compute an aggregate from the sums of each replica; NaN for a mean of what may be no row at all."""
    with np.errstate(all="ignore"):
        numbers = followed(planned, finish, sums)
        if finish.type.kind is Kind.INTEGER and planned.measure.view is None:
            numbers = np.rint(numbers)  # of a view not: sums of its groups would add up what is rounded
        rows = rows_behind(planned, finish, sums) if len(shelf()[finish.call.function].needs) > 1 else None
    if rows is not None:
        away = np.sqrt(np.square(rows[1:] - rows[0]).mean(axis=0))
        numbers[:, ~(np.abs(rows[0]) > BEYOND * away)] = np.nan
    replicas: Floats = numbers[1:].T
    return replicas


def _sums(released: ReleasedTable, planned: MeasurePlan, number: int) -> Floats:
    """Return the sums of all cells of all groups: as released, then of each replica (the last axis)."""
    width = len(planned.measure.statistics)
    sums = released.sums[:, :width].astype(np.float64)
    noise = _noise(released, planned, number)
    away = sums[..., np.newaxis] - noise
    units = planned.measure.units
    if units is not None and isinstance(planned.rule, Threshold):
        for row, count in barely(released, planned).items():
            away[row, units] = counts_behind(count, planned.rule.steps, planned.noise, noise[row, units])
    if planned.measure.other is not None:
        sums, away = _with_rest(released, sums), _with_rest(released, away)
    return np.concatenate((sums[..., np.newaxis], away), axis=-1)


def _with_rest(released: ReleasedTable, sums: Floats) -> Floats:
    """Return the total less the groups that are shown in the place of the total (post/other_group.py)."""
    total = np.array([group[0] == 1 for group in released.groups])
    made = sums.copy()
    made[total] -= sums[~total].sum(axis=0)
    return made


def _noise(released: ReleasedTable, planned: MeasurePlan, number: int) -> Floats:
    """Draw noise for every cell of every group."""
    generator = np.random.Generator(np.random.Philox(key=_seed(released, number)))
    cells = (len(released.groups), len(planned.measure.statistics))
    measured = numbers_measured(planned)
    if measured is not None:
        return noise_of_numbers(released, planned, _even(planned, (measured, 1), generator)[:, 0])
    if planned.runs is None:
        return _even(planned, cells, generator)
    runs = planned.runs
    measured = len(prefix.matrix(runs.branching, runs.groups))
    drawn = _even(planned, (measured, 1), generator)[:, 0]
    return prefix.noise_of_groups(runs.branching, runs.groups, drawn)[:, np.newaxis]


def _even(planned: MeasurePlan, cells: tuple[int, int], generator: np.random.Generator) -> Floats:
    quantiles = even_quantiles(planned.noise.mechanism, REPLICAS)
    quantiles = (
        quantiles * mechanism(planned.noise.mechanism).deviation(planned.noise.scale) / quantiles.std()
    )
    drawn: Floats = generator.permuted(np.broadcast_to(quantiles, (*cells, REPLICAS)), axis=-1)
    return drawn


def _seed(released: ReleasedTable, number: int) -> int:
    """Return a digest of what was released: of nothing else."""
    told = repr((number, released.groups)).encode() + released.sums.tobytes()
    return int.from_bytes(sha256(told).digest()[:16], "big")


def sound(value: object, half_width: float | None) -> float | None:
    """Return a half-width as it is shown: None if it is none, 0 if it is the rounding of floats."""
    if half_width is None or not math.isfinite(half_width) or not isinstance(value, int | float | Decimal):
        return None
    return 0.0 if half_width < _ROUNDING * abs(float(value)) else half_width


_ROUNDING = 1e-13

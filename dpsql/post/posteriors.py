"""Released sums -> posteriors that know the law of their noise.

    DP_BETA(yes, no)      yes 12, no 25, Gaussian noise of deviation 4.6 in each: mean .32, from .09 to .56

Claim   posteriors cost nothing.
Proof   They are functions of the released table and of the plan, both public.
Test    tests/unit/test_posteriors.py

Two numbers are linear in what was measured, so their noise is W z, with z the independent draws of the
mechanism and W public. Its law is known, if they are correlated too, where z is Gaussian (with covariance
W W'), where each number has a draw of its own, or where two draws make both, so that W has an inverse.
Otherwise there is no posterior. Nor is there one of a count that is shown because it reached a threshold, and
is near it: that it is shown tells of its noise. Numbers are taken as they were released, before rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsql.aggregates import Floats
from dpsql.ir.column import DOUBLE, Value
from dpsql.ir.finished import Finished
from dpsql.ir.formula import Formula
from dpsql.ir.plan import MeasurePlan, Threshold
from dpsql.ir.posterior import Posterior
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism
from dpsql.post.derived_margins import Follow, evaluated
from dpsql.post.exponential_families import Family, Noise, Seen, Summary, beta, gamma, normal, summary
from dpsql.post.joint import noise_of_numbers, numbers_measured

_MOST = 2**22
"""The most floats that say how numbers depend on what is measured together."""

_MOST_OF_ONE, _MOST_OF_ALL = 2**18, 2**25
"""The most pairs of hidden numbers that one posterior is a sum of, and all of them together."""

_REACH = {"gaussian": 4.0}
"""Deviations within which nearly all noise is; six where tails are those of Laplace's law."""

_SINGULAR = 1e-9


def posterior_columns(
    released: ReleasedTable, planned: MeasurePlan, spread: Floats, follow: Follow, barely: Mapping[int, float]
) -> list[Finished]:
    """Return the columns of all posteriors of a measure.

    ``spread`` is the relative noise of each row, ``barely`` has the rows that are near their threshold.
    """
    columns = []
    for posterior in planned.measure.posteriors:
        family = family_of(posterior)
        laws = _seen(posterior, released, planned, spread, follow, barely)
        most = min(_MOST_OF_ONE, _MOST_OF_ALL // max(1, len(released.groups)))
        rows = [_row(None if seen is None else summary(family, seen, most)) for seen in laws]
        for place, name in enumerate(posterior.columns):
            columns.append(Finished(name, DOUBLE, [row[place] for row in rows], None))
    return columns


def _row(found: Summary | None) -> tuple[Value, ...]:
    return (None,) * 4 if found is None else (found.mean, found.sd, found.low, found.high)


def family_of(posterior: Posterior) -> Family:
    match posterior.function, posterior.constants:
        case "dp_beta", (a, b):
            return beta(a, b)
        case "dp_gamma", (a, b):
            return gamma(a, b)
        case _, (sd,):
            return normal(sd)
    raise AssertionError("the binder has counted the constants")


def _seen(
    posterior: Posterior,
    released: ReleasedTable,
    planned: MeasurePlan,
    spread: Floats,
    follow: Follow,
    barely: Mapping[int, float],
) -> Iterator[Seen | None]:
    """Return for each group the two numbers with the law of their noise, or None."""
    width = len(planned.measure.statistics)
    sums = released.sums[:, :width].astype(np.float64)
    cells = _moved(released, planned, width)
    raised = planned.measure.non_negative is not None
    if planned.without_margins or planned.again is not None or raised or cells is None:
        yield from [None] * len(sums)
        return
    nothing = np.zeros(width)
    numbers = np.stack([_of(f, planned, sums, follow) for f in posterior.numbers], axis=-1)
    weights = np.stack(
        [_of(f, planned, cells, follow) - _of(f, planned, nothing, follow) for f in posterior.numbers],
        axis=-2,
    )
    weights = np.broadcast_to(weights, (len(sums), *weights.shape[-2:]))
    if spread.ndim == 1:
        weights = weights * spread[:, None, None]
    near = _near(planned, barely, weights)
    for row, (pair, map_) in enumerate(zip(numbers, weights, strict=True)):
        alike = planned.noise.mechanism == "gaussian" or spread.ndim != 1 or spread[row] == 1
        yield None if row in near or not alike else _law(pair, map_, planned.noise.mechanism)


def _of(formula: Formula, planned: MeasurePlan, cells: Floats, follow: Follow) -> Floats:
    """Evaluate a formula over the sums of all cells (the last axis)."""
    columns = {
        finish.call.name: follow(finish, cells) for finish in planned.measure.finishes if not finish.places
    }
    return np.broadcast_to(evaluated(formula, columns), cells.shape[:-1])


def _moved(released: ReleasedTable, planned: MeasurePlan, width: int) -> Floats | None:
    """Return by how much each draw of noise moves each cell: draws by cells, of each group if they differ."""
    measured = numbers_measured(planned)
    if measured is None:
        return planned.noise.scale * np.eye(width)
    if measured * width * len(released.groups) > _MOST:
        return None
    drawn = noise_of_numbers(released, planned, planned.noise.scale * np.eye(measured))
    return np.moveaxis(drawn, -1, 1)


def _near(planned: MeasurePlan, barely: Mapping[int, float], weights: Floats) -> set[int]:
    """Return the rows with numbers that are made of a count near its threshold."""
    rule, units = planned.rule, planned.measure.units
    if not isinstance(rule, Threshold) or units is None:
        return set()
    chosen = mechanism(planned.noise.mechanism)
    most = rule.steps + _REACH.get(planned.noise.mechanism, 6.0) * chosen.deviation(planned.noise.scale)
    return {row for row, count in barely.items() if count < most and weights[row, :, units].any()}


def seen_alone(numbers: Floats, scale: float, name: str) -> Seen:
    """Return two numbers, each with noise of its own of this scale."""
    found = _law(numbers, scale * np.eye(2), name)
    assert found is not None, "each has a draw of its own"
    return found


def _law(numbers: Floats, weights: Floats, name: str) -> Seen | None:
    """Return two numbers with the law of their noise; None where it is not known."""
    unit = mechanism(name).deviation(1.0)
    sizes = np.sqrt(np.square(weights).sum(axis=1))
    noise = _density(weights, sizes, name)
    if noise is None or not np.isfinite(numbers).all():
        return None
    first, second = (float(size) * unit for size in sizes)
    return Seen((float(numbers[0]), float(numbers[1])), (first, second), noise, _REACH.get(name, 6.0))


def _density(weights: Floats, sizes: Floats, name: str) -> Noise | None:
    """Return the logarithm of the density of W z."""
    noisy = sizes > 0
    if not noisy.any():
        return None
    used = weights[:, weights.any(axis=0)]
    if not noisy.all():
        place, size = int(noisy.argmax()), float(sizes[noisy.argmax()])
        if name != "gaussian" and used.shape[1] > 1:
            return None
        return lambda *away: _standard(away[place] / size, name)
    if name == "gaussian":
        covariance = used @ used.T
        if np.linalg.det(covariance) <= _SINGULAR * covariance[0, 0] * covariance[1, 1]:
            return None
        root = np.linalg.cholesky(np.linalg.inv(covariance)).T
    else:
        if used.shape[1] != 2 or abs(np.linalg.det(used)) <= _SINGULAR * sizes[0] * sizes[1]:
            return None
        root = np.linalg.inv(used)
    (a, b), (c, d) = root.tolist()
    if b == 0 == c:  # each has a draw of its own
        return lambda first, second: _standard(a * first, name) + _standard(d * second, name)
    return lambda first, second: (
        _standard(a * first + b * second, name) + _standard(c * first + d * second, name)
    )


def _standard(draws: Floats, name: str) -> Floats:
    """Return the logarithm of the density of noise of scale 1; the chance of geometric noise is like it."""
    return -np.square(draws) / 2 if name == "gaussian" else -np.abs(draws)

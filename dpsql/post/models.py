"""Released sums of products -> the rows of a fit: least squares, or covariances.

    coefficients    the solution of A b = s, where A holds the sums z z' and s the sums z y
    std_error       the root of the residual variance times the inverse of A: the chance of who was asked
    margin          how far noise alone moves a coefficient, as of any other number
    low, high       both together, at the same confidence

All of it is computed from the released table and from public draws: it is post-processing. It describes terms
on [-1, 1], and is then moved to the columns' own units.

Noise of deviation s in a symmetric matrix of d terms moves its eigenvalues by f = 2 s sqrt(d) at most, about.
Those below f are lifted to f, so that the solution stays finite. Then nobody can tell how far coefficients
are off, and only they are shown.

Test    tests/privacy/test_models.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

from numpy.typing import NDArray

from dpsql.aggregates import Floats
from dpsql.ir.column import DOUBLE, VARCHAR, Value
from dpsql.ir.finished import Finished
from dpsql.ir.model import Fit, Model
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.post.finish import followed
from dpsql.post.margins import bootstrap, unit_draws

Released: TypeAlias = "tuple[MeasurePlan, ReleasedTable]"

_LEAST = 1e-6
"""Least eigenvalue without noise: of terms that say the same, the solution is the shortest one."""

_DRAWS, _FEWEST = 1_024, 128
_FLOATS = 2**22
"""Most numbers of all simulated matrices, where these are not the fewest."""

_HOPELESS = 20
"""How many times as many units nobody has."""


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of products as released (the first matrix), and as they would be without simulated noise."""

    matrices: Floats

    @property
    def released(self) -> Floats:
        matrix: Floats = self.matrices[0]
        return matrix

    def effect(self, terms: int) -> float:
        """Return how far noise moves the eigenvalues of the matrix of so many terms."""
        deviation = float(self.matrices[1:, :terms, :terms].std(axis=0).max())
        return max(2 * deviation * math.sqrt(terms), _LEAST)

    def clear(self, terms: int) -> float:
        """Return the least eigenvalue in multiples of this."""
        return float(np.linalg.eigvalsh(self.released[:terms, :terms])[0]) / self.effect(terms)

    def solved(self, terms: int, right: Floats | None = None) -> Floats:
        """Solve each system, its eigenvalues lifted: this never fails, whatever was released.

        The right sides are the sums with what is predicted, unless others are given.
        """
        right = self.matrices[:, terms, :terms] if right is None else right
        values, vectors = np.linalg.eigh(self.matrices[:, :terms, :terms])
        lifted = np.maximum(values, self.effect(terms))
        along = (right[:, np.newaxis] @ vectors)[:, 0] / lifted
        solved: Floats = (vectors @ along[..., np.newaxis])[..., 0]
        return solved


def fitted(released: ReleasedTable, planned: MeasurePlan, model: Model, confidence: float) -> list[Finished]:
    """Return the columns of a fit."""
    noise = planned.noise
    noises = noise.scale * unit_draws(noise.mechanism, len(planned.measure.statistics), draws_of(model))
    sums, names = Sums(matrices_of(released, planned, model, noises)), names_of(model)
    if planned.without_margins:
        numbers = _numbers(sums, model)[0]
        return names + columns_of(model, numbers, np.full(len(numbers), np.inf))
    if model.fit is Fit.LINEAR:
        return names + _linear(sums, model, confidence)
    return names + _covariance(sums, model, confidence)


def replicas(released: ReleasedTable, planned: MeasurePlan, model: Model, noises: Floats) -> Floats:
    """Return what the first number of each row may be without these noises, a column for each of them.

    NaN where nobody can tell.
    """
    sums = Sums(matrices_of(released, planned, model, noises))
    numbers: Floats = _numbers(sums, model)[1:].T
    blurred = model.fit is Fit.LINEAR and sums.clear(len(model.terms) - 1) < 1
    return np.full(numbers.shape, np.nan) if blurred else numbers


def note(released: ReleasedTable, planned: MeasurePlan, model: Model, unit: str) -> str:
    """Say why coefficients have no errors, if they have none."""
    if model.fit is not Fit.LINEAR or planned.without_margins:
        return ""
    noises = planned.noise.scale * unit_draws(
        planned.noise.mechanism, len(planned.measure.statistics), _FEWEST
    )
    return said_of(Sums(matrices_of(released, planned, model, noises)).clear(len(model.terms) - 1), unit)


def said_of(clear: float, unit: str) -> str:
    """Say why there are no errors, by the least eigenvalue in multiples of its noise; '' of 1 or more."""
    if clear >= 1:
        return ""
    many = f"about {max(2, math.ceil(1 / clear))}" if clear > 1 / _HOPELESS else "very many"
    return (
        "The noise is as large as what tells the terms apart, so nobody knows how far the coefficients are "
        f"off: it would take {many} times as many {unit}s or as much epsilon, or fewer terms."
    )


def draws_of(model: Model) -> int:
    """Return how often noise is simulated."""
    return max(_FEWEST, min(_DRAWS, _FLOATS // len(model.terms) ** 2))


def names_of(model: Model) -> list[Finished]:
    """Return the columns with the names of terms."""
    named = zip(model.keys, zip(*model.groups(), strict=True), strict=True)
    return [Finished(key, VARCHAR, list(column), None) for key, column in named]


def matrices_of(released: ReleasedTable, planned: MeasurePlan, model: Model, noises: Floats) -> Floats:
    """Return the matrices of the model's sums: as released, and without each of the noises."""
    cells = released.sums[0, : len(planned.measure.statistics)].astype(np.float64)
    every = np.concatenate((cells[np.newaxis], cells - noises))
    matrices = np.zeros((len(every), len(model.sums), len(model.sums[0])))
    found = {finish.call.name: followed(planned, finish, every) for finish in planned.measure.finishes}
    for place, row in enumerate(model.sums):
        for other, name in enumerate(row):
            if name is not None:
                matrices[:, place, other] = found[name]
    return matrices


# ---- least squares -------------------------------------------------------------------------------------


def _numbers(sums: Sums, model: Model) -> Floats:
    """Return the first number of each row, for each of the matrices."""
    if model.fit is Fit.COVARIANCE:
        return _covariances(sums, model)
    units, start = to_columns(model)
    return sums.solved(len(model.terms) - 1) @ units.T + start


def _linear(sums: Sums, model: Model, confidence: float) -> list[Finished]:
    terms, coefficients = len(model.terms) - 1, _numbers(sums, model)
    if sums.clear(terms) < 1:
        return columns_of(model, coefficients[0])
    released, moved = coefficients[0], coefficients[1:] - coefficients[0]
    return with_errors(model, released, moved, _standard_errors(sums, model), confidence)


def with_errors(
    model: Model, released: Floats, moved: Floats, errors: Floats, confidence: float
) -> list[Finished]:
    """Return the columns of coefficients, by how far noise moved them in simulations, and by chance."""
    noise = bootstrap(lambda part: moved[:, part], len(released), moved.shape[0], confidence)
    far = NormalDist().inv_cdf((1 + confidence) / 2) * errors
    below, above = np.hypot(far, noise.below), np.hypot(far, noise.above)
    margin = np.maximum(np.abs(noise.below), np.abs(noise.above))
    ends = (released - noise.below, released + noise.above)
    return columns_of(model, released, margin, ends, (errors, released - below, released + above, margin))


def _standard_errors(sums: Sums, model: Model) -> Floats:
    """Return the errors that least squares has by chance, of coefficients in their columns' units."""
    terms = len(model.terms) - 1
    inner, right = sums.released[:terms, :terms], sums.released[:terms, terms]
    solved, (units, _) = np.linalg.solve(inner, right), to_columns(model)
    left = sums.released[terms, terms] - 2 * solved @ right + solved @ inner @ solved
    rows = sums.released[0, 0] - terms
    variance = max(0.0, float(left)) / rows if rows > 0 else math.nan
    spread = units @ np.linalg.inv(inner) @ units.T
    errors: Floats = np.sqrt(np.maximum(0.0, variance * np.diagonal(spread)))
    return errors


def to_columns(model: Model) -> tuple[Floats, Floats]:
    """Return the matrix and the vector that move coefficients of terms on [-1, 1] to the columns' units.

    The value of a column is middle + half z, so its coefficient is that of z over half, and the intercept
    gives back what the middles took.
    """
    *terms, target = model.terms
    units = np.diag([target.half / (term.half or 1.0) for term in terms])
    units[0] -= [target.half * term.middle / term.half if term.half else 0.0 for term in terms]
    start = np.zeros(len(terms))
    start[0] = target.middle
    return units, start


def columns_of(
    model: Model,
    coefficients: Floats,
    margins: Floats | None = None,
    ends: tuple[Floats, Floats] | None = None,
    others: tuple[Floats, ...] = (),
) -> list[Finished]:
    """Return the numbers' columns; without margins all numbers but the coefficients are NULL."""
    nothing = np.full(len(coefficients), np.nan)
    first, *rest = model.numbers
    margins = nothing if margins is None else margins
    low, high = (nothing, nothing) if ends is None else ends
    made = [Finished(first, DOUBLE, _values(coefficients), margins, low, high)]
    for name, numbers in zip(rest, others or [nothing] * len(rest), strict=True):
        made.append(Finished(name, DOUBLE, _values(numbers), nothing, nothing, nothing))
    return made


def _values(numbers: Floats) -> list[Value]:
    return [number if math.isfinite(number) else None for number in numbers.tolist()]


# ---- covariances ---------------------------------------------------------------------------------------


def _covariances(sums: Sums, model: Model) -> Floats:
    """Return the covariances of all pairs of columns, in their units; NaN of less than two rows."""
    halves = np.array([term.half for term in model.terms[1:]])
    upper: tuple[NDArray[np.intp], NDArray[np.intp]] = np.triu_indices(len(halves))
    rows = sums.matrices[:, 0, 0, np.newaxis, np.newaxis]
    totals = sums.matrices[:, 0, 1:]
    with np.errstate(all="ignore"):
        centred = sums.matrices[:, 1:, 1:] - totals[:, :, np.newaxis] * totals[:, np.newaxis, :] / rows
        every = np.where(rows >= 2, centred / (rows - 1), np.nan) * np.outer(halves, halves)
    listed: Floats = every[:, upper[0], upper[1]]
    return listed


def _covariance(sums: Sums, model: Model, confidence: float) -> list[Finished]:
    listed = _numbers(sums, model)
    moved = listed[1:] - listed[0]
    noise = bootstrap(lambda part: moved[:, part], listed.shape[1], moved.shape[0], confidence)
    margin = np.maximum(np.abs(noise.below), np.abs(noise.above))
    return columns_of(model, listed[0], margin, (listed[0] - noise.below, listed[0] + noise.above))


def noises_of(released: Sequence[Released], draws: int) -> list[Floats]:
    """Draw noise of each step, the same public draws each time; each step has its own."""
    widths = [len(planned.measure.statistics) for planned, _ in released]
    ends = np.cumsum(widths).tolist()
    return [
        planned.noise.scale * unit_draws(planned.noise.mechanism, ends[-1], draws)[:, end - width : end]
        for (planned, _), width, end in zip(released, widths, ends, strict=True)
    ]


def all_matrices(released: Sequence[Released], noises: Sequence[Floats]) -> list[Floats]:
    """Return the matrices of each step."""
    return [
        matrices_of(table, planned, planned.measure.model, noise)
        for (planned, table), noise in zip(released, noises, strict=True)
        if planned.measure.model is not None
    ]

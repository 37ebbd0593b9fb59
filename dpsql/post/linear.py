"""The releases of a linear fit: sums of products, then lengths, then sums of residuals -> the fit.

    A, s            sums z z' and z y                 w = A^-1 s, the first fit
    counts          of rows by |z| |r|, r = y - w z   C, the length that few rows exceed
    g               C times the sums z q              q the residual, scaled by C and cut to |z| |q| <= 1
    coefficients    w + A^-1 g                        one step of Newton's: the loss is a parabola

Of the first fit only A stays in the error, times how far w was off; the rest is the noise of g, which has the
length C in place of the range of y. Rows that are longer than C are cut: as many as counts of this noise may
hide.

    std_error       the root of the residual variance times the inverse of A: the chance of who was asked
    margin          how far noise alone moves a coefficient: the last step again, without simulated noise
    low, high       both together, at the same confidence

The residual variance is computed from the first sums, or from the counts, whichever has less noise. All of it
is post-processing, and never fails, whatever was released. Eigenvalues are lifted as in models.py.

Test    tests/privacy/test_models.py, tests/privacy/test_linear_fits.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpsql.aggregates import Floats
from dpsql.ir.column import DOUBLE
from dpsql.ir.finished import Finished
from dpsql.ir.model import LARGEST_WEIGHT, Fit, Model, lengths_of
from dpsql.lazy_dataclass import dataclass
from dpsql.post.logistic import Released, noises_of
from dpsql.post.models import (
    Sums,
    columns_of,
    draws_of,
    matrices_of,
    names_of,
    said_of,
    to_columns,
    with_errors,
)

FEW = 2.0
"""How many deviations of a count may be longer than what rows are cut to."""

_ROUGH = 0.02
"""Part of the residual variance that cells of a quarter octave may miss."""

_FEWEST = 128


@dataclass(frozen=True, slots=True)
class LinearSteps:
    """What was released, and that without simulated noise: the first of each array is as released.

    ``begun`` and ``place`` are what was handed down to the last step.
    """

    sums: Sums
    counts: Floats
    ends: Floats
    begun: Floats
    place: int

    @property
    def terms(self) -> int:
        return int(self.sums.matrices.shape[-1]) - 1

    def solutions(self) -> Floats:
        """Return the weights of the fit, and what they would be without each of the noises."""
        length = lengths_of(self.terms)[self.place]
        weights: Floats = self.begun + self.sums.solved(self.terms, length * self.ends)
        return weights

    def variance(self) -> float:
        """Return the residual variance."""
        matrices, weights, terms = self.sums.matrices, self.solutions()[0], self.terms
        rows = float(matrices[0, 0, 0]) - terms
        if rows <= 0:
            return math.nan
        inner, right = matrices[:, :terms, :terms], matrices[:, terms, :terms]
        left = matrices[:, terms, terms] - 2 * right @ weights + (inner @ weights) @ weights
        longest = np.array(lengths_of(terms))
        squares = np.where(np.arange(len(longest)) > self.place, (longest * 2**0.125) ** 2, 0.0)
        trace, step = float(np.trace(inner[0])), weights - self.begun
        counted = (self.counts @ squares) / trace * (rows + terms) - step @ inner[0] @ step
        found = [left, counted] if trace > 0 else [left]
        rough = (0.0, _ROUGH * abs(float(counted[0])))
        errors = [float(each[1:].std()) + more for each, more in zip(found, rough, strict=False)]
        return max(0.0, float(found[int(np.argmin(errors))][0])) / rows


def begun_of(released: Sequence[Released]) -> Floats:
    """Return the weights of the first fit: the same whenever they are asked for."""
    (first,) = _matrices(released[:1], noises_of(released[:1], _FEWEST))
    weights = Sums(first).solved(int(first.shape[-1]) - 1)[0]
    clipped: Floats = np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT)
    return clipped


def place_of(released: Sequence[Released]) -> int:
    """Return the place of the length that rows are cut to: the same whenever it is asked for."""
    (counts,) = _matrices(released[1:2], noises_of(released[1:2], _FEWEST))
    return few_are_longer(counts[0, 0], float(counts[1:, 0].std(axis=0).max()))


def few_are_longer(counts: Floats, deviation: float) -> int:
    """Return the place of the shortest length of which counts do not show that many rows are longer."""
    longer = np.cumsum(counts) > FEW * deviation
    return max(0, int(np.argmax(longer)) - 1 if longer.any() else len(longer) - 2)


def linear_steps(released: Sequence[Released], noises: Sequence[Floats]) -> LinearSteps:
    """Return the steps from their released tables, and from simulated noise of each."""
    first, counts, ends = _matrices(released, noises)
    return LinearSteps(Sums(first), counts[:, 0], ends[:, 0], begun_of(released), place_of(released))


def _matrices(released: Sequence[Released], noises: Sequence[Floats]) -> list[Floats]:
    return [
        matrices_of(table, planned, planned.measure.model, noise)
        for (planned, table), noise in zip(released, noises, strict=True)
        if planned.measure.model is not None
    ]


def handed_down(released: Sequence[Released], model: Model) -> list[Finished]:
    """Return the row that the next step reads: weights, and 1 / length."""
    begun, scale = begun_of(released), 1.0
    if model.fit is Fit.LENGTH:
        scale = 1 / lengths_of(len(begun))[place_of(released)]
    nothing = np.full(1, np.nan)
    return [
        Finished(name, DOUBLE, [number], nothing, nothing, nothing)
        for name, number in zip(model.numbers, [*begun.tolist(), scale], strict=True)
    ]


def fitted(released: Sequence[Released], model: Model, confidence: float) -> list[Finished]:
    """Return the columns of the fit."""
    steps = linear_steps(released, noises_of(released, draws_of(model)))
    units, start = to_columns(model)
    coefficients: Floats = steps.solutions() @ units.T + start
    if released[-1][0].without_margins:
        return names_of(model) + columns_of(model, coefficients[0], np.full(steps.terms, np.inf))
    if steps.sums.clear(steps.terms) < 1:
        return names_of(model) + columns_of(model, coefficients[0])
    spread = units @ np.linalg.inv(steps.sums.released[: steps.terms, : steps.terms]) @ units.T
    errors = np.sqrt(np.maximum(0.0, steps.variance() * np.diagonal(spread)))
    moved = coefficients[1:] - coefficients[0]
    return names_of(model) + with_errors(model, coefficients[0], moved, errors, confidence)


def replicas(released: Sequence[Released], model: Model, noises: Sequence[Floats]) -> Floats:
    """Return what each coefficient may be without these noises, a column for each; NaN if nobody can tell."""
    steps = linear_steps(released, noises)
    units, start = to_columns(model)
    numbers: Floats = (steps.solutions()[1:] @ units.T + start).T
    return np.full(numbers.shape, np.nan) if steps.sums.clear(steps.terms) < 1 else numbers


def note(released: Sequence[Released], unit: str) -> str:
    """Say why coefficients have no errors, if they have none."""
    sums = Sums(_matrices(released[:1], noises_of(released[:1], _FEWEST))[0])
    return said_of(sums.clear(int(sums.matrices.shape[-1]) - 1), unit)

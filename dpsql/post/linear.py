"""The releases of a linear fit: sums of products, then lengths, then sums of residuals -> the fit.

    A, s            sums z z' and z y                 w = A^-1 s, the first fit
    counts          of rows by |z| |r|, r = y - w z   C, the length that few rows exceed
    g               C times the sums z q              q the residual, scaled by C and cut to |z| |q| <= 1
    coefficients    w + A^-1 g                        one step of Newton's: the loss is a parabola

Of the first fit only A stays in the error, times how far w was off; the rest is the noise of g, which has the
length C in place of the range of y. Rows that are longer than C are cut: as many as counts of this noise may
hide. Margins know nothing of them, as of any clip: where few rows are far longer than others, intervals may
not hold.

    std_error       the root of the residual variance times the inverse of A: the chance of who was asked
    margin          how far noise alone moves a coefficient: the last step again, without simulated noise
    low, high       both together, at the same confidence

The residual variance is computed from the first sums, or from the counts, whichever has less noise; where it
is not above 0, std_error, low and high are NULL. If many rows are longer than the longest C, all errors are.
All of it is post-processing, and never fails, whatever was released. Eigenvalues are lifted as in models.py.

Test    tests/privacy/test_models.py, tests/privacy/test_linear_fits.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.aggregates import Floats
from dpsql.ir.column import DOUBLE
from dpsql.ir.finished import Finished
from dpsql.ir.model import LARGEST_WEIGHT, LONGER_THAN_1, Fit, Model, lengths_of
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.post.models import (
    Released,
    Sums,
    all_matrices,
    columns_of,
    draws_of,
    names_of,
    noises_of,
    said_of,
    to_columns,
    with_errors,
)

FEW = 2.0
"""How many deviations of a count may be longer than what rows are cut to."""

FAR = 4.0
"""The same of rows that are more than 1 off, which are rare: noise alone seldom makes rows that long."""

_ROUGH = 0.02
"""Part of the residual variance that cells of a quarter octave may miss."""

_FEWEST = 128
_UNSEEN = (
    "Many rows are so far from the first fit that they had to be cut, so nobody knows how far the "
    "coefficients are off: it would take more {unit}s or epsilon, or fewer terms."
)


@dataclass(frozen=True, slots=True)
class LinearSteps:
    """What was released, and that without simulated noise: the first of each array is as released.

    ``begun`` and ``place`` are what was handed down to the last step. ``unseen`` are many rows that are
    longer than any length: how much was cut of them, nobody knows.
    """

    sums: Sums
    counts: Floats
    ends: Floats
    begun: Floats
    place: int
    unseen: bool = False

    @property
    def terms(self) -> int:
        return int(self.sums.matrices.shape[-1]) - 1

    def solutions(self) -> Floats:
        """Return the weights of the fit, and what they would be without each of the noises."""
        length = lengths_of(self.terms)[self.place]
        weights: Floats = self.begun + self.sums.solved(self.terms, length * self.ends)
        return weights

    def variance(self) -> float:
        """Return the residual variance; NaN where what was released does not tell it from 0.

        Rows that are cut count as long as their cell begins, but at most 1 off: more is noise. It is not
        below that of the others, which has little noise.
        """
        matrices, weights, terms = self.sums.matrices, self.solutions()[0], self.terms
        inner, right = matrices[:, :terms, :terms], matrices[:, terms, :terms]
        rows, trace = float(matrices[0, 0, 0]) - terms, float(np.trace(inner[0]))
        if min(rows, trace) <= 0:
            return math.nan
        left = matrices[:, terms, terms] - 2 * right @ weights + (inner @ weights) @ weights
        longest = np.array(lengths_of(terms))
        middle = np.sqrt(longest * np.concatenate((longest[:1], longest[:-1])))
        begins = np.maximum(longest[self.place], np.minimum(longest, math.sqrt(terms)))
        cut = np.arange(len(longest)) <= self.place
        squares = np.square(np.column_stack((np.where(cut, begins, middle), np.where(cut, 0.0, middle))))
        step = weights - self.begun
        counted, uncut = (self.counts @ squares / trace * (rows + terms) - step @ inner[0] @ step).T
        rough = _ROUGH * abs(float(counted[0]))
        found = left if left[1:].std() < counted[1:].std() + rough else counted
        squared = float(max(found[0], (1 - _ROUGH) * uncut[0]))
        return squared / rows if squared > 0 else math.nan


def begun_of(released: Sequence[Released]) -> Floats:
    """Return the weights of the first fit: the same whenever they are asked for."""
    (first,) = all_matrices(released[:1], noises_of(released[:1], _FEWEST))
    weights = Sums(first).solved(int(first.shape[-1]) - 1)[0]
    clipped: Floats = np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT)
    return clipped


def place_of(released: Sequence[Released]) -> int:
    """Return the place of the length that rows are cut to: the same whenever it is asked for."""
    return few_are_longer(*_counted(released))


def _counted(released: Sequence[Released]) -> tuple[Floats, float]:
    """Return the counts of rows by length, and the deviation of their noise."""
    (counts,) = all_matrices(released[1:2], noises_of(released[1:2], _FEWEST))
    return counts[0, 0], float(counts[1:, 0].std(axis=0).max())


def few_are_longer(counts: Floats, deviation: float) -> int:
    """Return the place of the shortest length of which counts do not show that many rows are longer."""
    for place in range(len(counts)):
        if _are_many(counts, deviation, place):
            return max(0, place - 1)
    return len(counts) - 2


def _are_many(counts: Floats, deviation: float, place: int = 0) -> bool:
    """Whether this cell, or any run of cells that ends with it, has more rows than its noise may hide.

    Of runs, as noise below 0 in a longer cell would hide rows in all that come after.
    """
    deviations = FAR if place < LONGER_THAN_1 else FEW
    found, noise = np.cumsum(counts[place::-1]), deviation * np.sqrt(np.arange(1, place + 2))
    return bool((found > deviations * noise).any())


def linear_steps(released: Sequence[Released], noises: Sequence[Floats]) -> LinearSteps:
    """Return the steps from their released tables, and from simulated noise of each."""
    first, counts, ends = all_matrices(released, noises)
    unseen = _are_many(*_counted(released))
    return LinearSteps(Sums(first), counts[:, 0], ends[:, 0], begun_of(released), place_of(released), unseen)


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
    if steps.unseen or steps.sums.clear(steps.terms) < 1:
        return names_of(model) + columns_of(model, coefficients[0])
    spread = units @ np.linalg.inv(steps.sums.released[: steps.terms, : steps.terms]) @ units.T
    errors = np.sqrt(steps.variance() * np.maximum(0.0, np.diagonal(spread)))
    moved = coefficients[1:] - coefficients[0]
    return names_of(model) + with_errors(model, coefficients[0], moved, errors, confidence)


def replicas(released: Sequence[Released], model: Model, noises: Sequence[Floats]) -> Floats:
    """Return what each coefficient may be without these noises, a column for each; NaN if nobody can tell."""
    steps = linear_steps(released, noises)
    units, start = to_columns(model)
    numbers: Floats = (steps.solutions()[1:] @ units.T + start).T
    blurred = steps.unseen or steps.sums.clear(steps.terms) < 1
    return np.full(numbers.shape, np.nan) if blurred else numbers


def note(released: Sequence[Released], unit: str) -> str:
    """Say why coefficients have no errors, if they have none."""
    if _are_many(*_counted(released)):
        return _UNSEEN.format(unit=unit)
    sums = Sums(all_matrices(released[:1], noises_of(released[:1], _FEWEST))[0])
    return said_of(sums.clear(int(sums.matrices.shape[-1]) - 1), unit)

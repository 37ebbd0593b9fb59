"""The steps of a logistic fit: released sums -> the weights of the next step, and at last the fit.

    A               sums z z'                         4 A^-1 is at least the inverse curvature, anywhere
    w <- w - 4 A^-1 g                                 so every step goes down, without a step size
    H               sums p (1 - p) z z' at the mean of these weights, but for the first three
    coefficients    mean w - H^-1 mean g              over the same steps

(Boehning and Lindsay 1988, "Monotonicity of quadratic-approximation algorithms"). Near the solution w* the
gradient at w is H (w - w*) and its noise, so every step says where w* is, w - H^-1 g; the mean of all of them
has the noise of one gradient that was bought for the price of these steps together.

    margin          how far noise alone moves a coefficient: all steps are run again on the same quadratic,
                    with simulated noise in every gradient and in H
    std_error       the root of the diagonal of H^-1: the chance of who was asked
    low, high       both together, at the same confidence

All of it is computed from released tables and public draws: it is post-processing, and never fails, whatever
was released. Eigenvalues are lifted to f = 2 s sqrt(d) as in models.py; where the least of H is below half of
its f, only the coefficients are shown.

Test    tests/privacy/test_logistic.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.aggregates import Floats
from dpsql.ir.column import DOUBLE
from dpsql.ir.finished import Finished
from dpsql.ir.model import LARGEST_WEIGHT, Fit, Model
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.post.models import (
    Released,
    all_matrices,
    columns_of,
    draws_of,
    names_of,
    noises_of,
    said_of,
    to_columns,
    with_errors,
)

LEFT_OUT = 3
"""Steps whose weights are too far from the solution to tell where it is."""

CLEAR = 0.5
"""Where the least eigenvalue of H is at least so many f, simulated margins hold: errors are shown."""

_LEAST = 1e-6
_FEWEST = 128


@dataclass(frozen=True, slots=True)
class Steps:
    """What was released so far, and the same without simulated noise: the first of each array is as released.

    ``products`` are d by d matrices, ``gradients`` vectors, step by step; there is a ``curvature`` at last.
    No eigenvalue of the released products is below ``least``. It is the same at every step, whatever noise is
    simulated: else the weights would not be those that were handed down.
    """

    products: Floats
    gradients: tuple[Floats, ...]
    curvature: Floats | None
    least: float

    @property
    def terms(self) -> int:
        return int(self.products.shape[-1])

    def scaled(self) -> Floats:
        """Return 4 A^-1."""
        return np.asarray(4 * np.linalg.inv(_lifted(self.products[0], self.least)), np.float64)

    def weights(self) -> list[Floats]:
        """Return the weights of all steps, those of the next one last."""
        scaled, weights = self.scaled(), [np.zeros(self.terms)]
        for gradient in self.gradients:
            weights.append(np.clip(weights[-1] - scaled @ gradient[0], -LARGEST_WEIGHT, LARGEST_WEIGHT))
        return weights

    def curved(self) -> Floats:
        """Return H, its eigenvalues lifted."""
        assert self.curvature is not None
        return _lifted(self.curvature[0], effect_of(self.curvature))

    def clear(self) -> float:
        """Return the least eigenvalue of H in multiples of what noise moves it."""
        assert self.curvature is not None
        return float(np.linalg.eigvalsh(self.curvature[0])[0]) / effect_of(self.curvature)

    def solution(self) -> Floats:
        """Return the weights of the fit."""
        used = self.weights()[LEFT_OUT:-1]
        gradients = [gradient[0] for gradient in self.gradients[LEFT_OUT:]]
        correction = np.linalg.solve(self.curved(), np.mean(gradients, axis=0))
        solved: Floats = np.clip(np.mean(used, axis=0) - correction, -LARGEST_WEIGHT, LARGEST_WEIGHT)
        return solved

    def moved(self, solution: Floats) -> Floats:
        """Return how far the truth was from the solution in each simulation, where H is the curvature."""
        assert self.curvature is not None
        curved, scaled = self.curved(), self.scaled()
        away = np.broadcast_to(-solution, (len(self.curvature) - 1, self.terms))
        left, gradients = list[Floats](), list[Floats]()
        for released in self.gradients:
            left.append(away)
            gradients.append(away @ curved + released[0] - released[1:])
            away = away - gradients[-1] @ scaled
        noisy = _lifted(curved + self.curvature[0] - self.curvature[1:], effect_of(self.curvature))
        mean = np.mean(gradients[LEFT_OUT:], axis=0)
        found = np.mean(left[LEFT_OUT:], axis=0) - np.linalg.solve(noisy, mean[..., np.newaxis])[..., 0]
        moved: Floats = -found
        return moved


def steps_of(released: Sequence[Released], noises: Sequence[Floats]) -> Steps:
    """Return the steps from their released tables, and from simulated noise of each."""
    products, *others = all_matrices(released, noises)
    (always,) = all_matrices(released[:1], noises_of(released[:1], _FEWEST))
    last = released[-1][0].measure.model
    curvature = others.pop() if last is not None and last.fit is Fit.LOGISTIC else None
    return Steps(products, tuple(each[:, 0] for each in others), curvature, effect_of(always))


def simulated(released: Sequence[Released], draws: int) -> Steps:
    """Return the steps with simulated noise."""
    return steps_of(released, noises_of(released, draws))


def handed_down(released: Sequence[Released], model: Model) -> list[Finished]:
    """Return the weights that the next step reads: one row."""
    found = simulated(released, _FEWEST).weights()
    weights: Floats = np.mean(found[LEFT_OUT:], axis=0) if model.mean else found[-1]
    nothing = np.full(1, np.nan)
    return [
        Finished(name, DOUBLE, [weight], nothing, nothing, nothing)
        for name, weight in zip(model.numbers, weights.tolist(), strict=True)
    ]


def fitted(released: Sequence[Released], model: Model, confidence: float) -> list[Finished]:
    """Return the columns of the fit."""
    steps = simulated(released, draws_of(model))
    solution, (units, _) = steps.solution(), to_columns(_in_log_odds(model))
    coefficients: Floats = units @ solution
    if released[-1][0].without_margins:
        endless = np.full(len(coefficients), np.inf)
        return names_of(model) + columns_of(model, coefficients, endless)
    if steps.clear() < CLEAR:
        return names_of(model) + columns_of(model, coefficients)
    errors = np.sqrt(np.diagonal(units @ np.linalg.inv(steps.curved()) @ units.T))
    return names_of(model) + with_errors(
        model, coefficients, steps.moved(solution) @ units.T, errors, confidence
    )


def replicas(released: Sequence[Released], model: Model, noises: Sequence[Floats]) -> Floats:
    """Return what each coefficient may be without these noises, a column for each; NaN if nobody can tell."""
    steps = steps_of(released, noises)
    solution, (units, _) = steps.solution(), to_columns(_in_log_odds(model))
    numbers: Floats = ((solution + steps.moved(solution)) @ units.T).T
    return np.full(numbers.shape, np.nan) if steps.clear() < CLEAR else numbers


def note(released: Sequence[Released], unit: str) -> str:
    """Say why coefficients have no errors, if they have none."""
    return said_of(simulated(released, _FEWEST).clear() / CLEAR, unit)


def _in_log_odds(model: Model) -> Model:
    """Return the model as if its coefficients were in units of what is predicted: log odds have no unit."""
    *terms, target = model.terms
    return replace(model, terms=(*terms, replace(target, middle=0.0, half=1.0)))


def effect_of(matrices: Floats) -> float:
    """Return how far noise moves the eigenvalues of a symmetric matrix."""
    deviation = float(matrices[1:].std(axis=0).max())
    return max(2 * deviation * float(np.sqrt(matrices.shape[-1])), _LEAST)


def _lifted(matrices: Floats, least: float) -> Floats:
    """Return symmetric matrices with no eigenvalue below the least."""
    values, vectors = np.linalg.eigh(matrices)
    lifted: Floats = (vectors * np.maximum(values, least)[..., np.newaxis, :]) @ np.swapaxes(vectors, -1, -2)
    return lifted

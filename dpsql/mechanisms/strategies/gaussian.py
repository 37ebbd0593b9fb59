"""The best strategy for Gaussian noise, within 1 % of a lower bound: a convex problem, by a fixed point.

    all ranges over 256 bins, in deviations for a sensitivity of one    9.27 on the bins, 2.90; bound 2.90

Minimize tr(V X^-1) over X = A'A with a diagonal of 1. For any weights v of the cells, with
S = (v^1/2 V v^1/2)^1/2, the error is at least tr(S)^2 / sum v (the dual problem). X = v^-1/2 S v^-1/2 is
divided by its largest diagonal entry, and the smaller ones are raised to 1, which no error minds. At the
optimum v = diag S; v <- diag S leads there (Denisov, McMahan, Rush, Smith and Thakurta 2022), and
v <- v (diag S / v)^1.8 in half as many steps, each with one eigendecomposition. Should that lead away, plain
steps are taken.
"""

from __future__ import annotations

import math

from dpsql.ir.plan import Norm
from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.design import Design
from dpsql.mechanisms.strategies.strategy import Floats

SLACK = 0.01
"""Error over lower bound, less 1, at which the search stops."""

POWER = 1.8

MOST_STEPS = 100
"""Up to 1,024 cells; fewer of more cells, which bounds the work."""

_LEAST_WEIGHT = 1e-12
"""Least v of a cell, against the largest."""


def optimal(gram: Floats) -> Design:
    """Return the design, with its lower bound."""
    scale = float(np.trace(gram))
    v, bound, power, before = np.sqrt(np.diagonal(gram) / scale), 0.0, POWER, math.inf
    for _ in range(max(2, min(MOST_STEPS, MOST_STEPS * 1_024**3 // len(gram) ** 3))):
        root = np.sqrt(np.maximum(v, _LEAST_WEIGHT * v.max()))
        values, vectors = np.linalg.eigh(root[:, np.newaxis] * (gram / scale) * root)
        values = np.sqrt(np.maximum(values, 0.0))
        bound = max(bound, float(values.sum() ** 2 / np.square(root).sum()))
        found = (vectors * values) @ vectors.T / np.multiply.outer(root, root)
        x = _raised(found)
        error = float(np.vdot(gram, np.linalg.inv(x))) / scale
        if error <= (1 + SLACK) * bound:
            break
        if error > before:
            power = 1.0
        v, before = np.square(root) * np.diagonal(found) ** power, error
    upper = np.linalg.cholesky(x).T.astype(np.float64)
    return Design("optimized", Norm.L2, upper, bound * scale)


def _raised(x: Floats) -> Floats:
    """Return a multiple of X, symmetric to the last bit, with its diagonal raised to 1."""
    raised: Floats = (x + x.T) / (2 * np.diagonal(x).max())
    np.fill_diagonal(raised, 1.0)
    return raised

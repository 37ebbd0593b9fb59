"""The best strategy for Gaussian noise, within 2 % of a lower bound: a convex problem, by a fixed point.

    all ranges over 256 bins, in deviations for a sensitivity of one    9.27 on the bins, 2.90; bound 2.90

Minimize tr(V X^-1) over X = A'A with a diagonal of 1. For any weights v of the cells, with
S = (v^1/2 V v^1/2)^1/2, the error is at least tr(S)^2 / sum v (the dual problem), and X = v^-1/2 S v^-1/2
over its largest diagonal entry has the error tr(S) max(diag S / v). At the optimum v = diag S; v <- diag S
leads there (Denisov, McMahan, Rush, Smith and Thakurta 2022). One eigendecomposition a step.

Where the largest entry alone decides, the smaller ones of X are raised to it as well: that costs nothing,
and no error grows.
"""

from __future__ import annotations

import numpy as np

from dpsql.ir.plan import Norm
from dpsql.mechanisms.strategies.design import Design
from dpsql.mechanisms.strategies.strategy import Floats

SLACK = 0.02
"""Error over lower bound, less 1, at which the search stops."""

MOST_STEPS = 100
"""Up to 1,024 cells; fewer of more cells, which bounds the work."""

_LEAST_WEIGHT = 1e-12
"""Least v of a cell, against the largest."""


def optimal(gram: Floats) -> Design:
    """Return the design, with its lower bound."""
    scale = float(np.trace(gram))
    v, bound = np.sqrt(np.diagonal(gram) / scale), 0.0
    for _ in range(max(2, min(MOST_STEPS, MOST_STEPS * 1_024**3 // len(gram) ** 3))):
        v = np.maximum(v, _LEAST_WEIGHT * v.max())
        root = np.sqrt(v)
        values, vectors = np.linalg.eigh(root[:, np.newaxis] * (gram / scale) * root)
        values = np.sqrt(np.maximum(values, 0.0))
        diagonal = np.square(vectors) @ values
        bound = max(bound, values.sum() ** 2 / v.sum())
        if values.sum() * (diagonal / v).max() <= (1 + SLACK) * bound:
            break
        v = diagonal
    x = ((vectors * values) @ vectors.T) / np.multiply.outer(root, root)
    x /= np.diagonal(x).max()
    np.fill_diagonal(x, 1.0)
    upper = np.linalg.cholesky((x + x.T) / 2).T
    return Design("optimized", Norm.L2, upper, bound * scale)

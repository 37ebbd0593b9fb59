"""p-Identity: every cell, and p weighted sums of cells (McKenna, Miklau, Hay and Machanavajjhala 2018, 6.1).

    A = [I; T] D^-1        T has p rows and is not negative; D = diag(1 + column sums of T): L1 norms are 1

The error is f = tr((A'A)^-1 V) = tr(M D V D) with M = (I + T'T)^-1 = I - T'B, B = (I + TT')^-1 T (Woodbury).
With Q = T D V, one product of p n^2, everything else takes p^2 n:

    f            the sum over j of d_j e_j, e_j = d_j V_jj - the sum over k of B_kj Q_kj
    df / dd_j    2 e_j, and d_j grows with every T_kj
    df / dT      -2 T M D V D M = -2 B D V D M, as T M = B;   B D V = (I + TT')^-1 Q
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.lbfgs import Descent
from dpsql.mechanisms.strategies.strategy import Floats

MOST_ROWS = 64

FEW = 512
"""Up to so many cells all numbers of rows and all starts are tried; beyond, what is best as a rule."""

_LARGEST = 1e6
"""Beyond this weight, I + T T' loses I to rounding, and may have no inverse; a step may try such a T."""

STEPS_OF_FEW, STEPS = (40, 100), (80, 120)
"""Each start takes the first ones; then the best of all starts takes the others."""


def optimized(gram: Floats) -> tuple[Floats, float]:
    """Return T and its error, the least of all starts, with each number of rows."""
    scale, few = float(np.trace(gram)), len(gram) <= FEW
    function = error_of(gram / scale)
    starts = [
        Descent(function, start)
        for rows in rows_tried(len(gram))
        for start in _starts(gram, rows)[: 3 if few else 2]
    ]
    first, more = STEPS_OF_FEW if few else STEPS
    best = min((start.run(first) for start in starts), key=lambda descent: descent.value)
    best.run(more)
    return best.point, best.value * scale


def rows_tried(cells: int) -> list[int]:
    """Return the numbers p that are tried beside 0."""
    parts = (64, 32, 16) if cells <= FEW else (16,)
    return sorted({min(MOST_ROWS, max(1, cells // part)) for part in parts})


def matrix(t: Floats) -> Floats:
    """Return A of T."""
    a: Floats = np.concatenate((np.eye(t.shape[1]), t)) / (1 + t.sum(axis=0))
    return a


def _starts(gram: Floats, rows: int) -> list[Floats]:
    """Return positive parts: of the leading eigenvectors of V, and of questions drawn with the covariance V.

    The third start is even: where the others get stuck, it often does not. Sizes seed what is drawn.
    """
    cells = len(gram)
    generator = np.random.Generator(np.random.Philox(key=[cells, rows]))
    drawn = generator.standard_normal((rows, cells)) @ np.linalg.cholesky(gram).T
    leading = _leading(gram, generator.standard_normal((cells, rows))) * math.sqrt(cells)
    mixed = drawn / math.sqrt(float(np.mean(drawn**2)))
    return [
        0.2 * np.maximum(leading, 0.0),
        0.2 * np.maximum(mixed, 0.0),
        generator.random((rows, cells)),
    ]


def _leading(gram: Floats, basis: Floats) -> Floats:
    """Return about the eigenvectors of the largest eigenvalues, by subspace iteration."""
    for _ in range(8):
        basis, _ = np.linalg.qr(gram @ basis)
    _, turn = np.linalg.eigh(basis.T @ gram @ basis)
    found: Floats = (basis @ turn)[:, ::-1].T
    return found


def error_of(gram: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function of T that computes its error and its slope; inf where T is too large."""
    diagonal = np.diagonal(gram).copy()

    def function(t: Floats) -> tuple[float, Floats]:
        if t.max(initial=0.0) > _LARGEST:
            return math.inf, np.zeros_like(t)
        d = 1 + t.sum(axis=0)
        inverse = np.linalg.inv(np.eye(len(t)) + t @ t.T)
        b = inverse @ t
        q = (t * d) @ gram
        e = d * diagonal - (b * q).sum(axis=0)
        s = (inverse @ q) * d  # B D V D
        slope = 2 * e - 2 * (s - (s @ t.T) @ b)
        return float(d @ e), slope

    return function

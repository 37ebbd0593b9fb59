"""p-Identity: every cell, and p weighted sums of cells (McKenna, Miklau, Hay and Machanavajjhala 2018, 6.1).

    A = [I; T] D^-1        T has p rows and is not negative; D = diag(1 + column sums of T): L1 norms are 1

The error is f = tr((A'A)^-1 V) = tr(M D V D) with M = (I + T'T)^-1 = I - T'B, B = (I + TT')^-1 T (Woodbury).
With Q = T D V, one product of p n^2, everything else takes p^2 n:

    f            the sum over j of d_j e_j, e_j = d_j V_jj - the sum over k of B_kj Q_kj
    df / dd_j    2 e_j, and d_j grows with every T_kj
    df / dT      -2 T M D V D M = -2 B D V D M, as T M = B;   B D V = (I + TT')^-1 Q
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpsql.mechanisms.strategies.lbfgs import Descent
from dpsql.mechanisms.strategies.strategy import Floats

MOST_ROWS = 32
STARTS = 3
STEPS = 100

_FIRST_STEPS = 20
"""After so many, only the best start goes on."""


def rows_tried(cells: int) -> list[int]:
    """Return the numbers p that are tried beside 0."""
    return sorted({min(MOST_ROWS, max(1, cells // part)) for part in (64, 32, 16)})


def optimized(gram: Floats, rows: int) -> tuple[Floats, float]:
    """Return T and its error. The starts depend on the sizes alone."""
    function = error_of(gram / np.trace(gram))
    starts = [Descent(function, start) for start in _starts(rows, len(gram))]
    best = min((start.run(_FIRST_STEPS) for start in starts), key=lambda descent: descent.value)
    best.run(STEPS - _FIRST_STEPS)
    return best.point, best.value * float(np.trace(gram))


def matrix(t: Floats) -> Floats:
    """Return A of T."""
    a: Floats = np.concatenate((np.eye(t.shape[1]), t)) / (1 + t.sum(axis=0))
    return a


def _starts(rows: int, cells: int) -> list[Floats]:
    """Return random sums, and random sums within blocks of consecutive cells."""
    found = []
    for number in range(STARTS):
        generator = np.random.Generator(np.random.Philox(key=[number, cells << 16 | rows]))
        start = generator.random((rows, cells))
        if number == 1:
            start *= (np.arange(cells) * rows // cells) == np.arange(rows)[:, np.newaxis]
        found.append(start)
    return found


def error_of(gram: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function of T that computes its error and its slope."""
    diagonal = np.diagonal(gram).copy()

    def function(t: Floats) -> tuple[float, Floats]:
        d = 1 + t.sum(axis=0)
        inverse = np.linalg.inv(np.eye(len(t)) + t @ t.T)
        b = inverse @ t
        q = (t * d) @ gram
        e = d * diagonal - (b * q).sum(axis=0)
        s = (inverse @ q) * d  # B D V D
        slope = 2 * e - 2 * (s - (s @ t.T) @ b)
        return float(d @ e), slope

    return function

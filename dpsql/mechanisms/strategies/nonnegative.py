"""Cells that are not negative: the nearest ones, on request.

nearest(cells, X, largest)  x >= 0 with the least (x - cells)' X (x - cells); X = A'A: the numbers move least
with_total(cells, total)    x >= 0 with the least squared distance among those of this total

It biases small cells upwards: what falls below 0 by noise is raised, and what rises is kept.
"""

from __future__ import annotations

from dpsql.ir.strategy import Gram
from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.strategy import Floats

_STEPS = 2_000
_NEAR = 1e-9


def nearest(cells: Floats, precision: Gram, largest: float) -> Floats:
    """Return the nearest cells that are not negative; ``largest`` is the largest eigenvalue of X.

    Accelerated projected gradient descent that starts anew where it overshoots (Beck and Teboulle 2009;
    O'Donoghue and Candes 2015).
    """
    length = 1 / largest
    found = ahead = np.maximum(cells, 0.0)
    size, momentum = float(np.abs(cells).max(initial=1.0)), 1.0
    for _ in range(_STEPS):
        slope = precision.times(ahead - cells)
        after = np.maximum(ahead - length * slope, 0.0)
        moved = after - found
        if np.abs(after - ahead).max() <= _NEAR * size:
            return after
        if np.vdot(ahead - after, moved) > 0:
            momentum = 1.0
        grown = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = after + (momentum - 1) / grown * moved
        found, momentum = after, grown
    return found


def with_total(cells: Floats, total: float) -> Floats:
    """Return the nearest cells that are not negative and have this total (Held, Wolfe and Crowder 1974)."""
    if total <= 0:
        return np.zeros_like(cells)
    falling = np.sort(cells)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(cells) + 1)
    above = excess[np.flatnonzero(falling > excess)[-1]]
    found: Floats = np.maximum(cells - above, 0.0)
    return found

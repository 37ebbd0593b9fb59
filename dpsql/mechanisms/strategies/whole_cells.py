"""Round cells to whole numbers such that the questions keep their answers, not only the cells.

    cells 0.5, 0.5, 0.5, 0.5    one by one: 0, 0, 0, 0, and a total of 0; here: 0, 1, 0, 1, and a total of 2

With r = whole cells - cells, the rounding adds r'Vr to the sum of squared errors of the questions with gram
matrix V. Each cell is rounded; then the step of one in the one cell that lowers r'Vr most is taken, until
there is none. Ties go to the first cell. r is public, as the cells are released: margins add what it adds.

Every number, total and running total is a sum of the same whole cells, so all of them agree.
"""

from __future__ import annotations

import math

from dpsql.ir.strategy import Gram
from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.gram import Factors
from dpsql.mechanisms.strategies.strategy import MOST_CELLS, Floats, Integers

_LARGEST = 2.0**61
_GAIN = 1e-9
"""Least gain of a step, in parts of the mean diagonal of V: smaller ones may be rounding errors."""


def whole(cells: Floats, *grams: Floats, unit: int = 1, least: int | None = None) -> tuple[Integers, Floats]:
    """Do as ``whole_for``, for one gram matrix or the factors of one."""
    return whole_for(cells, Factors(grams), unit, least)


def whole_for(cells: Floats, gram: Gram, unit: int = 1, least: int | None = None) -> tuple[Integers, Floats]:
    """Return whole cells, in steps of ``unit``, and what was added to each; no cell falls below ``least``.

    Of more than 4,096 cells, that many steps are taken at most.
    """
    floor = -math.inf if least is None else math.ceil(least / unit)
    exact = np.clip(cells / unit, -_LARGEST / unit, _LARGEST / unit)
    found = np.maximum(np.rint(exact), floor)
    diagonal, pull = gram.diagonal(), gram.times(found - exact)
    gain = _GAIN * float(diagonal.mean())
    for _ in range(_most_steps(len(cells))):
        change = diagonal - 2 * np.abs(pull)
        if least is not None:
            change[(pull > 0) & (found <= floor)] = 0.0
        place = int(np.argmin(change))
        if not change[place] < -gain:
            break
        step = -1.0 if pull[place] > 0 else 1.0
        found[place] += step
        pull += step * gram.column(place)
    return found.astype(np.int64) * unit, (found - exact) * unit


def _most_steps(cells: int) -> int:
    """Each step lowers r'Vr, so that steps end; 100 a cell are more than ever needed."""
    return 100 * cells if cells <= MOST_CELLS else MOST_CELLS

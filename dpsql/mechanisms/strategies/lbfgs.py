"""Minimize a smooth function of numbers that may not be negative: L-BFGS, projected.

Numbers that are 0 and would become negative stay where they are; the others take a step of L-BFGS (Nocedal
and Wright 2006, algorithm 7.4), cut off at 0 and halved until the function falls enough (Bertsekas 1982).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.strategy import Floats

MEMORY = 10
_ENOUGH = 1e-4
_HALVINGS = 12


class Descent:
    """A descent that can be continued: the best point so far, and the last steps."""

    def __init__(self, function: Callable[[Floats], tuple[float, Floats]], start: Floats) -> None:
        self._function = function
        self.point = np.maximum(start, 0.0)
        self.value, self._slope = function(self.point)
        self._pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
        self._done = False

    def run(self, steps: int) -> Descent:
        """Take more steps, fewer where nothing falls any more."""
        for _ in range(steps):
            if self._done:
                break
            self._step()
        return self

    def _step(self) -> None:
        free = (self.point > 0) | (self._slope < 0)
        direction = -self._scaled(np.where(free, self._slope, 0.0))
        direction[~free] = 0.0
        if np.vdot(direction, self._slope) >= 0:  # no way down: forget the last steps
            self._pairs.clear()
            direction = -np.where(free, self._slope, 0.0)
        length = 1.0 if self._pairs else min(1.0, 0.1 * _size(self.point) / (_size(direction) + 1e-300))
        for _ in range(_HALVINGS):
            point = np.maximum(self.point + length * direction, 0.0)
            moved = point - self.point
            value, slope = self._function(point)
            if value <= self.value + _ENOUGH * float(np.vdot(self._slope, moved)):
                self._take(point, value, slope, moved)
                return
            length /= 2
        self._done = not self._pairs
        self._pairs.clear()

    def _take(self, point: Floats, value: float, slope: Floats, moved: Floats) -> None:
        turned = slope - self._slope
        product = float(np.vdot(moved, turned))
        if product > 1e-12 * _size(moved) * _size(turned):
            self._pairs.append((moved, turned, product))
        self._done = self.value - value < 1e-7 * abs(value)
        self.point, self.value, self._slope = point, value, slope

    def _scaled(self, slope: Floats) -> Floats:
        """Apply the inverse of the curvature that the last steps showed (two loops)."""
        parts = []
        for moved, turned, product in reversed(self._pairs):
            part = float(np.vdot(moved, slope)) / product
            slope = slope - part * turned
            parts.append(part)
        if self._pairs:
            _, turned, product = self._pairs[-1]
            slope = slope * (product / float(np.vdot(turned, turned)))
        for (moved, turned, product), part in zip(self._pairs, reversed(parts), strict=True):
            slope = slope + (part - float(np.vdot(turned, slope)) / product) * moved
        return slope


def _size(numbers: Floats) -> float:
    return float(np.sqrt(np.vdot(numbers, numbers)))

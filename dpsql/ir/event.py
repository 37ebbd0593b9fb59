"""Events: what happened to private data, independent of any accountant.

An accountant is a pure function of events and refuses by name those that it cannot account for.
Sensitivities and scales are in grid steps. Both are exact: an int, and a float read as a rational number.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """Rounded continuous Laplace noise of ``scale`` on an integer vector with this L1 sensitivity."""

    sensitivity: int
    scale: float


@dataclass(frozen=True, slots=True)
class GeometricEvent:
    """Two-sided geometric noise of ``scale`` on an integer vector with this L1 sensitivity."""

    sensitivity: int
    scale: float


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Rounded continuous Gaussian noise with standard deviation ``scale`` and this L2 sensitivity.

    ``epsilon`` and ``delta`` are the planned point of its privacy curve, for accountants that add up points;
    they verify it.
    """

    sensitivity: int
    scale: float
    epsilon: float | None = None
    delta: float | None = None


@dataclass(frozen=True, slots=True)
class ThresholdEvent:
    """A group key of only one unit is shown with at most this probability."""

    delta: float


@dataclass(frozen=True, slots=True)
class ChoiceEvent:
    """One choice by the exponential mechanism; the range of its privacy loss is at most ``epsilon``."""

    epsilon: float


@dataclass(frozen=True, slots=True)
class ResponseEvent:
    """One column of randomized responses, each epsilon-locally private.

    ``values`` are those of a direct answer; 0 is a mark for each value. Two tell most: they stand for all.
    Digests have them in the question's design.
    """

    epsilon: float
    values: int = field(default=2, repr=False)


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """All questions about one threshold up to the first true: a pure mechanism with this epsilon.

    It is charged as one randomized response: whoever chooses the questions, and whatever is asked beside
    them, all outcomes can be computed from one such response that is drawn when it begins (Vadhan and Wang
    2021, for pure interactive mechanisms).
    """

    epsilon: float


Event: TypeAlias = (
    LaplaceEvent | GeometricEvent | GaussianEvent | ThresholdEvent | ChoiceEvent | ResponseEvent | AlertEvent
)

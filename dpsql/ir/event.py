"""What happened to private data, knowing nothing of accountants.

An accountant is a pure function of events and refuses by name those it cannot account for.
Sensitivities and scales are in grid steps; both are exact: an int, and a float read as the rational
number it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """Rounded continuous Laplace noise of ``scale`` on an integer vector of this L1 sensitivity."""

    sensitivity: int
    scale: float


@dataclass(frozen=True, slots=True)
class GeometricEvent:
    """Two-sided geometric noise of ``scale`` on whole units, of this L1 sensitivity."""

    sensitivity: int
    scale: float


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """Rounded continuous Gaussian noise of deviation ``scale``; the sensitivity is in L2.

    ``epsilon`` and ``delta`` are the point of its privacy curve that was planned, for accountants that
    add up points; they verify it.
    """

    sensitivity: int
    scale: float
    epsilon: float | None = None
    delta: float | None = None


@dataclass(frozen=True, slots=True)
class ThresholdEvent:
    """Group keys of one unit alone were shown with at most this probability."""

    delta: float


@dataclass(frozen=True, slots=True)
class ChoiceEvent:
    """One choice by the exponential mechanism, whose privacy loss ranges over at most ``epsilon``."""

    epsilon: float


@dataclass(frozen=True, slots=True)
class ResponseEvent:
    """One column of randomized responses left, epsilon-locally private each."""

    epsilon: float


Event: TypeAlias = (
    LaplaceEvent | GeometricEvent | GaussianEvent | ThresholdEvent | ChoiceEvent | ResponseEvent
)

"""Mechanisms, each with its proof: additive noise, thresholds of groups, choices, randomized responses.

Additive noise is a module of this folder that defines ``NAME``, which is the module's own.

    chosen = mechanism("laplace")
    scale  = chosen.scale_for(sensitivity, ratio)     public: from the plan alone
    event  = chosen.event(sensitivity, scale)         read by accountants
    noise  = chosen.draw(scale, size, os.urandom)     the only secret

Each states and proves its privacy claim in its own docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from dpsql.shelf import module_named, modules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

    from dpsql.ir.event import Event
    from dpsql.ir.plan import Norm


class Mechanism(Protocol):
    """A mechanism on integers; sensitivities, scales and distances are in grid steps."""

    @property
    def NAME(self) -> str: ...

    @property
    def NORM(self) -> Norm:
        """The norm of its sensitivity."""
        ...

    def scale_for(self, sensitivity: int, ratio: float) -> float:
        """Return the scale for ``ratio`` = scale per unit of sensitivity, rounded up."""
        ...

    def event(
        self, sensitivity: int, scale: float, epsilon: float | None = None, delta: float | None = None
    ) -> Event:
        """Return the event; (epsilon, delta) is the planned point of the privacy curve, if there is one."""
        ...

    def draw(self, scale: float, size: int, words: Callable[[int], bytes]) -> NDArray[np.int64]:
        """Draw fresh noise from fresh bytes."""
        ...

    def half_width(self, scale: float, confidence: float = 0.95) -> float:
        """Return a distance from 0 that the noise stays within, with this confidence."""
        ...

    def deviation(self, scale: float) -> float:
        """Return the standard deviation (before rounding to integers)."""
        ...

    def reach(self, scale: float, probability: float) -> float:
        """Return a distance that the unrounded noise exceeds, upwards, with at most this probability."""
        ...

    def above(self, scale: float, distance: float) -> float:
        """Return the probability to exceed this distance: to a float's precision, for margins only."""
        ...


@cache
def shelf() -> dict[str, Mechanism]:
    """Return every mechanism by name."""
    named = (module for module in modules(__name__, __path__, deep=False) if hasattr(module, "NAME"))
    return {module.NAME: cast(Mechanism, module) for module in named}


@cache
def mechanism(name: str) -> Mechanism:
    """Return the mechanism with this name, or raise KeyError. The others are not loaded for it."""
    module = module_named(__name__, name)
    if getattr(module, "NAME", None) != name:
        raise KeyError(name)
    return cast(Mechanism, module)


def at_least(number: Fraction) -> float:
    """Return the smallest float that is not below an exact number."""
    nearest = number.numerator / number.denominator
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)

"""The shelf of additive noise: a mechanism is a module of this folder that defines ``NAME``.

    chosen = mechanism("laplace")
    scale  = chosen.scale_for(sensitivity, ratio)     public: from the plan alone
    event  = chosen.event(sensitivity, scale)         what accountants read
    noise  = chosen.draw(scale, size, os.urandom)     the only secret

Each states its privacy claim, and proves it, in its own docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from dpsql.shelf import modules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

    from dpsql.ir.event import Event
    from dpsql.ir.plan import Norm


class Mechanism(Protocol):
    """Integers in, integers out; sensitivities, scales and distances are in grid steps."""

    @property
    def NAME(self) -> str: ...

    @property
    def NORM(self) -> Norm:
        """The norm in which its sensitivity is measured."""
        ...

    def scale_for(self, sensitivity: int, ratio: float) -> float:
        """The noise for ``ratio`` = scale per unit of sensitivity, rounded up."""
        ...

    def event(
        self, sensitivity: int, scale: float, epsilon: float | None = None, delta: float | None = None
    ) -> Event:
        """What is done; (epsilon, delta) is the planned point of the privacy curve, where there is one."""
        ...

    def draw(self, scale: float, size: int, words: Callable[[int], bytes]) -> NDArray[np.int64]:
        """Fresh noise from fresh bytes."""
        ...

    def half_width(self, scale: float, confidence: float = 0.95) -> float:
        """The noise lies within this distance of 0 with that confidence."""
        ...

    def deviation(self, scale: float) -> float:
        """The standard deviation (before rounding to integers)."""
        ...

    def reach(self, scale: float, probability: float) -> float:
        """The unrounded noise exceeds this distance, upwards, with at most this probability."""
        ...

    def above(self, scale: float, distance: float) -> float:
        """How probably it does so: to a float's precision, where nothing rests on it."""
        ...


@cache
def shelf() -> dict[str, Mechanism]:
    """Every mechanism, by name."""
    named = (module for module in modules(__name__, __path__) if hasattr(module, "NAME"))
    return {module.NAME: cast(Mechanism, module) for module in named}


def mechanism(name: str) -> Mechanism:
    """The mechanism of that name, or KeyError."""
    return shelf()[name]


def at_least(number: Fraction) -> float:
    """The smallest float that is not below an exact number."""
    nearest = number.numerator / number.denominator
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)

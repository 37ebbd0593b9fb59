"""Every rounding of accounting, each in the direction that keeps the promise.

granted, priced, allowed   down        happened   up
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.accounting import DELTA_UNIT
from dpsql.accounting.units import UNIT
from dpsql.errors import DatabaseError, refuse
from dpsql.ir.event import (
    ChoiceEvent,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)

INVERTIBLE = 1 - Fraction(1, 2**50)
"""What is left of an allowance so that a caller may round its reciprocal in float64."""


def at_most(number: Fraction) -> float:
    """The largest float that is not above an exact number."""
    nearest = number.numerator / number.denominator
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def ratio_of(event: LaplaceEvent | GeometricEvent | GaussianEvent) -> Fraction:
    """Sensitivity over scale, exactly."""
    if event.sensitivity < 0 or not 0 < event.scale < math.inf:
        raise ValueError(f"no mechanism has done this: {event}")
    return event.sensitivity / Fraction(event.scale)


def up(amount: Fraction, unit: int = UNIT) -> int:
    return math.ceil(amount * unit)


def delta_units(event: ThresholdEvent) -> int:
    """What showing keys takes of delta."""
    if not 0 <= event.delta <= 1:
        raise ValueError(f"no threshold has done this: {event}")
    return up(Fraction(event.delta), DELTA_UNIT)


def epsilon_of(event: ChoiceEvent | ResponseEvent) -> Fraction:
    """The range of a choice's privacy loss."""
    if not 0 <= event.epsilon < math.inf:
        raise ValueError(f"no choice has done this: {event}")
    return Fraction(event.epsilon)


def down(amount: Fraction, unit: int = UNIT) -> int:
    return math.floor(amount * unit)


def price(epsilon: float) -> Fraction:
    """A price as an exact number, less the rounding of a float: k prices of total/k fit the total."""
    if not 0 < epsilon < math.inf:
        raise refuse("D503", f"a price must be a finite positive number, not {epsilon}", help="give 0.1, say")
    return Fraction(epsilon) * (1 - Fraction(1, 2**52))


def too_small(epsilon: float) -> DatabaseError:
    """The refusal of a price of which a measure's share is less than one unit."""
    return refuse(
        "D503",
        f"the price {epsilon} is too small to buy noise of any size",
        help="ask for a larger epsilon, or for fewer numbers at once",
    )


def too_small_to_show(epsilon: float) -> DatabaseError:
    """The refusal of a price of which a threshold's share of delta is less than one unit."""
    return refuse(
        "D503",
        f"the price {epsilon} buys too little delta to show groups that depend on the data",
        help="ask for a larger epsilon, or group by a column with declared values",
    )


def shown(amount: Fraction) -> float:
    """For eyes only: twelve digits, which hides that 0.1 was spent as 0.099999999999999."""
    return float(f"{float(amount):.12g}")

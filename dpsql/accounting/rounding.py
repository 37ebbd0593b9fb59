"""All rounding in accounting, each in the direction that keeps the promise.

grants, prices, allowances   down        charges   up
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.accounting import DELTA_UNIT
from dpsql.accounting.units import UNIT
from dpsql.errors import DatabaseError, refuse
from dpsql.ir.event import (
    AlertEvent,
    ChoiceEvent,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)

INVERTIBLE = 1 - Fraction(1, 2**50)
"""Factor on an allowance that leaves room for rounding its reciprocal in float64."""


def at_most(number: Fraction) -> float:
    """Return the largest float that is not above an exact number."""
    nearest = number.numerator / number.denominator
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def ratio_of(event: LaplaceEvent | GeometricEvent | GaussianEvent) -> Fraction:
    """Return sensitivity over scale, exactly."""
    if event.sensitivity < 0 or not 0 < event.scale < math.inf:
        raise ValueError(f"no mechanism can have produced {event}")
    return event.sensitivity / Fraction(event.scale)


def up(amount: Fraction, unit: int = UNIT) -> int:
    return math.ceil(amount * unit)


def delta_units(event: ThresholdEvent) -> int:
    """Return the delta that a threshold takes, in delta units."""
    if not 0 <= event.delta <= 1:
        raise ValueError(f"no threshold can have produced {event}")
    return up(Fraction(event.delta), DELTA_UNIT)


def epsilon_of(event: ChoiceEvent | ResponseEvent | AlertEvent) -> Fraction:
    """Return the range of the privacy loss of a choice, a response or an alert, exactly."""
    if not 0 <= event.epsilon < math.inf:
        raise ValueError(f"no choice can have produced {event}")
    return Fraction(event.epsilon)


def down(amount: Fraction, unit: int = UNIT) -> int:
    return math.floor(amount * unit)


def price(epsilon: float) -> Fraction:
    """Return a price as an exact number, less a float's rounding: k prices of total/k fit the total."""
    if not 0 < epsilon < math.inf:
        raise refuse("D503", f"a price must be a finite positive number, not {epsilon}", help="give 0.1")
    return Fraction(epsilon) * (1 - Fraction(1, 2**52))


def too_small(epsilon: float) -> DatabaseError:
    """Return the refusal of a price so small that a measure's share is less than one unit."""
    return refuse(
        "D503",
        f"the price {epsilon} is too small to buy noise of any size",
        help="ask for a larger epsilon, or for fewer numbers at once",
    )


def too_small_to_show(epsilon: float) -> DatabaseError:
    """Return the refusal of a price so small that a threshold's delta is less than one unit."""
    return refuse(
        "D503",
        f"the price {epsilon} buys too little delta to show groups that depend on the data",
        help="ask for a larger epsilon, or group by a column with declared values",
    )


def shown(amount: Fraction) -> float:
    """Round to twelve digits for display: 0.1 is spent as 0.099999999999999."""
    return float(f"{float(amount):.12g}")

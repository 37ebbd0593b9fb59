"""Public grids of a histogram: the bins, and the value that stands for each.

    ages in [0, 120]              121 bins, one for each age
    prices in [0, 5000]           2^14 bins of the same width
    incomes in [0, 500000]        2^14 bins, each wider than the one before by the same factor (from 1 on)
    days of two centuries         a bin for each day

The range is public, and values outside count at its ends. The grid never depends on data.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from dpsql.ir.column import Fact, Interval, Kind, Number, decimal_size
from dpsql.lazy_dataclass import dataclass


class End(Enum):
    """The extremes, as targets."""

    LEAST = "least"
    GREATEST = "greatest"


Target: TypeAlias = Fraction | End
"""An order statistic: a quantile of the weight, or an extreme."""


class Spacing(Enum):
    """Spacing of the bins."""

    WHOLE = "whole numbers"  # multiples of a unit: bin i starts at low + i * step
    EVEN = "even"
    LOG = "logarithmic"  # in sign(x) * ln(1 + |x|)


BINS = 2**14
"""Bins of an even or logarithmic grid."""

MOST_BINS = 2**17
"""Most bins of a grid of whole numbers."""

TIMED = frozenset((Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ))
"""Kinds with values that are whole numbers of days or microseconds since 1970-01-01."""


@dataclass(frozen=True, slots=True)
class Grid:
    """``size`` bins from ``low`` to ``high``.

    With whole numbers, ``low`` and ``high`` count multiples of 1 / ``unit``; a bin holds ``step`` of them.
    """

    spacing: Spacing
    low: Number
    high: Number
    size: int
    unit: int = 1
    step: int = 1

    @property
    def width(self) -> float:
        """Width of the widest bin, in the argument's units."""
        match self.spacing:
            case Spacing.WHOLE:
                return self.step / self.unit
            case Spacing.EVEN:
                return (self.high - self.low) / self.size
            case Spacing.LOG:
                step = (curved(self.high) - curved(self.low)) / self.size
                return (max(abs(self.low), abs(self.high)) + 1) * step

    def value(self, bin: int) -> Number | Fraction:
        """Return the value that stands for a bin: its middle, or its only value."""
        match self.spacing:
            case Spacing.WHOLE:
                middle = min(int(self.low) + bin * self.step + (self.step - 1) // 2, int(self.high))
                return middle if self.unit == 1 else Fraction(middle, self.unit)
            case Spacing.EVEN:
                value = self.low + (bin + 0.5) / self.size * (self.high - self.low)
            case Spacing.LOG:
                low, high = curved(self.low), curved(self.high)
                value = straight(low + (bin + 0.5) / self.size * (high - low))
        return min(max(value, self.low), self.high)


def curved(value: Number) -> float:
    """Map to the scale of a logarithmic grid: linear near 0, logarithmic far from it."""
    return math.copysign(math.log1p(abs(value)), value)


def straight(value: float) -> float:
    """Map back from the scale of a logarithmic grid."""
    return math.copysign(math.expm1(abs(value)), value)


def grid_of(fact: Fact, bounds: Interval) -> Grid:
    """Return the grid for an argument of this fact within a finite range."""
    low, high = bounds.low, bounds.high
    kind = fact.type.kind
    if kind in TIMED or (kind is Kind.INTEGER and _fits_one_bin_each(low, high, 1)):
        return _whole(low, high, 1)
    if kind is Kind.DECIMAL and _fits_one_bin_each(low, high, unit := 10 ** decimal_size(fact.type)[1]):
        return _whole(low, high, unit)
    low, high = float(low), float(high)
    if low == high:
        return Grid(Spacing.EVEN, low, high, 1)
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    logarithmic = max(abs(low), abs(high)) > 2**16 * max(nearest, 1.0)
    return Grid(Spacing.LOG if logarithmic else Spacing.EVEN, low, high, BINS)


def _fits_one_bin_each(low: Number, high: Number, unit: int) -> bool:
    """Whether every value can have a bin of its own."""
    return (high - low) * unit < MOST_BINS / 2 and max(abs(low), abs(high)) * unit < 2**53


def _whole(low: Number, high: Number, unit: int) -> Grid:
    first, last = math.ceil(Fraction(low) * unit), math.floor(Fraction(high) * unit)
    last = max(first, last)
    step = -(-(last - first + 1) // MOST_BINS)
    size = -(-(last - first + 1) // step)
    return Grid(Spacing.WHOLE, first, last, size, unit, step)

"""Split the price of a query equally among the mechanisms that release its numbers.

All sums of one measure are one vector with one noise: one part. Each of its details (a histogram, a
matching) is another part.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.ir.measure import Measure


def share_of(measures: list[Measure]) -> Fraction:
    """Return each part's share of the price; the shares add up to 1."""
    return Fraction(1, max(1, sum(measure.parts for measure in measures)))

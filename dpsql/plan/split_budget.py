"""How the price of a query is shared: equally among the mechanisms that release its numbers.

The sums of one measure are one vector with one noise, so they are one part together; each of its
details (a histogram, a matching) is another.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.ir.measure import Measure


def share_of(measures: list[Measure]) -> Fraction:
    """What each part gets of the price; all parts together get the whole."""
    return Fraction(1, max(1, sum(each.parts for each in measures)))

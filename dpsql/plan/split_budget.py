"""Split the price of a query equally among the mechanisms that release its numbers.

All sums of one measure are one vector with one noise: one part. Each of its details (a histogram, a
matching) is another part. The steps of a logistic fit are one part together, and each says its share of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.ir.measure import Measure


def share_of(measure: Measure, measures: Sequence[Measure]) -> Fraction:
    """Return the share of the price of each part of a measure; the shares of all parts add up to 1."""
    return _one(measure) / max(Fraction(1), sum((_one(each) * each.parts for each in measures), Fraction(0)))


def _one(measure: Measure) -> Fraction:
    share = None if measure.model is None else measure.model.share
    return Fraction(1) if share is None else share

"""How the price of a query is shared among its measures: equally, since each is a vector of its own.

The statistics inside a measure share one noise already; nothing is split there.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.ir.plan import Measure


def shares(measures: list[Measure]) -> list[Fraction]:
    """One share per measure; together they are the whole price."""
    return [Fraction(1, len(measures)) for _ in measures]

"""Which mechanism releases the numbers of a detail, and what it costs.

Histogram   choices by the exponential mechanism
Matching    a count of claims, with noise
Blocks      one choice among the blocks' values
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from dpsql.accounting import Allowance
from dpsql.ir.plan import Blocks, Detail, Histogram, Matching, Measure, PlannedDetail, Reaches
from dpsql.plan.choices import planned_choices

Ask = Callable[[Fraction], Allowance]
"""What a share of the price buys."""


def planned_detail(detail: Detail, measure: Measure, rows: int, share: Fraction, ask: Ask) -> PlannedDetail:
    """``rows`` of a unit count in full; ``share`` of the price is the detail's."""
    match detail:
        case Histogram():
            return planned_choices(detail, rows, share, ask)
        case Matching():
            raise NotImplementedError
        case Blocks():
            raise NotImplementedError
        case Reaches():
            raise AssertionError("bounds are found by a plan of their own: plan/findings.py")
        case _:
            assert_never(detail)

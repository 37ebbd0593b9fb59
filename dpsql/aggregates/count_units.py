"""COUNT(DISTINCT unit): how many units have a row in the group.

Claim   one unit changes each group's count by at most 1.
Proof   it is counted once in each group in which it has a row; the vector clip bounds its groups.
Test    grammar_tests/aggregates/counts.sql
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Sums, Unbounded
from dpsql.ir.column import Fact


class CountUnits:
    name = "count_units"
    needs = (Need.UNITS,)

    def result(self, argument: Fact | None, rows: int | None) -> Fact:
        raise Unbounded("one unit is counted here", "leave it out: it is always 1", code="D253")

    def per_unit(self, argument: str, fact: Fact | None, over: str = "") -> str:
        raise AssertionError("count_units stands at a release point only")

    def estimate(self, sums: Sums) -> Floats:
        assert sums.units is not None
        return sums.units


RULES = (CountUnits(),)

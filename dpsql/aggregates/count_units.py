"""COUNT(DISTINCT unit): the number of units with a row in the group.

Claim   one unit changes each group's count by at most 1.
Proof   it is counted once in each group in which it has a row; the vector clip bounds its groups.
Test    grammar_tests/aggregates/counts.sql
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Rule, Sums, Unbounded
from dpsql.ir.column import Fact


class CountUnits(Rule):
    name = "count_units"
    needs = (Need.UNITS,)
    typed = False

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        raise Unbounded("each unit is counted on its own here", "leave it out: it is always 1", code="D253")

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise AssertionError("count_units exists at a release point only")

    def estimate(self, sums: Sums) -> Floats:
        assert sums.units is not None
        return sums.units


RULES = (CountUnits(),)

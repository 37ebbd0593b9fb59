"""COUNT(DISTINCT x) of a column other than the unit: the number of distinct values.

Claim   one unit changes the counts of all groups together by at most the number of values that it may claim.
Proof   mechanisms/matching.py
Test    tests/privacy/test_matching.py, grammar_tests/aggregates/distinct_values.sql

If a unit has more values than it may claim, its values that no other unit claims are not counted.

If x is a key of the rows, COUNT(DISTINCT x) is COUNT(x), and is measured as that (bind/release_point.py).

Claim   then one row changes the count by at most 1, as in count.py.
Proof   a count of rows is measured, with the clip of rows: privacy does not depend on the key. If the key
        were not unique after all, rows would be counted instead of values: a wrong number, but as private.
Test    grammar_tests/aggregates/distinct_values.sql, tests/privacy/test_attacks.py
"""

from __future__ import annotations

from dpsql.aggregates import Need, Rule, Unbounded
from dpsql.ir.column import ANYTHING, BIGINT, PARTS, Fact, Kind

_UNEQUAL = (Kind.INTERVAL, Kind.OPAQUE, Kind.NULL)


class CountDistinct(Rule):
    name = "count_distinct"
    needs = (Need.DETAIL,)
    detail = "matching"
    typed = False

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind in _UNEQUAL:
            raise Unbounded(
                f"{argument.type.said} values have no exact equality",
                PARTS,
                code="D205",
            )
        return Fact(BIGINT, ANYTHING, nullable=False)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise AssertionError("inside per-unit work this is COUNT with DISTINCT")


RULES = (CountDistinct(),)

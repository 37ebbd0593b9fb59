"""COUNT(DISTINCT x) of something else than the unit: how many values there are.

Claim   one unit changes the counts of all groups together by at most the values that it may claim.
Proof   mechanisms/matching.py
Test    tests/privacy/test_matching.py, grammar_tests/aggregates/distinct_values.sql

Where a unit has more values than it may claim, values that nobody else claims are not counted.

Of what is a key of the rows, COUNT(DISTINCT x) is COUNT(x), and is measured as that (bind/release_point.py).

Claim   then one row changes the count by at most 1, as in count.py.
Proof   what is measured is a count of rows, and its clip is that of rows: nothing rests on the key. Were it
        none after all, rows would be counted where values were asked for: a wrong number, as private.
Test    grammar_tests/aggregates/distinct_values.sql, tests/privacy/test_attacks.py
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Sums, Unbounded
from dpsql.ir.column import ANYTHING, BIGINT, Fact, Kind

_UNEQUAL = (Kind.INTERVAL, Kind.OPAQUE, Kind.NULL)


class CountDistinct:
    name = "count_distinct"
    needs = (Need.DETAIL,)

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind in _UNEQUAL:
            raise Unbounded(
                f"{argument.type.said} values are not told apart",
                "cast the column to text or a number first",
                code="D205",
            )
        return Fact(BIGINT, ANYTHING, nullable=False)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "") -> str:
        raise AssertionError("inside per-unit work this is COUNT with DISTINCT")

    def estimate(self, sums: Sums) -> Floats:
        raise AssertionError("a matching is counted, not added up")


RULES = (CountDistinct(),)

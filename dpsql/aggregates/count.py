"""COUNT(*), COUNT(x): rows, or rows whose argument is not NULL.

Claim   one row changes the count by at most 1.
Proof   it is counted once or not at all; the vector clip bounds a unit with many rows.
Test    grammar_tests/aggregates/counts.sql
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Sums
from dpsql.ir.column import ANYTHING, BIGINT, Fact, Interval


class Count:
    name = "count"
    needs = (Need.ROWS,)

    def result(self, argument: Fact | None, rows: int | None) -> Fact:
        return Fact(BIGINT, ANYTHING if rows is None else Interval(0, rows), nullable=False)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "") -> str:
        return f"count({argument}){over}"

    def estimate(self, sums: Sums) -> Floats:
        assert sums.rows is not None
        return sums.rows


RULES = (Count(),)

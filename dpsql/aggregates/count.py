"""COUNT(*), COUNT(x): rows, or rows whose argument is not NULL.

Claim   one row changes the count by at most 1.
Proof   it is counted once or not at all; the vector clip bounds a unit with many rows.
Test    grammar_tests/aggregates/counts.sql
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import ROUNDING, Distinct, Floats, Need, Rule, Sums
from dpsql.ir.column import ANYTHING, BIGINT, Fact, Interval


class Count(Rule):
    name = "count"
    needs = (Need.ROWS,)
    nodes = (exp.Count,)
    distinct_nodes = (exp.ApproxDistinct,)
    condition_nodes = (exp.CountIf,)
    names = ("count_if", "countif")
    bigquery = ("count",)
    distinct = Distinct.VALUES
    leaves_out_null = True

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        return Fact(BIGINT, ANYTHING if rows is None else Interval(0, rows), nullable=False)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        return f"count({argument}){over}"

    def estimate(self, sums: Sums) -> Floats:
        assert sums.rows is not None
        return sums.rows

    def grain(self, first: float, second: float) -> float:
        return ROUNDING

    def expected_error(self, step: float, low: float, high: float) -> tuple[float, bool]:
        return step * 2**0.5, False


RULES = (Count(),)

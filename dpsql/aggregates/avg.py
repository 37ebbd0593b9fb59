"""AVG of a bounded argument, from a pair of sums, without splitting the price.

With y = (x - low) / (high - low) a row adds (1 - y, y): two numbers with an L1 norm of 1.

Claim   one row changes the pair by at most 1 in L1 (and so in L2).
Proof   0 <= y <= 1 after the clamp, and the two parts add up to exactly one row's weight.
Test    grammar_tests/aggregates/sums.sql
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Distinct, Floats, Need, Rule, Sums, type_of_sum
from dpsql.aggregates.sum import SUM, distinct_of, on_grid
from dpsql.ir.column import DOUBLE, Domain, Fact, Interval, Kind, said_range
from dpsql.late_numpy import np


class Avg(Rule):
    name = "avg"
    needs = (Need.ROWS, Need.TOTAL)
    nodes = (exp.Avg,)
    names = ("mean", "favg")
    bigquery = ("avg",)
    named_bounds = True
    distinct = Distinct.VALUES
    leaves_out_null = True

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        type_of_sum(argument.type)
        bounds = said_range(argument)
        domain: Domain = argument.domain
        if bounds.finite:
            domain = Interval(float(bounds.low), float(bounds.high))
        return Fact(DOUBLE, domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        if fact.type.kind is Kind.FLOAT:
            word, bare = distinct_of(argument)
            counted = on_grid(bare, fact)[1] if word else f"CASE WHEN {bare} <= 'infinity'::DOUBLE THEN 1 END"
            return f"({SUM.per_unit(argument, fact, over)}) / nullif(count({word}{counted}){over}, 0)"
        SUM.per_unit(argument, fact)  # refuses types that cannot be summed
        return f"CAST(sum({argument}){over} AS DOUBLE) / nullif(count({argument}){over}, 0)"

    def estimate(self, sums: Sums) -> Floats:
        """Return the mean clamped to the range; NULL if less than half a row is left after noise."""
        return mean_of(*self.quotient(sums))

    def quotient(self, sums: Sums) -> tuple[Floats, Floats, Interval]:
        assert sums.rows is not None
        assert sums.total is not None
        assert sums.range is not None
        return sums.total, sums.rows, sums.range


def mean_of(total: Floats, rows: Floats, ends: Interval) -> Floats:
    """Return total / rows in its range; NaN where less than half a row is left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.clip(total / rows, float(ends.low), float(ends.high))
    return np.where(rows >= 0.5, mean, np.nan)


RULES = (Avg(),)

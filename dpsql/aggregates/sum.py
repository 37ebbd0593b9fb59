"""SUM of a bounded argument.

Claim   one row changes the sum by at most max(|low|, |high|).
Proof   it adds its clamped value, which lies in [low, high], or nothing; the vector clip bounds a
        unit with many rows.
Test    grammar_tests/aggregates/sums.sql
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.aggregates import Distinct, Floats, Need, Rule, Sums, Unbounded, type_of_sum
from dpsql.ir.column import ANYTHING, Domain, Fact, Interval, Kind, decimal_size, range_of, said_range

_COLUMN = re.compile(r'"(?:[^"]|"")*"')


class Sum(Rule):
    name = "sum"
    needs = (Need.TOTAL,)
    nodes = (exp.Sum,)
    bigquery = ("sum",)
    named_bounds = True
    distinct = Distinct.VALUES
    leaves_out_null = True

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        total = type_of_sum(argument.type)
        bounds = said_range(argument)  # of a wide type alone: the noise of a sum would drown everything
        domain: Domain = ANYTHING
        if rows is not None and bounds.finite:
            domain = Interval(min(0, bounds.low) * rows, max(0, bounds.high) * rows)
        return Fact(total, domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        if fact.type.kind is Kind.DECIMAL and decimal_size(fact.type)[0] > 28:
            raise Unbounded("this DECIMAL is too wide to add up", "cast it to DECIMAL(28, 2) or DOUBLE")
        if fact.type.sql in ("HUGEINT", "UHUGEINT"):
            raise Unbounded("this integer is too wide to add up", "cast it to BIGINT or DOUBLE")
        if fact.type.kind is Kind.FLOAT:
            word, bare = distinct_of(argument)
            step, grid = on_grid(bare, fact)
            return f"CAST(sum({word}{grid}){over} AS DOUBLE) * {step!r}::DOUBLE"
        return f"sum({argument}){over}"

    def estimate(self, sums: Sums) -> Floats:
        assert sums.total is not None
        return sums.total

    def expected_error(self, step: float, low: float, high: float) -> tuple[float, bool]:
        return step * (low**2 + high**2) ** 0.5, False


def distinct_of(argument: str) -> tuple[str, str]:
    """Split DISTINCT off the argument: for floats, places of the grid are distinct, not values."""
    word = "DISTINCT "
    return (word, argument.removeprefix(word)) if argument.startswith(word) else ("", argument)


def on_grid(argument: str, fact: Fact) -> tuple[float, str]:
    """Return a float as an integer number of grid steps: its sum is the same in any order of the rows.

    A column is cut by comparisons, which are faster than greatest() and least(); what is computed would be
    computed anew for each of them. Both cut alike: tests/unit/test_sums_of_floats.py.
    """
    step, low, high = grid_of(fact)
    if _COLUMN.fullmatch(argument):
        least, most = f"{low!r}::DOUBLE", f"{high!r}::DOUBLE"
        below = f"CASE WHEN {argument} < {least} THEN {least} WHEN {argument} <= {most} THEN {argument} "
        clamped = f"{below}WHEN {argument} <= 'infinity'::DOUBLE THEN {most} END"
        return step, f"CAST(round({clamped} * {1 / step!r}::DOUBLE) AS BIGINT)"
    clamped = f"greatest({low!r}::DOUBLE, least({high!r}::DOUBLE, {argument}))"
    cell = f"CAST(round({clamped} * {1 / step!r}::DOUBLE) AS BIGINT)"
    return step, f"CASE WHEN {argument} <= 'infinity'::DOUBLE THEN {cell} END"


def grid_of(fact: Fact) -> tuple[float, float, float]:
    """Return the step of a grid for the values of one unit, and the ends of their range."""
    bounds = range_of(fact)
    if not bounds.finite:
        raise Unbounded(
            "a sum of floating-point values per unit needs a finite range",
            "clamp the value inside the aggregate: x CLAMPED BETWEEN 0 AND 500",
        )
    most = max(abs(bounds.low), abs(bounds.high), 2.0**-900)
    exponent = int(most).bit_length() if most >= 1 else 0
    while most <= 2.0 ** (exponent - 1):
        exponent -= 1
    return 2.0 ** (exponent - 40), float(bounds.low), float(bounds.high)


SUM = Sum()
RULES = (SUM,)

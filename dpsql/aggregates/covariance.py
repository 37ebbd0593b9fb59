"""COVAR_POP, COVAR_SAMP, CORR of two bounded arguments, from nine sums with one price.

A row adds the nine products of the three polynomials of each argument (variance.py). Sums of them are
the sums of 1, y, yy, z, zz and yz over the rows that have both values, so that all aggregates of a pair,
and the moments of each of the two where the other is never NULL, come from the same nine.

Claim   one row changes the nine by at most 1 in L1 where noise is Laplace's, in L2 where it is Gaussian.
Proof   L1 and L2 norms of a product of vectors are the products of their norms. A cell is the product in
        double precision times M = 2^20, rounded: nine errors of a half are 4.5 in L1 and 1.5 in L2, for
        which a family has a slack of 8.
Error   the moments of y and z are rounded by a few steps of 2^-20 of the ranges' products if all rows are
        alike; where they differ, the errors average out. The correlation with what does not vary is NULL.
Test    grammar_tests/aggregates/pairs.sql, tests/unit/test_moments.py
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import OFF, ROUNDING, Floats, Need, Rule, Sums, type_of_sum
from dpsql.aggregates.placed import Placed, placed, squares
from dpsql.aggregates.variance import sampled, spread_of, variance
from dpsql.ir.column import DOUBLE, Fact, Interval, range_of
from dpsql.late_numpy import np


def covariance(sums: Sums) -> Floats:
    """Return the covariance of y and z over the whole group, in [-1/4, 1/4]."""
    assert sums.rows is not None
    assert sums.argument is not None
    assert sums.other is not None
    assert sums.product is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        product = sums.product / sums.rows
        difference = product - sums.argument.first / sums.rows * (sums.other.first / sums.rows)
    return np.where(sums.rows >= 0.5, np.clip(difference, -0.25, 0.25), np.nan)


def correlation(sums: Sums) -> Floats:
    """Return the correlation, in [-1, 1]; NaN if one of the two does not vary."""
    assert sums.rows is not None
    assert sums.argument is not None
    assert sums.other is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        both = variance(sums.argument, sums.rows) * variance(sums.other, sums.rows)
        ratio = np.clip(covariance(sums) / np.sqrt(both), -1, 1)
    return np.where(both > 0, ratio, np.nan)


def pair(first: str, fact: Fact, second: tuple[str, Fact], name: str) -> tuple[Placed, Placed]:
    """Return two places that are NULL in the same rows."""
    a, b = placed(first, fact, name), placed(*second, name)
    return (
        Placed(f"CASE WHEN ({b.sql}) IS NOT NULL THEN ({a.sql}) END", a.low, a.step),
        Placed(f"CASE WHEN ({a.sql}) IS NOT NULL THEN ({b.sql}) END", b.low, b.step),
    )


def ranges(*arguments: Fact | None) -> list[Interval]:
    """Return the ranges of arguments that can be summed; raise Unbounded for others."""
    bounds = []
    for argument in arguments:
        assert argument is not None
        type_of_sum(argument.type)
        bounds.append(range_of(argument))
    return bounds


class Covariance(Rule):
    """The covariance over the whole group, or of a sample: the former over n - 1 rows."""

    needs = (Need.ROWS, Need.PRODUCT)
    arguments = 2

    def __init__(self, name: str, node: type[exp.Expr], sample: bool) -> None:
        self.name, self.nodes, self._sample = name, (node,), sample

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        bounds = ranges(argument, *others)
        widths = [spread_of(bound) for bound in bounds if bound.finite]
        if len(widths) < 2:
            return Fact(DOUBLE, nullable=True)
        most = widths[0] * widths[1] / (2 if self._sample else 4)
        return Fact(DOUBLE, Interval(-most, most), nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        a, b = pair(argument, fact, others[0], self.name)
        n = f"count({a.sql}){over}"
        pairs = f"{n} * ({n} - 1)" if self._sample else f"{n} * {n}"
        quotient = f"{squares(a.sql, b.sql, over)} / nullif(CAST({pairs} AS DOUBLE), 0)"
        return f"({quotient} * {a.step * b.step!r}::DOUBLE)"

    def estimate(self, sums: Sums) -> Floats:
        assert sums.rows is not None
        assert sums.argument is not None
        assert sums.other is not None
        estimate = covariance(sums) * (sums.argument.scale * sums.other.scale)
        return estimate * sampled(sums.rows) if self._sample else estimate

    def grain(self, first: float, second: float) -> float:
        return first * second * ROUNDING / 300


class Correlation(Rule):
    name = "corr"
    needs = (Need.ROWS, Need.PRODUCT)
    nodes = (exp.Corr,)
    arguments = 2

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        ranges(argument, *others)
        return Fact(DOUBLE, Interval(-1.0, 1.0), nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        a, b = pair(argument, fact, others[0], self.name)
        root = f"sqrt({squares(a.sql, a.sql, over)}) * sqrt({squares(b.sql, b.sql, over)})"
        return f"({squares(a.sql, b.sql, over)} / nullif({root}, 0))"

    def estimate(self, sums: Sums) -> Floats:
        return correlation(sums)

    def grain(self, first: float, second: float) -> float:
        return OFF


RULES = (
    Covariance("covar_pop", exp.CovarPop, sample=False),
    Covariance("covar_samp", exp.CovarSamp, sample=True),
    Correlation(),
)

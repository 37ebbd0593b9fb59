"""VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP of a bounded argument, from three sums with one price.

With y = (x - low) / (high - low) a row adds a partition of one into three: ((1-y)(1-y), 2y(1-y), yy) where
noise is Laplace's. The sums N, of y and of yy are combinations of the three, and

    variance = (high - low)^2 * (sum of yy / N - (sum of y / N)^2)

Claim   one row changes the three by at most 1 in L1. With Gaussian noise (1-y)(1-2y), 4y(1-y), y(2y-1)
        are measured instead; one row changes them by at most 1 in L2.
Proof   The first three are not negative and add up to (1 - y + y)^2 = 1. With z = y - 1/2 the squares of
        the second three add up to 1 - 6 zz (1 - 4zz), which is at most 1 for zz <= 1/4. They are the
        Lagrange polynomials of 0, 1/2, 1: a quadratic p has the coefficients p(0), p(1/2), p(1), so the
        noise of a variance around the middle is 1.4 times smaller than in the first basis.
        On the grid, with p = round(M y) and q = round(pp / M), the cells are M - 2p + q, 2p - 2q, q. They
        add up to M. None is negative: q - pp/M is less than 1 in size and M - 2p + pp/M = (M-p)(M-p)/M is
        not negative; 2p - 2q >= 2p(M-p)/M - 2 is above -2 and even, and where p is neither 0 nor M it is
        at least 0. The second cells are M - 3p + 2q, 4p - 4q, 2q - p: rounding moves them by (2, -4, 2) times
        at most a half (and 2^-20), so by 2.5 steps in L2, for which a family has a slack of 8.
Error   q is rounded, by half a step of 2^-19 of (high - low)^2 or less: the most that a variance without
        noise differs from DuckDB's if all rows are equal. Where they differ, the errors average out.
Test    grammar_tests/aggregates/moments.sql, tests/unit/test_moments.py
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import OFF, ROUNDING, Floats, Need, Rule, Spread, Sums, Unbounded, type_of_sum
from dpsql.aggregates.placed import placed, squares
from dpsql.ir.column import DOUBLE, Fact, Interval, said_range
from dpsql.late_numpy import np


def mean(spread: Spread, rows: Floats) -> Floats:
    """Return the mean of y, in [0, 1]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(spread.first / rows, 0, 1)


def variance(spread: Spread, rows: Floats) -> Floats:
    """Return the population variance of y, in [0, 1/4]."""
    assert spread.second is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(spread.second / rows - np.square(spread.first / rows), 0, 0.25)


def sampled(rows: Floats) -> Floats:
    """Return n / (n - 1) for a noisy n; NaN below two rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        count = np.maximum(rows, 2)
        return np.where(rows >= 1.5, count / (count - 1), np.nan)


class Variance(Rule):
    """NULL if fewer than one row (for a sample: two) is left after noise, rounded."""

    needs = (Need.ROWS, Need.TOTAL, Need.SQUARE)
    leaves_out_null = True

    def __init__(
        self, name: str, *nodes: type[exp.Expr], sample: bool, root: bool, names: tuple[str, ...] = ()
    ) -> None:
        self.name, self.nodes, self.names = name, nodes, names
        self._sample, self._root = sample, root
        self.bigquery, self.named_bounds = (() if sample else (name,)), not sample

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        type_of_sum(argument.type)
        bounds = said_range(argument)
        if not bounds.finite:
            return Fact(DOUBLE, nullable=True)
        most = spread_of(bounds) ** 2 / (2 if self._sample else 4)
        return Fact(DOUBLE, Interval(0.0, most**0.5 if self._root else most), nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        place = placed(argument, fact, self.name)
        n = f"count({place.sql}){over}"
        pairs = f"{n} * ({n} - 1)" if self._sample else f"{n} * {n}"
        quotient = f"{squares(place.sql, place.sql, over)} / nullif(CAST({pairs} AS DOUBLE), 0)"
        quotient = f"{quotient} * {place.step**2!r}::DOUBLE"
        return f"sqrt({quotient})" if self._root else f"({quotient})"

    def estimate(self, sums: Sums) -> Floats:
        assert sums.rows is not None
        assert sums.argument is not None
        estimate = variance(sums.argument, sums.rows)
        estimate = (
            estimate * sampled(sums.rows) if self._sample else np.where(sums.rows >= 0.5, estimate, np.nan)
        )
        return np.sqrt(estimate) * sums.argument.scale if self._root else estimate * sums.argument.scale**2

    def grain(self, first: float, second: float) -> float:
        return first * OFF if self._root else first**2 * ROUNDING / 300


def spread_of(bounds: Interval) -> float:
    """Return the width of a range; refuse one with a square beyond DOUBLE."""
    width = float(bounds.high) - float(bounds.low)
    if width >= 1e150:
        raise Unbounded(
            "the squares of these values do not fit a DOUBLE",
            "divide the value by a constant, or clamp it inside the aggregate: x CLAMPED BETWEEN 0 AND 500",
            code="D305",
        )
    return width


RULES = (
    Variance("var_pop", exp.VariancePop, sample=False, root=False),
    Variance("var_samp", exp.Variance, sample=True, root=False, names=("variance",)),
    Variance("stddev_pop", exp.StddevPop, sample=False, root=True),
    Variance("stddev_samp", exp.Stddev, exp.StddevSamp, sample=True, root=True, names=("stddev",)),
)

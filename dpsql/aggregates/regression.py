"""REGR_*(y, x): the least-squares line y = slope * x + intercept, over the rows that have both.

All come from the nine sums of covariance.py. Those that read one side only (REGR_AVGX, REGR_SXX...) come
from two or three sums if no other aggregate reads the pair: they are AVG and a sum of squares with the
condition that the other side is not NULL. The y is the first argument, as in SQL.

Claim   one row changes all measured sums together by at most 1.
Proof   avg.py, variance.py, covariance.py: everything here is computed from noisy sums.
Test    grammar_tests/aggregates/pairs.sql, tests/unit/test_moments.py
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from sqlglot import exp

from dpsql.aggregates import OFF, ROUNDING, Floats, Need, Rule, Spread, Sums
from dpsql.aggregates.covariance import correlation, covariance, pair, ranges
from dpsql.aggregates.placed import squares
from dpsql.aggregates.variance import mean, spread_of, variance
from dpsql.ir.column import ANYTHING, BIGINT, DOUBLE, Domain, Fact, Interval
from dpsql.late_numpy import np

Line: TypeAlias = Literal["regr_slope", "regr_intercept", "regr_r2", "regr_sxy"]

SIDES = {
    "regr_count": (),
    "regr_avgy": (0,),
    "regr_avgx": (1,),
    "regr_syy": (0,),
    "regr_sxx": (1,),
}
"""Which of the two arguments is read, of the rows that have both."""


class Fitted(Rule):
    """A result that needs both sides."""

    needs = (Need.ROWS, Need.PRODUCT)
    arguments = 2

    def __init__(self, name: Line, node: type[exp.Expr]) -> None:
        self.name, self.nodes, self._line = name, (node,), name

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        widths = [spread_of(bound) for bound in ranges(argument, *others) if bound.finite]
        domain: Domain = ANYTHING
        if self.name == "regr_r2":
            domain = Interval(0.0, 1.0)
        elif self.name == "regr_sxy" and rows is not None and len(widths) == 2:
            most = rows * widths[0] * widths[1] / 4
            domain = Interval(-most, most)
        return Fact(DOUBLE, domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        y, x = pair(argument, fact, others[0], self.name)
        xy, xx = squares(y.sql, x.sql, over), squares(x.sql, x.sql, over)
        slope = f"({xy} / nullif({xx}, 0) * {y.step / x.step!r}::DOUBLE)"
        n = f"count({y.sql}){over}"
        match self._line:
            case "regr_slope":
                return slope
            case "regr_intercept":
                of_y, of_x = (_average(side.sql, side.step, side.low, over) for side in (y, x))
                return f"({of_y} - {slope} * {of_x})"
            case "regr_r2":
                yy = squares(y.sql, y.sql, over)
                square = f"{xy} / nullif({xx}, 0) * ({xy} / {yy})"
                return f"(CASE WHEN {xx} > 0 THEN CASE WHEN {yy} > 0 THEN {square} ELSE 1::DOUBLE END END)"
            case "regr_sxy":
                return f"({xy} / nullif(CAST({n} AS DOUBLE), 0) * {y.step * x.step!r}::DOUBLE)"
            case _:
                assert_never(self._line)

    def estimate(self, sums: Sums) -> Floats:
        assert sums.rows is not None
        assert sums.argument is not None
        assert sums.other is not None
        y, x, rows = sums.argument, sums.other, sums.rows
        with np.errstate(divide="ignore", invalid="ignore"):
            of_x = variance(x, rows)
            slope = np.where(of_x > 0, covariance(sums) / of_x, np.nan) * (y.scale / x.scale)
            match self._line:
                case "regr_slope":
                    return slope
                case "regr_intercept":
                    return y.low + y.scale * mean(y, rows) - slope * (x.low + x.scale * mean(x, rows))
                case "regr_r2":
                    level = np.where((of_x > 0) & (variance(y, rows) == 0), 1.0, np.nan)
                    square = np.square(correlation(sums))
                    return np.where(rows >= 0.5, np.where(np.isnan(square), level, square), np.nan)
                case "regr_sxy":
                    return covariance(sums) * rows * (y.scale * x.scale)
                case _:
                    assert_never(self._line)

    def grain(self, first: float, second: float) -> float:
        match self._line:
            case "regr_slope":
                return max(first / second, second / first) * OFF
            case "regr_intercept":
                return max(first, second) * OFF
            case "regr_r2":
                return OFF
            case "regr_sxy":
                return max(first, second) ** 2 * ROUNDING
            case _:
                assert_never(self._line)


class OneSided(Rule):
    """A count, a mean, or a sum of squared distances from the mean."""

    arguments = 2

    def __init__(self, name: str, node: type[exp.Expr]) -> None:
        self.name, self.nodes, self._sides = name, (node,), SIDES[name]
        self._squares = name in ("regr_sxx", "regr_syy")
        self.needs = (Need.ROWS, Need.TOTAL, Need.SQUARE)[: 1 + len(self._sides) + self._squares]

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        bounds_of = ranges(argument, *others)
        if not self._sides:
            return Fact(BIGINT, ANYTHING if rows is None else Interval(0, rows), nullable=False)
        bounds = bounds_of[self._sides[0] if others else 0]
        if not bounds.finite:
            return Fact(DOUBLE, nullable=True)
        if not self._squares:
            return Fact(DOUBLE, Interval(float(bounds.low), float(bounds.high)), nullable=True)
        most = spread_of(bounds) ** 2 / 4
        return Fact(DOUBLE, ANYTHING if rows is None else Interval(0.0, rows * most), nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        both = pair(argument, fact, others[0], self.name)
        if not self._sides:
            return f"count({both[0].sql}){over}"
        side = both[self._sides[0]]
        if not self._squares:
            return _average(side.sql, side.step, side.low, over)
        n = f"count({side.sql}){over}"
        quotient = f"{squares(side.sql, side.sql, over)} / nullif(CAST({n} AS DOUBLE), 0)"
        return f"({quotient} * {side.step**2!r}::DOUBLE)"

    def estimate(self, sums: Sums) -> Floats:
        assert sums.rows is not None
        if not self._sides:
            return sums.rows
        side: Spread | None = (sums.argument, sums.other)[self._sides[0]]
        assert side is not None
        if self._squares:
            estimate = variance(side, sums.rows) * sums.rows * side.scale**2
        else:
            ends = float(side.range.low), float(side.range.high)
            estimate = np.clip(side.low + side.scale * mean(side, sums.rows), *ends)
        return np.where(sums.rows >= 0.5, estimate, np.nan)

    def grain(self, first: float, second: float) -> float:
        if not self._sides:
            return ROUNDING
        wide = max(first, second)
        return wide**2 * ROUNDING if self._squares else wide * ROUNDING


def _average(place: str, step: float, low: float, over: str) -> str:
    """Return SQL for the mean of places in the argument's own units: an exact sum over a count."""
    total = f"CAST(sum({place}){over} AS DOUBLE) * {step!r}::DOUBLE"
    return f"({low!r}::DOUBLE + {total} / nullif(count({place}){over}, 0))"


RULES = (
    Fitted("regr_slope", exp.RegrSlope),
    Fitted("regr_intercept", exp.RegrIntercept),
    Fitted("regr_r2", exp.RegrR2),
    Fitted("regr_sxy", exp.RegrSxy),
    OneSided("regr_count", exp.RegrCount),
    OneSided("regr_avgy", exp.RegrAvgy),
    OneSided("regr_avgx", exp.RegrAvgx),
    OneSided("regr_syy", exp.RegrSyy),
    OneSided("regr_sxx", exp.RegrSxx),
)

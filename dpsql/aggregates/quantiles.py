"""MEDIAN, QUANTILE_CONT, QUANTILE_DISC: which value has so many rows below it.

At a release point they are choices among the bins of a public grid (``mechanisms.quantiles``); inside
per-unit work they are exact functions of the values, whatever their order.
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Sums, Unbounded
from dpsql.ir.column import DOUBLE, TIMESTAMP, Domain, Fact, Interval, Kind, range_of

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


class Quantile:
    """Of sorted values the one at this place."""

    needs = (Need.DETAIL,)

    def __init__(self, name: str) -> None:
        self.name = name

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind not in (*NUMBERS, Kind.DATE, Kind.TIMESTAMP):
            raise Unbounded(
                f"{self.name.upper()} needs numbers, dates or timestamps",
                "cast the column to a number first, or count its values: GROUP BY x",
                code="D205",
            )
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        return self._called(
            f"{argument} + 0.0::DOUBLE" if fact.type.kind is Kind.FLOAT else argument, over, others
        )

    def _called(self, argument: str, over: str, others: tuple[tuple[str, Fact], ...]) -> str:
        """0.0 and -0.0 tie: what adds zero to them makes them one value."""
        return f"{self.name}({', '.join([argument, *(sql for sql, _ in others)])}){over}"

    def estimate(self, sums: Sums) -> Floats:
        raise AssertionError("a quantile is no function of sums")


class Continuous(Quantile):
    """The same, or between two of them: of whole numbers and decimals as DOUBLE, of dates as TIMESTAMP."""

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        found = super().result(argument, rows)
        bounds = range_of(found)
        domain: Domain = found.domain
        if found.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return Fact(TIMESTAMP, nullable=True)
        if bounds.finite:
            domain = Interval(float(bounds.low), float(bounds.high))
        return Fact(DOUBLE, domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        if fact.type.kind not in NUMBERS:  # halfway to the end of time is an error of DuckDB's
            raise Unbounded(
                f"{self.name.upper()} of one unit's dates is not answered",
                "take one of them: QUANTILE_DISC(x, 0.5)",
                code="D205",
            )
        return self._called(f"CAST({argument} AS DOUBLE) + 0.0::DOUBLE", over, others)


RULES = (Continuous("median"), Continuous("quantile_cont"), Quantile("quantile_disc"))

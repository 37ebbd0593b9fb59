"""MEDIAN, QUANTILE_CONT, QUANTILE_DISC: which value has so many rows below it.

At a release point they are choices among the bins of a public grid (``mechanisms.quantiles``); inside
per-unit work they are exact functions of the values, whatever their order.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.aggregates import Need, Rule, Unbounded
from dpsql.ir.column import DOUBLE, TIMESTAMP, Domain, Fact, Interval, Kind, range_of
from dpsql.ir.grid import End, Target

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


class Quantile(Rule):
    """Of sorted values the one at this place."""

    needs = (Need.DETAIL,)
    detail = "quantiles"

    def __init__(
        self,
        name: str,
        *nodes: type[exp.Expr],
        names: tuple[str, ...] = (),
        bigquery: tuple[str, ...] = (),
        place: Fraction | None = None,
    ) -> None:
        self.name, self.nodes, self.names, self.bigquery = name, nodes, names, bigquery
        self.named_bounds, self._place = bool(bigquery), place

    @property
    def ranged(self) -> bool:
        return True

    def target(self, place: Fraction | None) -> Target:
        """A quantile of 0 or 1 is an extreme."""
        found = self._place if place is None else place
        assert found is not None
        return End.LEAST if found == 0 else End.GREATEST if found == 1 else found

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


RULES = (
    Continuous("median", exp.Median, place=Fraction(1, 2)),
    Continuous("quantile_cont", names=("percentile_cont",), bigquery=("percentile_cont",)),
    Quantile("quantile_disc", names=("quantile",)),
)

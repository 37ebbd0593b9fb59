"""MEDIAN, QUANTILE_CONT, QUANTILE_DISC: the value at a given rank.

At a release point they are chosen among the bins of a public grid (``mechanisms.quantiles``). Within a unit
they are exact functions of the values, in any order.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.aggregates import Need, Rule, Unbounded
from dpsql.ir.column import DOUBLE, TIMESTAMP, Domain, Fact, Interval, Kind, said_range
from dpsql.ir.grid import End, Target

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


class Quantile(Rule):
    """The value at this place of the sorted values."""

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
        """Return the quantile; 0 and 1 are extremes."""
        fraction = self._place if place is None else place
        assert fraction is not None
        return End.LEAST if fraction == 0 else End.GREATEST if fraction == 1 else fraction

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind not in (*NUMBERS, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
            raise Unbounded(
                f"{self.name.upper()} needs numbers, dates or timestamps",
                "cast the column to a number first, or count its values: GROUP BY x",
                code="D205",
            )
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        return self._call_sql(
            f"{argument} + 0.0::{fact.type.sql}" if fact.type.kind is Kind.FLOAT else argument, over, others
        )

    def _call_sql(self, argument: str, over: str, others: tuple[tuple[str, Fact], ...]) -> str:
        """Return SQL for the call; adding zero makes 0.0 and -0.0, which tie, one value."""
        return f"{self.name}({', '.join([argument, *(sql for sql, _ in others)])}){over}"


class Continuous(Quantile):
    """A quantile with interpolation: DOUBLE for integers and decimals, TIMESTAMP for dates."""

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        discrete = super().result(argument, rows)
        bounds = said_range(discrete)
        domain: Domain = discrete.domain
        if discrete.type.kind in (Kind.DATE, Kind.TIMESTAMP):
            return Fact(TIMESTAMP, nullable=True)
        if discrete.type.kind is Kind.TIMESTAMPTZ:
            return Fact(discrete.type, nullable=True)
        if bounds.finite:
            domain = Interval(float(bounds.low), float(bounds.high))
        return Fact(DOUBLE, domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        if fact.type.kind not in NUMBERS:  # DuckDB fails to interpolate towards infinity
            raise Unbounded(
                f"{self.name.upper()} of one unit's dates is not answered",
                "take one of them: QUANTILE_DISC(x, 0.5)",
                code="D205",
            )
        return self._call_sql(f"CAST({argument} AS DOUBLE) + 0.0::DOUBLE", over, others)


RULES = (
    Continuous("median", exp.Median, place=Fraction(1, 2)),
    Continuous("quantile_cont", names=("percentile_cont",), bigquery=("percentile_cont",)),
    Quantile("quantile_disc", names=("quantile",)),
)

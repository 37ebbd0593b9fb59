"""MIN and MAX.

Within a unit they are exact functions of the set of values, in any order. At a release point they are a
value with a few rows beyond it, chosen like a quantile (``mechanisms.quantiles``): the very first or last
row belongs to one unit alone.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.aggregates import Distinct, Need, Rule
from dpsql.ir.column import Fact, Kind
from dpsql.ir.grid import End, Target


class Extreme(Rule):
    needs = (Need.DETAIL,)
    detail = "quantiles"
    distinct = Distinct.SAME
    picks = True

    def __init__(self, name: str, node: type[exp.Expr], end: End) -> None:
        self.name, self.nodes, self._end = name, (node,), end

    @property
    def ranged(self) -> bool:
        return True

    def target(self, place: Fraction | None) -> Target:
        return self._end

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        assert fact is not None
        if fact.type.kind is Kind.FLOAT:  # 0.0 and -0.0 tie: adding zero makes them one value
            return f"{self.name}({argument} + 0.0::{fact.type.sql}){over}"
        return f"{self.name}({argument}){over}"


RULES = (Extreme("min", exp.Min, End.LEAST), Extreme("max", exp.Max, End.GREATEST))

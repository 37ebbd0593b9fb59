"""MIN and MAX.

Inside per-unit work they are exact functions of the set of values, whatever their order. At a release
point they are a value with a few rows beyond it, chosen like a quantile (``mechanisms.quantiles``): the very
first or last row is one unit's alone.
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Sums
from dpsql.ir.column import Fact, Kind


class Extreme:
    needs = (Need.DETAIL,)

    def __init__(self, name: str) -> None:
        self.name = name

    def result(self, argument: Fact | None, rows: int | None) -> Fact:
        assert argument is not None
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "") -> str:
        assert fact is not None
        if fact.type.kind is Kind.FLOAT:  # 0.0 and -0.0 tie: adding zero makes them one value
            return f"{self.name}({argument} + 0.0::DOUBLE){over}"
        return f"{self.name}({argument}){over}"

    def estimate(self, sums: Sums) -> Floats:
        raise AssertionError("an extreme is no function of sums")


RULES = (Extreme("min"), Extreme("max"))

"""MIN and MAX inside per-unit work: exact functions of the set of values, whatever their order.

At a release point they need a mechanism of their own, so ``needs`` is empty there.
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Sums
from dpsql.ir.column import Fact, Kind


class Extreme:
    needs = ()

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
        raise AssertionError("extremes stand inside per-unit work only")


RULES = (Extreme("min"), Extreme("max"))

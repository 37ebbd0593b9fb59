"""DP_SAMPLE(f(x), low, high): the median of f over blocks of units, for any aggregate f."""

from __future__ import annotations

from dpsql.aggregates import Need, Rule, Unbounded
from dpsql.ir.column import DOUBLE, Fact


class Sampled(Rule):
    name = "dp_sample"
    needs = (Need.DETAIL,)
    detail = "blocks"

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        return Fact(DOUBLE, nullable=False)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise Unbounded(
            "DP_SAMPLE aggregates over many units, not within one",
            "group by a key that many units share, or aggregate exactly within the unit: AVG(x), MEDIAN(x)",
            code="D253",
        )


RULES = (Sampled(),)

"""DP_SAMPLE(f(x), low, high): the median of f over blocks of units, whatever f is."""

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
            "DP_SAMPLE is taken of many units",
            "group by something that many share, or aggregate exactly here: AVG(x), MEDIAN(x)",
            code="D253",
        )


RULES = (Sampled(),)

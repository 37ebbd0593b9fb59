"""MODE of values that are declared: which of them most rows have.

Claim   one row adds its weight to one value; a count that only grows costs half of what a distance does.
Proof   ``mechanisms.exponential``, the monotone case; units of many rows weigh what their clip leaves.
Test    grammar_tests/aggregates/modes.sql, tests/unit/test_order.py
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Need, Sums, Unbounded
from dpsql.ir.column import Fact, Kind


class Mode:
    name = "mode"
    needs = (Need.DETAIL,)

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind in (Kind.OPAQUE, Kind.INTERVAL, Kind.NULL):
            raise Unbounded("MODE needs plain values", "take a part of it that is one", code="D205")
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise Unbounded(
            "which of one unit's values is the most frequent is not known where two are",
            "take the least or the greatest of them: MIN(x), MAX(x)",
            code="D253",
        )

    def estimate(self, sums: Sums) -> Floats:
        raise AssertionError("the most frequent value is no function of sums")


RULES = (Mode(),)

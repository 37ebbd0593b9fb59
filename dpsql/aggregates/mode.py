"""MODE: the value of most rows. At a release point it is chosen from a declared list of values.

Claim   one row adds its weight to one value; losses that one unit moves in one direction only cost half.
Proof   ``mechanisms.exponential``, the monotone case; the clip bounds the weight of a unit of many rows.
Test    grammar_tests/aggregates/modes.sql, tests/unit/test_order.py

Within a unit, the first of the values that most rows have; without an ORDER BY the least of them (picked.py).
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Need, Rule, Unbounded
from dpsql.ir.column import PARTS, Fact, Kind


class Mode(Rule):
    name = "mode"
    needs = (Need.DETAIL,)
    detail = "votes"
    nodes = (exp.Mode,)
    in_order = "mode"
    example = "MODE(x)"
    picks = True

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind in (Kind.OPAQUE, Kind.INTERVAL, Kind.NULL):
            raise Unbounded(
                "MODE needs values with an exact equality",
                PARTS,
                code="D205",
            )
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise AssertionError("it is printed in an order")


RULES = (Mode(),)

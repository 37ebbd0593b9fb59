"""Aggregates that are computed within a unit only: functions of the values, in any order.

    BOOL_AND(paid), BOOL_OR(urgent) ... GROUP BY patient_id

At a release point each would need a mechanism of its own, so ``needs`` is empty.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Rule, Unbounded
from dpsql.ir.column import BOOLEAN, Fact, Kind


class Logical(Rule):
    """BOOL_AND, BOOL_OR: NULLs are left out, and the result over no values is NULL."""

    def __init__(self, name: str, node: type[exp.Expr]) -> None:
        self.name, self.nodes = name, (node,)

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind is not Kind.BOOLEAN:
            raise Unbounded(f"{self.name.upper()} needs a condition", "compare it: x > 0", code="D205")
        return Fact(BOOLEAN, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        return f"{self.name}({argument}){over}"


RULES = (Logical("bool_and", exp.LogicalAnd), Logical("bool_or", exp.LogicalOr))

"""Aggregates that are computed inside per-unit work only: functions of the values, whatever their order.

    BOOL_AND(paid), BOOL_OR(urgent) ... GROUP BY patient_id

At a release point each would need a mechanism of its own, so ``needs`` is empty here.
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Sums, Unbounded
from dpsql.ir.column import BOOLEAN, Fact, Kind


class Alone:
    """What every aggregate of this file has in common."""

    needs = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def estimate(self, sums: Sums) -> Floats:
        raise AssertionError(f"{self.name} stands inside per-unit work only")


class Logical(Alone):
    """BOOL_AND, BOOL_OR: NULLs left out, NULL over nothing."""

    def result(self, argument: Fact | None, rows: int | None) -> Fact:
        assert argument is not None
        if argument.type.kind is not Kind.BOOLEAN:
            raise Unbounded(f"{self.name.upper()} needs a condition", "compare it: x > 0", code="D205")
        return Fact(BOOLEAN, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "") -> str:
        return f"{self.name}({argument}){over}"


RULES = (Logical("bool_and"), Logical("bool_or"))

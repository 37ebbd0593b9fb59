"""Aggregates that are computed inside per-unit work only: functions of the values, whatever their order.

    MEDIAN(minutes), BOOL_OR(urgent) ... GROUP BY patient_id

At a release point each would need a mechanism of its own, so ``needs`` is empty here.
"""

from __future__ import annotations

from dpsql.aggregates import Floats, Sums, Unbounded
from dpsql.ir.column import BOOLEAN, DOUBLE, Fact, Interval, Kind, range_of


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


class Median(Alone):
    """The middle value, or halfway between the middle two: of whole numbers and decimals as DOUBLE."""

    def result(self, argument: Fact | None, rows: int | None) -> Fact:
        assert argument is not None
        if argument.type.kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT):
            raise Unbounded("MEDIAN needs numbers", "cast the column to a number first", code="D205")
        bounds = range_of(argument)
        domain = Interval(float(bounds.low), float(bounds.high)) if bounds.finite else argument.domain
        return Fact(DOUBLE, domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "") -> str:
        return f"median(CAST({argument} AS DOUBLE) + 0.0::DOUBLE){over}"


RULES = (Logical("bool_and"), Logical("bool_or"), Median("median"))

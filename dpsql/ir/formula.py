"""Formulas over released columns, for the propagation of their noise.

SUM(cost) / COUNT(*) + 1      Operation("+", (Operation("/", ("sum", "count")), 1.0))
"""

from __future__ import annotations

from typing import TypeAlias

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that post/derived_margins.py can propagate noise through."""

    name: str
    arguments: tuple[Formula, ...]


Formula: TypeAlias = "Operation | str | float"
"""A string is the name of a released column."""


@dataclass(frozen=True, slots=True)
class Derived:
    """An output computed from released columns; ``name`` is the output of its half-width."""

    name: str
    formula: Formula


def columns_in(formula: Formula) -> frozenset[str]:
    """Return the released columns that a formula reads."""
    match formula:
        case str():
            return frozenset((formula,))
        case Operation():
            return frozenset().union(*(columns_in(argument) for argument in formula.arguments))
        case _:
            return frozenset()

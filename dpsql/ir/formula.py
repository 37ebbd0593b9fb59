"""Arithmetic over the columns of a released table, as far as its noise can be followed.

SUM(cost) / COUNT(*) + 1      Operation("+", (Operation("/", ("sum", "count")), 1.0))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of post/derived_margins.py on formulas."""

    name: str
    arguments: tuple[Formula, ...]


Formula: TypeAlias = "Operation | str | float"
"""A text is the name of a released column."""


@dataclass(frozen=True, slots=True)
class Derived:
    """An output that is computed from released columns: its name is one for its half-width."""

    name: str
    formula: Formula


def columns_in(formula: Formula) -> frozenset[str]:
    """The released columns that it reads."""
    match formula:
        case str():
            return frozenset((formula,))
        case Operation():
            return frozenset().union(*(columns_in(each) for each in formula.arguments))
        case _:
            return frozenset()

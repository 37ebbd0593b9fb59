"""Floating-point numbers as SQL: constants, and values held within a range whatever they are.

held("x", 0, 120)    CASE WHEN x < 0 THEN 0 WHEN x <= 120 THEN x WHEN x <= infinity THEN 120 END
"""

from __future__ import annotations


def number(value: float | int) -> str:
    """A constant, every bit of it."""
    return f"{float(value)!r}::DOUBLE"


def held(name: str, low: float | int, high: float | int) -> str:
    """A DOUBLE within these ends; NULL of NULL, and of NaN: it is above infinity, so in no branch.

    CASE takes half the time of greatest and least.
    """
    return (
        f"CASE WHEN {name} < {number(low)} THEN {number(low)} WHEN {name} <= {number(high)} THEN {name} "
        f"WHEN {name} <= 'infinity'::DOUBLE THEN {number(high)} END"
    )

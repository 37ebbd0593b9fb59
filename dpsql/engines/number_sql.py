"""Floating-point numbers as SQL: exact constants, and values clamped to a range.

clamped_sql("x", 0, 120)    CASE WHEN x < 0 THEN 0 WHEN x <= 120 THEN x WHEN x <= infinity THEN 120 END
"""

from __future__ import annotations

import math


def number(value: float | int) -> str:
    """Print a constant with all its bits; infinity and NaN are names without quotes."""
    return f"{float(value)!r}::DOUBLE" if math.isfinite(value) else f"'{float(value)!r}'::DOUBLE"


def clamped_sql(name: str, low: float | int, high: float | int) -> str:
    """Print a DOUBLE clamped to these ends; NULL for NULL and NaN (above infinity, so in no branch).

    CASE takes half the time of greatest and least.
    """
    return (
        f"CASE WHEN {name} < {number(low)} THEN {number(low)} WHEN {name} <= {number(high)} THEN {name} "
        f"WHEN {name} <= 'infinity'::DOUBLE THEN {number(high)} END"
    )

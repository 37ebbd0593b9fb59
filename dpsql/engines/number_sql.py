"""Floating-point numbers as SQL: exact constants, and values clamped to a range.

clamped_sql("x", 0, 120)    CASE WHEN x < 0 THEN 0 WHEN x <= 120 THEN x WHEN x <= infinity THEN 120 END
"""

from __future__ import annotations

import math


def number(value: float | int) -> str:
    """Print a constant with all its bits; infinity and NaN are names without quotes."""
    return f"{float(value)!r}::DOUBLE" if math.isfinite(value) else f"'{float(value)!r}'::DOUBLE"


def clamped_sql(
    name: str, low: float | int, high: float | int, found: tuple[float, float] | None = None
) -> str:
    """Print a DOUBLE clamped to these ends; NULL for NULL and NaN (above infinity, so in no branch).

    No value is beyond the ends that were ``found``, if any, and none is NaN: then a limit that no value
    passes is not printed. CASE takes half the time of greatest and least.
    """
    if found is not None and low <= found[0]:
        return (
            name
            if found[1] <= high
            else f"CASE WHEN {name} > {number(high)} THEN {number(high)} ELSE {name} END"
        )
    if found is not None and found[1] <= high:
        return f"CASE WHEN {name} < {number(low)} THEN {number(low)} ELSE {name} END"
    return (
        f"CASE WHEN {name} < {number(low)} THEN {number(low)} WHEN {name} <= {number(high)} THEN {name} "
        f"WHEN {name} <= 'infinity'::DOUBLE THEN {number(high)} END"
    )

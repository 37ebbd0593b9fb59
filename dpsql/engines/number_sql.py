"""Floating-point numbers as SQL: exact constants, and values clamped to a range.

clamped_sql("x", 0, 120)    CASE WHEN x < 0 THEN 0 WHEN x <= 120 THEN x WHEN x <= infinity THEN 120 END
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engines.dialect import DUCKDB, Dialect

number = DUCKDB.number

_ADDED, _PART = 500, 100
"""Most parts of a sum, and of a part of a longer one: DuckDB reads expressions of a depth of 1,000."""


def added_sql(parts: Sequence[str]) -> str:
    """Print a sum, of many parts as a sum of sums."""
    if len(parts) <= _ADDED:
        return " + ".join(parts)
    sums = (" + ".join(parts[start : start + _PART]) for start in range(0, len(parts), _PART))
    return added_sql([f"({each})" for each in sums])


def clamped_sql(
    name: str,
    low: float | int,
    high: float | int,
    found: tuple[float, float] | None = None,
    dialect: Dialect = DUCKDB,
) -> str:
    """Print a DOUBLE clamped to these ends; NULL for NULL and NaN (above infinity, so in no branch).

    No value is beyond the ends that were ``found``, if any, and none is NaN: then a limit that no value
    passes is not printed. CASE takes half the time of greatest and least.
    """
    number = dialect.number
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
        f"WHEN {name} <= {dialect.infinity} THEN {number(high)} END"
    )

"""Shares of a table's rows that an owner may be told: the first of a few sizes that is exceeded.

more than one row in two    more than one row in ten    more than one row in a hundred
"""

from __future__ import annotations

SHARES = (2, 10, 100)
"""More than one row in so many is told, by the first that is exceeded."""


def exceeded(part: str, whole: str) -> str:
    """Print the first share of rows that a part of them exceeds, NULL if it exceeds none."""
    cases = " ".join(f"WHEN coalesce({part}, 0) * {one_in} > {whole} THEN {one_in}" for one_in in SHARES)
    return f"CASE {cases} END"

"""The order in which groups are released: by their keys, since the engine's order depends on the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from dpsql.ir.column import Value


def order_of(groups: Sequence[tuple[Value, ...]]) -> list[int]:
    kinds = ({type(group[i]) for group in groups} for i in range(len(groups[0]) if groups else 0))
    if all(kind in ({str}, {int}) for kind in kinds):  # they are ordered as their ranks are
        return sorted(range(len(groups)), key=groups.__getitem__)
    return sorted(range(len(groups)), key=lambda i: tuple(rank(value) for value in groups[i]))


def rank(value: Value) -> tuple[int, float | Decimal, str]:
    """Return a sort key for group keys: numbers, then text, NaN and NULL last."""
    if value is None:
        return (3, 0, "")
    if isinstance(value, bool | int | Decimal):
        return (0, Decimal(value), "")
    if isinstance(value, float):
        return (2, 0, "") if math.isnan(value) else (0, value, "")
    return (1, 0, str(value))

"""Groups as dictionary keys."""

from __future__ import annotations

from dpsql.ir.column import Value


def plain(group: tuple[Value, ...]) -> tuple[tuple[str, Value], ...]:
    """True is not 1 here, while 1, 1.0 and Decimal(1) are one key, as in SQL; and NaN is equal to NaN."""
    return tuple(
        ("n", None) if value != value else ("b" if isinstance(value, bool) else "v", value) for value in group
    )

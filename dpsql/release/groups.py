"""Groups as dictionary keys."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain

from dpsql.ir.column import Value


def plain(group: tuple[Value, ...]) -> tuple[tuple[str, Value], ...]:
    """Return a hashable form of a group with SQL's equality.

    True differs from 1, while 1, 1.0 and Decimal(1) are one key, and NaN equals NaN.
    """
    return tuple(
        ("n", None) if value != value else ("b" if isinstance(value, bool) else "v", value) for value in group
    )


def keyed(*parts: Sequence[tuple[Value, ...]]) -> list[Sequence[Hashable]]:
    """Return hashable forms of the groups of several tables: the groups themselves where these will do."""
    kinds = {*map(type, chain.from_iterable(chain.from_iterable(parts)))}
    return [*parts] if kinds <= {int, str} else [[plain(group) for group in groups] for groups in parts]

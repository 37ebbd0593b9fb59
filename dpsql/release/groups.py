"""Groups as dictionary keys, and what is found by them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dpsql.ir.column import Value
from dpsql.ir.listed_groups import ListedGroups, are_plain
from dpsql.ir.table import Mass, Masses
from dpsql.late_numpy import np


def plain(group: tuple[Value, ...]) -> tuple[tuple[str, Value], ...]:
    """Return a hashable form of a group with SQL's equality.

    True differs from 1, while 1, 1.0 and Decimal(1) are one key, and NaN equals NaN.
    """
    return tuple(
        ("n", None) if value != value else ("b" if isinstance(value, bool) else "v", value) for value in group
    )


def keyed(
    groups: Sequence[tuple[Value, ...]], listed: ListedGroups
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Return hashable forms of groups and of listed ones: the groups themselves where these will do."""
    if listed.are_plain and are_plain(groups):
        return groups, listed.groups
    return [plain(group) for group in groups], [plain(group) for group in listed.groups]


def weighed(weights: Masses, groups: Sequence[tuple[Value, ...]]) -> list[Mass]:
    """Return the places and weights of these groups; none where a group has none."""
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if are_plain(groups):
        return [weights.get(group, nothing) for group in groups]
    names = {plain(group): group for group in weights}
    found = (names.get(plain(group)) for group in groups)
    return [nothing if name is None else weights[name] for name in found]

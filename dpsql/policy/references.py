"""The foreign key of a private table, by which its rows reach their unit.

    owner_of(visits, tables)        ([patient_id], patients, [patient_id])

Test: tests/server/test_catalogue_keys.py
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.policy.listing import Table


def owner_of(table: Table, tables: Sequence[Table]) -> tuple[list[str], Table, list[str]] | None:
    """Return the foreign key to the unit's table: ([patient_id], patients, [patient_id])."""
    if not table.path:
        return None
    columns, step, places = table.path[0].partition(" -> ")
    if step:
        named = [place.rpartition(".") for place in places.split(", ")]
        there = (owner for owner in tables if owner.name == named[0][0])
        return next(((columns.split(", "), owner, [key for _, _, key in named]) for owner in there), None)
    holders = [holder for holder in tables if holds_each_unit_once(holder)]
    if len(holders) != 1 or holders[0].name == table.name:
        return None
    return columns.split(", "), holders[0], holders[0].path[0].split(", ")


def holds_each_unit_once(table: Table) -> bool:
    """Whether the column that tells whose a row is is a key of a table."""
    return len(table.path) == 1 and any(", ".join(key) == table.path[0] for key in table.keys)

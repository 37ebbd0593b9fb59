"""Take the tables of an outer join that keeps public rows together: its public side, and its private one.

    FROM faculties f JOIN programmes p USING (faculty_id)
    LEFT JOIN students s USING (programme_id) LEFT JOIN exams e ON e.student_id = s.student_id

    FROM (faculties f JOIN programmes p USING (faculty_id))
    LEFT JOIN (students s LEFT JOIN exams e ON e.student_id = s.student_id) USING (programme_id)

Claim   both have the same rows.
Proof   Joins are made from left to right, so parentheses around the first ones change nothing. Those behind
        the first private table are outer joins with private tables, whose conditions read private tables
        alone and have the equality of the units besides: a public row that met no student meets no exam,
        before and after. A condition that reads a public table, or USING a name of one, leaves the joins as
        they are.
Test    grammar_tests/joins/public_side_kept.sql
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.private.items import Item
from dpsql.bind.scope.sources import Open


def regrouped(items: list[Item]) -> list[Item]:
    """Return the items with those of either side of such a join in parentheses."""
    first = next((place for place, item in enumerate(items) if not item.is_open), 0)
    private = items[first]
    if len(items) < 3 or not first or private.join is None or private.join.side != "LEFT":
        return items
    head, tail = items[:first], items[first:]
    if not all(isinstance(item.source, Open) for item in head) or any(item.join is None for item in head[1:]):
        return items
    if not all(_outer(item, head) for item in tail[1:]):
        return items
    return [_together(head, None), _together([replace(private, join=None), *tail[1:]], private.join)]


def _together(items: list[Item], join: exp.Join | None) -> Item:
    if len(items) == 1:
        return replace(items[0], join=join)
    return Item(items, "", (), items[0].node, join)


def _outer(item: Item, head: Sequence[Item]) -> bool:
    """Whether an item is private and joined by LEFT on names that no public table in front has."""
    join = item.join
    if item.is_open or join is None or join.side != "LEFT" or join.method:
        return False
    tables = {each.alias.casefold() for each in head}
    names = {name.casefold() for each in head for name in each.columns}
    on = join.args.get("on")
    if on is None:
        return all(each.name.casefold() not in names for each in join.args.get("using") or [])
    read = [(each.table.casefold(), each.name.casefold()) for each in on.find_all(exp.Column)]
    plain = on.find(exp.Query) is None
    return plain and all(table not in tables if table else name not in names for table, name in read)

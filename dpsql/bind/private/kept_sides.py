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
        they are; so does one of the first private table with a name of a later one, which it cannot mean.
Test    grammar_tests/joins/public_side_kept.sql
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.private.items import Item
from dpsql.bind.scope.sources import Open, Private


def regrouped(items: list[Item]) -> list[Item]:
    """Return the items with those of either side of such a join in parentheses."""
    first = next((place for place, item in enumerate(items) if not item.is_open), 0)
    private = items[first]
    if len(items) < 3 or not first or private.join is None or private.join.side != "LEFT":
        return items
    head, tail = items[:first], items[first:]
    if private.join.method or not all(isinstance(item.source, Open) for item in head):
        return items
    if any(item.join is None or _is_comma(item.join) for item in head[1:]):
        return items
    if not all(_outer(item, head) for item in tail[1:]) or _reads_later(private.join, tail[1:]):
        return items
    return [_together(head, None), _together([replace(private, join=None), *tail[1:]], private.join)]


def _together(items: list[Item], join: exp.Join | None) -> Item:
    if len(items) == 1:
        return replace(items[0], join=join)
    return Item(items, "", (), items[0].node, join)


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(key) for key in ("side", "kind", "method", "on", "using"))


def _outer(item: Item, head: Sequence[Item]) -> bool:
    """Whether an item is private and joined by LEFT on names that no public table in front has."""
    join = item.join
    if item.is_open or join is None or join.side != "LEFT" or join.method:
        return False
    return not _reads(join, head, [name for each in head for name in each.columns])


def _reads_later(join: exp.Join, later: Sequence[Item]) -> bool:
    """Whether a condition may mean a column of an item that stands behind it."""
    names: list[str] = []
    for item in later:
        if not isinstance(item.source, Private):
            return True
        names += [column.name for column in item.source.scope.under(item.alias, item.names).columns]
    return _reads(join, later, names)


def _reads(join: exp.Join, items: Sequence[Item], names: Sequence[str]) -> bool:
    """Whether the condition of a join may mean a column of these items, which have these names."""
    tables, folded = {item.alias.casefold() for item in items}, {name.casefold() for name in names}
    on = join.args.get("on")
    if on is None:
        return any(each.name.casefold() in folded for each in join.args.get("using") or [])
    read = [(each.table.casefold(), each.name.casefold()) for each in on.find_all(exp.Column)]
    asks = on.find(exp.Query) is not None
    return asks or any(table in tables if table else name in folded for table, name in read)

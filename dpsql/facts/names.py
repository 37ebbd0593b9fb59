"""The names of a relation's columns: structure alone, no types and no ranges."""

from __future__ import annotations

from typing import assert_never

from dpsql.ir.relation import Aggregate, Filter, Given, Join, Project, Relation, Scan, Union


def names_of(relation: Relation) -> frozenset[str]:
    """All columns, the hidden unit column among them."""
    match relation:
        case Scan(columns=columns, owner=owner):
            own = frozenset(each.name for each in columns)
            return own if owner is None else own | {owner.name}
        case Given(columns=columns) | Project(columns=columns):
            return frozenset(each.name for each in columns)
        case Filter(source, _):
            return names_of(source)
        case Join(_, left, right):
            return names_of(left) | names_of(right)
        case Aggregate(_, keys, calls):
            return frozenset(each.name for each in keys) | {each.name for each in calls}
        case Union(left, _):
            return names_of(left)
        case _:
            assert_never(relation)

"""Where a column comes from: the declared columns that its values are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Materialized,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Scalar, refs

Origin = tuple[str, str]
"""A table of the policy and a column of it."""


def origins_of(relation: Relation, scalar: Scalar) -> frozenset[Origin]:
    """The declared columns that a scalar over this relation reads, however many names lie between."""
    return _of(scalar, _origins(relation))


def _of(scalar: Scalar, known: Mapping[str, frozenset[Origin]]) -> frozenset[Origin]:
    return frozenset(origin for name in refs(scalar) for origin in known.get(name, ()))


def _origins(relation: Relation) -> dict[str, frozenset[Origin]]:
    match relation:
        case Scan(table=table, columns=columns, owner=owner):
            found = {each.name: frozenset(((table, each.source),)) for each in columns}
            if owner is not None and owner.links:
                found[owner.name] = frozenset(((owner.links[-1].table, owner.column),))
            return found
        case Materialized() | StageInput():
            return {}
        case Filter(source, _):
            return _origins(source)
        case Project(source, columns):
            below = _origins(source)
            return {each.name: _of(each.scalar, below) for each in columns}
        case Join(kind, left, right, unit=unit):
            found = _origins(left) if kind.one_sided else _origins(left) | _origins(right)
            return found if unit is None else found | {unit.name: frozenset()}
        case Aggregate(source, keys, calls):
            below = _origins(source)
            found = {each.name: _of(each.scalar, below) for each in keys}
            for call in calls:
                values = () if call.argument is None else (call.argument, *call.others)
                found[call.name] = frozenset(origin for value in values for origin in _of(value, below))
            return found
        case Union(left, right):
            theirs = _origins(right)
            return {name: each | theirs[name] for name, each in _origins(left).items()}
        case Window(source, call):
            inside = _origins(source)
            read = frozenset(name for each in call.arguments for name in refs(each))
            return inside | {call.name: frozenset(origin for n in read for origin in inside.get(n, ()))}
        case _:
            assert_never(relation)

"""Origins of a scalar: the declared columns that it is computed from."""

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
    names_of,
)
from dpsql.ir.scalar import Scalar, refs
from dpsql.once_each import once_each

Origin = tuple[str, str]
"""A table of the policy, and one of its columns."""


def origins_of(relation: Relation, scalar: Scalar) -> frozenset[Origin]:
    """Return the declared columns that a scalar over this relation reads, through all renamings."""
    return _of(scalar, _origins(relation))


def _of(scalar: Scalar, known: Mapping[str, frozenset[Origin]]) -> frozenset[Origin]:
    return frozenset(origin for name in refs(scalar) for origin in known.get(name, ()))


@once_each
def _origins(relation: Relation) -> dict[str, frozenset[Origin]]:
    match relation:
        case Scan(table=table, columns=columns, owner=owner):
            origins = {column.name: frozenset(((table, column.source),)) for column in columns}
            if owner is not None and (owner.links or owner.composite):
                holder = owner.links[-1].table if owner.links else table
                origins[owner.name] = frozenset((holder, name) for name in names_of(owner.column))
            return origins
        case Materialized() | StageInput():
            return {}
        case Filter(source, _):
            return _origins(source)
        case Project(source, columns):
            below = _origins(source)
            return {column.name: _of(column.scalar, below) for column in columns}
        case Join(kind, left, right, unit=unit):
            origins = _origins(left) if kind.one_sided else _origins(left) | _origins(right)
            return origins if unit is None else origins | {unit.name: frozenset()}
        case Aggregate(source, keys, calls):
            below = _origins(source)
            origins = {key.name: _of(key.scalar, below) for key in keys}
            for call in calls:
                values = () if call.argument is None else (call.argument, *call.others)
                origins[call.name] = frozenset(origin for value in values for origin in _of(value, below))
            return origins
        case Union(left, right):
            theirs = _origins(right)
            return {name: origins | theirs[name] for name, origins in _origins(left).items()}
        case Window(source, call):
            inside = _origins(source)
            read = frozenset(name for argument in call.arguments for name in refs(argument))
            return inside | {call.name: frozenset(origin for n in read for origin in inside.get(n, ()))}
        case _:
            assert_never(relation)

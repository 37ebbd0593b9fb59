"""The types of a relation's columns: structure alone, no ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never
from weakref import WeakKeyDictionary

from dpsql.aggregates import shelf as aggregates
from dpsql.functions.core import meaning
from dpsql.functions.core.windows import windows
from dpsql.ir.column import Fact, Type
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
    WindowCall,
)
from dpsql.ir.scalar import Ref, Scalar

_KEPT: WeakKeyDictionary[Relation, Mapping[str, Type]] = WeakKeyDictionary()


def types_of(relation: Relation) -> Mapping[str, Type]:
    """The relation's columns by name, the hidden unit column among them."""
    found = _KEPT.get(relation)
    if found is None:
        found = _KEPT[relation] = _types(relation)
    return found


def type_of(scalar: Scalar, types: Mapping[str, Type]) -> Type:
    """The type of a scalar over these columns."""
    if isinstance(scalar, Ref):
        return types[scalar.name]
    return meaning.fact_of(scalar, lambda name: Fact(types[name])).type


def _types(relation: Relation) -> Mapping[str, Type]:
    match relation:
        case Scan(columns=columns, owner=owner):
            own = {each.name: each.fact.type for each in columns}
            return own if owner is None else {owner.name: owner.fact.type, **own}
        case Materialized(columns=columns) | StageInput(columns=columns):
            return {each.name: each.fact.type for each in columns}
        case Filter(source, _):
            return types_of(source)
        case Project(source, columns):
            inside = types_of(source)
            return {each.name: type_of(each.scalar, inside) for each in columns}
        case Join(kind, left, right, unit=unit):
            found = dict(types_of(left)) if kind.one_sided else {**types_of(left), **types_of(right)}
            return found if unit is None else {**found, unit.name: unit.fact.type}
        case Aggregate(source, keys, calls):
            inside = types_of(source)
            found = {each.name: type_of(each.scalar, inside) for each in keys}
            for call in calls:
                argument = None if call.argument is None else Fact(type_of(call.argument, inside))
                others = (Fact(type_of(each, inside)) for each in call.others)
                found[call.name] = aggregates()[call.function].result(argument, None, *others).type
            return found
        case Union(left, _):
            return types_of(left)
        case Window(source, call):
            inside = types_of(source)
            return {**inside, call.name: _windowed(call, inside)}
        case _:
            assert_never(relation)


def _windowed(call: WindowCall, types: Mapping[str, Type]) -> Type:
    arguments = tuple(Fact(type_of(each, types)) for each in call.arguments)
    if call.function in windows():
        return windows()[call.function].result(arguments, None).type
    return aggregates()[call.function].result(arguments[0] if arguments else None, None).type

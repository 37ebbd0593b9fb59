"""The types of a relation's columns, without ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

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
from dpsql.once_each import once_each


def type_of(scalar: Scalar, types: Mapping[str, Type]) -> Type:
    """Return the type of a scalar over these columns."""
    if isinstance(scalar, Ref):
        return types[scalar.name]
    return meaning.fact_of(scalar, lambda name: Fact(types[name])).type


@once_each
def types_of(relation: Relation) -> Mapping[str, Type]:
    """Return the types of the relation's columns by name, including the hidden unit column."""
    match relation:
        case Scan(columns=columns, owner=owner):
            types = {column.name: column.fact.type for column in columns}
            return types if owner is None else {owner.name: owner.fact.type, **types}
        case Materialized(columns=columns) | StageInput(columns=columns):
            return {column.name: column.fact.type for column in columns}
        case Filter(source, _):
            return types_of(source)
        case Project(source, columns):
            inside = types_of(source)
            return {column.name: type_of(column.scalar, inside) for column in columns}
        case Join(kind, left, right, unit=unit):
            types = dict(types_of(left))
            if not kind.one_sided:
                assert not types.keys() & types_of(right).keys(), "each side has names of its own"
                types |= types_of(right)
            return types if unit is None else {**types, unit.name: unit.fact.type}
        case Aggregate(source, keys, calls):
            inside = types_of(source)
            types = {key.name: type_of(key.scalar, inside) for key in keys}
            for call in calls:
                argument = None if call.argument is None else Fact(type_of(call.argument, inside))
                others = (Fact(type_of(argument, inside)) for argument in call.others)
                types[call.name] = aggregates()[call.function].result(argument, None, *others).type
            return types
        case Union(left, _):
            return types_of(left)
        case Window(source, call):
            inside = types_of(source)
            return {**inside, call.name: _window_type(call, inside)}
        case _:
            assert_never(relation)


def _window_type(call: WindowCall, types: Mapping[str, Type]) -> Type:
    arguments = tuple(Fact(type_of(argument, types)) for argument in call.arguments)
    if call.function in windows():
        return windows()[call.function].result(arguments, None).type
    return aggregates()[call.function].result(arguments[0] if arguments else None, None).type

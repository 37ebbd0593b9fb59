"""Columns that identify a unit: the unit column, declared keys, and values computed from them.

They are refused as outputs and as group keys. This is a courtesy: each such group would hold one unit and
stay below the threshold. COUNT and SUM of such a column are allowed.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.aggregates import shelf
from dpsql.functions.core.windows import windows
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
from dpsql.ir.scalar import Call, Ref, Scalar


def _returns_a_value(function: str) -> bool:
    """Whether an aggregate returns one of its input values (MIN, MAX, MODE...)."""
    return function in shelf() and shelf()[function].picks


def identifying(relation: Relation) -> frozenset[str]:
    """Return the columns that identify one unit, or that are computed from a column that does."""
    match relation:
        case Materialized() | StageInput():
            return frozenset()
        case Scan(columns=columns, keys=keys, owner=owner):
            if owner is None:
                return frozenset()
            links = (
                column.name for column in columns if owner.links and column.source == owner.links[0].column
            )
            single = (key[0] for key in keys if len(key) == 1)
            return frozenset((owner.name, *single, *links))
        case Filter(source, _):
            return identifying(source)
        case Project(source, columns):
            inside = identifying(source)
            return frozenset(column.name for column in columns if tells(column.scalar, inside))
        case Join(kind, left, right, unit=unit):
            if kind.one_sided:
                return identifying(left)
            return identifying(left) | identifying(right) | ({unit.name} if unit is not None else set())
        case Union(left, right):
            return identifying(left) | identifying(right)
        case Aggregate(source, keys, calls):
            inside = identifying(source)
            return frozenset(key.name for key in keys if tells(key.scalar, inside)) | frozenset(
                call.name
                for call in calls
                if _returns_a_value(call.function)
                and call.argument is not None
                and tells(call.argument, inside)
            )
        case Window(source, call):
            inside = identifying(source)
            keeps = _returns_a_value(call.function) or (
                call.function in windows() and windows()[call.function].keeps
            )
            shown = keeps and any(tells(argument, inside) for argument in call.arguments)
            return inside | {call.name} if shown else inside
        case _:
            assert_never(relation)


def tells(scalar: Scalar, secret: frozenset[str]) -> bool:
    """Whether a scalar depends on the value of one of these columns; IS NULL and IS NOT NULL do not count."""
    match scalar:
        case Ref(name):
            return name in secret
        case Call("is_null" | "is_not_null"):
            return False
        case Call(_, arguments):
            return any(tells(argument, secret) for argument in arguments)
        case _:
            return False

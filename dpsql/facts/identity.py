"""Which columns tell who somebody is: the unit, and declared keys that determine one unit.

They are never an output or a group key (a courtesy: under the threshold nothing would appear). What is
computed from such a column tells as much; counting or adding up does not.
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


def _picks(function: str) -> bool:
    return function in shelf() and shelf()[function].picks


def identifying(relation: Relation) -> frozenset[str]:
    """Columns whose value identifies one unit, or is computed from one that does."""
    match relation:
        case Materialized() | StageInput():
            return frozenset()
        case Scan(columns=columns, keys=keys, owner=owner):
            if owner is None:
                return frozenset()
            links = (each.name for each in columns if owner.links and each.source == owner.links[0].column)
            single = (key[0] for key in keys if len(key) == 1)
            return frozenset((owner.name, *single, *links))
        case Filter(source, _):
            return identifying(source)
        case Project(source, columns):
            inside = identifying(source)
            return frozenset(each.name for each in columns if tells(each.scalar, inside))
        case Join(kind, left, right, unit=unit):
            if kind.one_sided:
                return identifying(left)
            return identifying(left) | identifying(right) | ({unit.name} if unit is not None else set())
        case Union(left, right):
            return identifying(left) | identifying(right)
        case Aggregate(source, keys, calls):
            inside = identifying(source)
            return frozenset(each.name for each in keys if tells(each.scalar, inside)) | frozenset(
                each.name
                for each in calls
                if _picks(each.function) and each.argument is not None and tells(each.argument, inside)
            )
        case Window(source, call):
            inside = identifying(source)
            keeps = _picks(call.function) or (call.function in windows() and windows()[call.function].keeps)
            shown = keeps and any(tells(each, inside) for each in call.arguments)
            return inside | {call.name} if shown else inside
        case _:
            assert_never(relation)


def tells(scalar: Scalar, secret: frozenset[str]) -> bool:
    """Whether a value shows something of these columns; that one is there, or not, does not."""
    match scalar:
        case Ref(name):
            return name in secret
        case Call("is_null" | "is_not_null"):
            return False
        case Call(_, arguments):
            return any(tells(each, secret) for each in arguments)
        case _:
            return False

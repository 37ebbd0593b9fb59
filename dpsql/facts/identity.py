"""Which columns tell who somebody is: the unit, and declared keys that determine one unit.

They are never an output or a group key (a courtesy: under the threshold nothing would appear). What is
computed from such a column tells as much; counting or adding up does not.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.ir.relation import Aggregate, Filter, Given, Join, Project, Relation, Scan, Union
from dpsql.ir.scalar import refs

_KEEPING = frozenset(("min", "max"))


def identifying(relation: Relation) -> frozenset[str]:
    """Columns whose value identifies one unit, or is computed from one that does."""
    match relation:
        case Given():
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
            return frozenset(each.name for each in columns if refs(each.scalar) & inside)
        case Join(_, left, right) | Union(left, right):
            return identifying(left) | identifying(right)
        case Aggregate(source, keys, calls):
            inside = identifying(source)
            return frozenset(each.name for each in keys if refs(each.scalar) & inside) | frozenset(
                each.name
                for each in calls
                if each.function in _KEEPING and each.argument is not None and refs(each.argument) & inside
            )
        case _:
            assert_never(relation)

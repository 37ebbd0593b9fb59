"""How many items of each list count where a relation makes rows of them.

    FROM answers, unnest(scores) AS u(score)        (10,)

``bind/private/row_items.py`` makes the join with constant places that is recognized here.
"""

from __future__ import annotations

from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Materialized,
    Project,
    Relation,
    Union,
    Window,
)
from dpsql.ir.scalar import Call, Literal, Ref


def items_counted(relation: Relation) -> tuple[int, ...]:
    """Return, for each list that a relation makes rows of, how many of its items count."""
    match relation:
        case Filter(input=source) | Project(input=source) | Aggregate(input=source) | Window(input=source):
            return items_counted(source)
        case Join(
            left=source,
            right=Materialized(rows=places, keys=((place,),)),
            condition=Call("<=", (Ref(name), Call("length", (Ref(),)) | Literal())),
        ) if name == place:
            return (*items_counted(source), len(places))
        case Join(left=left, right=right) | Union(left=left, right=right):
            return items_counted(left) + items_counted(right)
        case _:
            return ()

"""How many units the conditions of a query leave at most.

    WHERE student_id = 17                  one
    WHERE student_id IN (17, 18, 19)       three
    WHERE student_id BETWEEN 10 AND 19     ten

It is for advice alone: columns tell a unit by the policy's word, and nothing that is computed depends on it.
"""

from __future__ import annotations

from dpsql.facts.ownership import Owned, least, ownership_of
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Project, Relation, Union, Window
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts


def units_met(relation: Relation) -> int | None:
    """Return the most units with a row here, as far as conditions on their keys say; None if none does."""
    match relation:
        case Filter(source, condition):
            return least(units_met(source), _left_by(source, condition))
        case Project(source, _) | Window(source, _) | Aggregate(source, _, _):
            return units_met(source)
        case Join(kind, left, right, condition):
            both = kind in (JoinKind.INNER, JoinKind.SEMI)
            on = _left_by(relation, condition) if kind is JoinKind.INNER and condition is not None else None
            if kind is JoinKind.FULL:
                return None
            return least(units_met(left), units_met(right) if both else None, on)
        case Union(left, right):
            ours, theirs = units_met(left), units_met(right)
            return None if ours is None or theirs is None else ours + theirs
        case _:
            return None


def _left_by(source: Relation, condition: Scalar) -> int | None:
    owned = ownership_of(source)
    if not isinstance(owned, Owned):
        return None
    telling = owned.units.union(*(key for key in owned.keys if len(key) == 1))
    return least(*(_values(part, telling) for part in conjuncts(condition)))


def _values(condition: Scalar, telling: frozenset[str]) -> int | None:
    """Return how many values of a telling column meet a condition; None if any number may."""
    match condition:
        case Call("=", (Ref(name), Literal()) | (Literal(), Ref(name))) if name in telling:
            return 1
        case Call("in", (Ref(name), *listed)) if name in telling:
            return len(listed)
        case Call("between", (Ref(name), Literal(int() as low), Literal(int() as high))) if name in telling:
            return max(0, high - low + 1)
        case Call("or", parts):
            found = [_values(part, telling) for part in parts]
            known = [values for values in found if values is not None]
            return sum(known) if len(known) == len(found) else None
        case _:
            return None

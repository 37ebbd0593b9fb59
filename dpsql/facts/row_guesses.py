"""Ranges that rest on how many rows a unit is thought to have.

SELECT n // 5 FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)

``rows_per_unit`` says where clipping starts, and promises nothing: such a range sets a scale, and no more.
Nor does a column's range that was found privately: about all units are within, and nobody declared it.
"""

from __future__ import annotations

from dpsql.facts.schema import facts_of
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Scan, Union, Window
from dpsql.ir.scalar import Scalar, refs

_COUNTS = frozenset("count sum row_number rank dense_rank ntile".split())


def guessed(relation: Relation, scalar: Scalar) -> bool:
    """Whether the range of a scalar rests on how many rows a unit is thought to have, or was found."""
    return any(_counted(relation, name) for name in refs(scalar))


def _counted(relation: Relation, name: str) -> bool:
    match relation:
        case Scan(columns=scanned):
            return any(each.guessed for each in scanned if each.name == name)
        case Filter(source, _):
            return _counted(source, name)
        case Window(source, call):
            if name != call.name:
                return _counted(source, name)
            return call.function in _COUNTS or any(guessed(source, each) for each in call.arguments)
        case Project(source, columns):
            return any(guessed(source, each.scalar) for each in columns if each.name == name)
        case Aggregate(source, keys, calls):
            for each in calls:
                if each.name == name and each.function in _COUNTS:
                    return True
            read = [each.scalar for each in keys if each.name == name]
            for each in calls:
                if each.name == name and each.argument is not None:
                    read += [each.argument, *each.others]
            return any(guessed(source, each) for each in read)
        case Join(_, left, right) | Union(left, right):
            return any(name in facts_of(each) and _counted(each, name) for each in (left, right))
        case _:
            return False

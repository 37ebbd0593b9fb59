"""Leave out columns of tables that a measure does not read: what a policy says of them is not in its plan.

    SELECT SUM(age) FROM people     reads people.age: a range for people.income changes nothing

Claim   the measure has the same rows, and each row the same values, as before.
Proof   A column of a scan is left out where no scalar above it names it, up to the first relation that has
        columns of its own: a projection or an aggregation names all that it reads. A union reads all columns
        of its sides, and a window whose order they complete (``orders_all_columns``) all of its rows.
        Conditions, also of joins and of columns whose rows with NULL are left out, are scalars, and so is
        what aggregates of ordered rows sort by. The columns that lead to the unit and declared keys stay,
        and what checks compare with a column that is read: facts rest on them. No scan is left without one.
Test    grammar_tests/test_cases.py and grammar_tests/test_one_digest.py
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, assert_never
from weakref import WeakKeyDictionary

from dpsql.facts.types import types_of
from dpsql.functions.core.windows import orders_all_columns
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan
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
from dpsql.ir.scalar import Ref
from dpsql.once_each import once_each

_NO_EXPRESSIONS = ("relation", "lists", "pairs")
"""Fields of a measure: what is cut down here, and values of public keys."""


def without_unread(planned: MeasurePlan) -> MeasurePlan:
    """Return the same plan over scans of fewer columns."""
    return _over(planned, _lean_measure(planned.measure))


@once_each
def _lean_measure(measure: Measure) -> Measure:
    others = (field.name for field in dataclasses.fields(measure) if field.name not in _NO_EXPRESSIONS)
    read = frozenset(name for other in others for name in _names(getattr(measure, other)))
    return replace(measure, relation=_kept(measure.relation, read))


def _kept(relation: Relation, read: frozenset[str]) -> Relation:
    """Return the relation over scans of fewer columns: the same one each time, whose facts are known then."""
    made = _LEAN.setdefault(relation, {})
    lean = made[read] if read in made else _lean(relation, read)
    if lean is not relation:  # else it would keep itself
        made[read] = lean
    return lean


_LEAN: WeakKeyDictionary[Relation, dict[frozenset[str], Relation]] = WeakKeyDictionary()


def _over(planned: MeasurePlan, measure: Measure) -> MeasurePlan:
    again = None if planned.again is None else _over(planned.again, measure)
    joint = planned.joint
    if joint is not None:
        joint = replace(joint, cells=without_unread(joint.cells))
    return replace(planned, measure=measure, again=again, joint=joint)


def _lean(relation: Relation, read: frozenset[str]) -> Relation:
    match relation:
        case Scan(columns=columns, owner=owner, keys=keys, checks=checks):
            step = () if owner is None else names_of(owner.step)
            to_unit = (column.name for column in columns if column.source in step)
            compared = _compared(read.union(to_unit, *keys), checks)
            kept = tuple(column for column in columns if column.name in compared)
            return replace(
                relation,
                columns=kept or columns[:1],
                checks=tuple(pair for pair in checks if compared.issuperset(pair)),
            )
        case Filter(source, condition):
            return replace(relation, input=_lean(source, read | frozenset(_names(condition))))
        case Project(source, columns):
            return replace(relation, input=_lean(source, frozenset(_names(columns))))
        case Join(left=left, right=right, condition=condition):
            both = read | frozenset(_names(condition))
            return replace(relation, left=_lean(left, both), right=_lean(right, both))
        case Aggregate(source, keys, calls):
            return replace(relation, input=_lean(source, frozenset(_names((keys, calls)))))
        case Window(source, call):
            named = read | frozenset(_names(call))
            return replace(relation, input=_lean(source, _all(source) if orders_all_columns(call) else named))
        case Union(left, right):
            return replace(relation, left=_lean(left, _all(left)), right=_lean(right, _all(right)))
        case Materialized() | StageInput():
            return relation
        case _:
            assert_never(relation)


def _all(relation: Relation) -> frozenset[str]:
    return frozenset(types_of(relation))


def _compared(read: frozenset[str], checks: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """Return the columns that are read, and all that checks compare them with: ranges rest on those."""
    for _ in checks:
        read = read.union(*(pair for pair in checks if not read.isdisjoint(pair)))
    return read


def _names(value: object) -> Iterator[str]:
    """Yield the columns that are named anywhere in a value."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, tuple):
        for each in value:
            yield from _names(each)
    else:
        kind: Any = type(value)
        if kind not in _FIELDS:
            is_own = dataclasses.is_dataclass(kind)
            _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(kind)) if is_own else ()
        for name in _FIELDS[kind]:
            yield from _names(getattr(value, name))


_FIELDS: dict[type, tuple[str, ...]] = {}
"""The fields of each type that was met; none of what is no dataclass."""

"""Columns that identify a unit: the unit column, declared keys, and values computed from them.

They are refused as outputs and as group keys. This is a courtesy: each such group would hold one unit and
stay below the threshold. COUNT and SUM of such a column are allowed.

    patient_id, upper(email)          identify a unit
    hospital_id                       does not, where the unit is (hospital_id, patient_no): both together do
    patient_id % 10, md5(id) < '8'    the arms of a test: few values, whoever the units are

Claim   an expression has at most ``MOST_ARMS`` values and NULL, whatever the data is, if ``_has_few_values``.
Proof   It looks at the types of the columns alone: the remainder of a constant, a condition, constants that
        a CASE chooses from. A column's declared range or list says nothing here: units may be what it lists.
Test    tests/unit/test_identity.py, grammar_tests/keys/arms.sql

Nothing private rests on this claim. Such a key is a public key like any other: its groups are listed from the
expression, and the clip bounds one unit in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from dpsql.aggregates import shelf
from dpsql.facts.types import types_of
from dpsql.functions.core.meaning import enforced, fact_of
from dpsql.functions.core.windows import windows
from dpsql.ir.column import Categories, Fact, Interval, Kind, Type
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

MOST_ARMS = 200
"""An expression of an identifying column with more values than this identifies units."""


def _returns_a_value(function: str) -> bool:
    """Whether an aggregate returns one of its input values (MIN, MAX, MODE...)."""
    return function in shelf() and shelf()[function].picks


def identifying(relation: Relation) -> frozenset[str]:
    """Return the columns that identify one unit, or that are computed from a column that does."""
    match relation:
        case Materialized() | StageInput():
            return frozenset()
        case Scan(columns=columns, keys=keys, owner=owner, tied=tied):
            if owner is None:
                return frozenset()
            links = (
                column.name for column in columns if owner.links and column.source == owner.links[0].column
            )
            single = (key[0] for key in keys if len(key) == 1)
            return frozenset((owner.name, *single, *links, *tied))
        case Filter(source, _):
            return identifying(source)
        case Project(source, columns):
            inside = identifying(source)
            return frozenset(column.name for column in columns if tells(column.scalar, source, inside))
        case Join(kind, left, right, unit=unit):
            if kind.one_sided:
                return identifying(left)
            return identifying(left) | identifying(right) | ({unit.name} if unit is not None else set())
        case Union(left, right):
            return identifying(left) | identifying(right)
        case Aggregate(source, keys, calls):
            inside = identifying(source)
            return frozenset(key.name for key in keys if tells(key.scalar, source, inside)) | frozenset(
                call.name
                for call in calls
                if _returns_a_value(call.function)
                and call.argument is not None
                and tells(call.argument, source, inside)
            )
        case Window(source, call):
            inside = identifying(source)
            keeps = _returns_a_value(call.function) or (
                call.function in windows() and windows()[call.function].keeps
            )
            shown = keeps and any(tells(argument, source, inside) for argument in call.arguments)
            return inside | {call.name} if shown else inside
        case _:
            assert_never(relation)


def tells(scalar: Scalar, relation: Relation, secret: frozenset[str]) -> bool:
    """Whether a scalar over this relation depends on the value of one of these columns.

    IS NULL and IS NOT NULL do not count, nor does what has few values: it tells no units apart.
    """
    return _tells(scalar, types_of(relation), secret)


def _tells(scalar: Scalar, types: Mapping[str, Type], secret: frozenset[str]) -> bool:
    match scalar:
        case Ref(name):
            return name in secret
        case Call("is_null" | "is_not_null"):
            return False
        case Call(_, arguments):
            inside = any(_tells(argument, types, secret) for argument in arguments)
            return inside and not _has_few_values(scalar, types)
        case _:
            return False


def _has_few_values(call: Call, types: Mapping[str, Type]) -> bool:
    """Whether the expression itself lists its values, or their range."""
    fact = fact_of(call, lambda name: enforced(Fact(types[name])))
    match fact.domain:
        case Categories(values):
            return len(values) <= MOST_ARMS
        case Interval(low, high):
            return fact.type.kind in (Kind.BOOLEAN, Kind.INTEGER) and high - low < MOST_ARMS
        case _:
            return False

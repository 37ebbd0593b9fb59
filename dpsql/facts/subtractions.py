"""Values that may be negative for no other reason than that two values are subtracted in no known order.

    date_diff('hour', admitted, discharged)     of two days of 2024: [-8784, 8784]
    epoch(last - first) / 60                    the same, and what is computed from it
    SUM(discharged - admitted) of a patient     the same, added up
    income - cost, of cost in [-5, 90]          not: a cost may be negative by itself

Claim   Where ``below_by_subtraction(relation, scalar)``, a row with a negative scalar has, here or in a
        relation below, a difference of two times, or of two numbers from 0 on, that is negative.
Proof   The range of the scalar is computed again, as if each such difference began at 0, and it begins at 0.
        A sum, mean or extreme of values from 0 on is from 0 on.
Test    tests/unit/test_subtractions.py

It is advice alone: nothing that is clamped, noised or paid rests on it.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Fact, Interval, Kind, range_of
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Window
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs

_DIFFERENCES = frozenset(("-", "date_diff", "date_sub"))
_TIMES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
_FROM_ZERO = ("sum", "avg", "min", "max")
"""Aggregates of values from 0 on that are from 0 on."""


def below_by_subtraction(relation: Relation, scalar: Scalar) -> bool:
    """Whether the range of a scalar begins below 0, and would not if no such difference were negative."""
    plain = range_of(fact_of(scalar, facts_of(relation)))
    return plain.low < 0 < plain.high and range_of(_fact(relation, scalar)).low >= 0


def _fact(relation: Relation, scalar: Scalar) -> Fact:
    """Return the fact of a scalar as if its differences, and those below, began at 0."""
    return _within(scalar, {name: _of_column(relation, name) for name in refs(scalar)})


def _within(scalar: Scalar, facts: dict[str, Fact]) -> Fact:
    if not isinstance(scalar, Call):
        return fact_of(scalar, facts)
    parts: list[Scalar] = []
    own = dict(facts)
    for place, part in enumerate(scalar.arguments):
        if isinstance(part, Call):
            own[f"#{place}"] = _within(part, facts)
            part = Ref(f"#{place}")
        parts.append(part)
    fact = fact_of(replace(scalar, arguments=tuple(parts)), own)
    if scalar.function not in _DIFFERENCES or len(parts) < 2:
        return fact
    return _from_zero(fact) if _comparable(parts[-2:], own) else fact


def _comparable(parts: list[Scalar], facts: dict[str, Fact]) -> bool:
    """Whether these are two times, or two numbers from 0 on of which none is a constant."""
    values = [fact_of(part, facts) for part in parts]
    if all(value.type.kind in _TIMES for value in values):
        return True
    if any(isinstance(part, Literal) for part in parts):
        return False
    return all(value.type.numeric and range_of(value).low >= 0 for value in values)


def _from_zero(fact: Fact) -> Fact:
    bounds = range_of(fact)
    return replace(fact, domain=Interval(max(0, bounds.low), max(0, bounds.high)))


def _of_column(relation: Relation, name: str) -> Fact:
    fact = facts_of(relation)[name]
    match relation:
        case Filter(source, _):
            below = _of_column(source, name)
        case Window(source, call) if call.name != name:
            below = _of_column(source, name)
        case Project(source, columns):
            below = next(_fact(source, column.scalar) for column in columns if column.name == name)
        case Join(_, left, right):
            side = next((side for side in (left, right) if name in facts_of(side)), None)
            if side is None:
                return fact
            below = _of_column(side, name)
        case Aggregate(source, keys, calls):
            values = [key.scalar for key in keys if key.name == name]
            values += [
                made.argument
                for made in calls
                if made.name == name and made.function in _FROM_ZERO and made.argument is not None
            ]
            if not values:
                return fact
            below = _fact(source, values[0])
        case _:
            return fact
    return _from_zero(fact) if range_of(below).low >= 0 else fact

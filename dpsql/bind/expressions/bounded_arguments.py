"""Clip an aggregate's computed argument to the range that WHERE or FILTER gives the same expression.

    SELECT AVG(date_diff('day', came, went)) FROM stays WHERE date_diff('day', came, went) BETWEEN 0 AND 90

is read as AVG(date_diff('day', came, went) CLAMPED BETWEEN 0 AND 90).

Claim   the answer is that of the argument as it is written, and its range is that of the condition.
Proof   The range is enforced: the clip is part of the scalar, whatever the conditions say. It moves no value
        of a row that is counted, since the condition holds there of the same expression (conditions_met.py);
        a CASE keeps NULL.
Test    grammar_tests/bounds/conditions.sql

Conditions on a column need no clip: they narrow its fact (schema.py).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from dpsql.aggregates import shelf
from dpsql.facts.conditions_met import fact_where_met
from dpsql.facts.row_guesses import guessed
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import coerce
from dpsql.ir.column import VARCHAR, Fact, Interval, Kind, Number, Type, range_of
from dpsql.ir.relation import AggregateCall, Relation
from dpsql.ir.scalar import Call, Literal, Scalar

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


def with_bounds(call: AggregateCall, relation: Relation) -> AggregateCall:
    """Return the call with its arguments clipped, where conditions say more of them than is known."""
    if shelf()[call.function].counts or call.distinct:
        return call
    argument = None if call.argument is None else _bounded(call.argument, call.condition, relation)
    others = tuple(_bounded(other, call.condition, relation) for other in call.others)
    return replace(call, argument=argument, others=others)


def _bounded(scalar: Scalar, condition: Scalar | None, relation: Relation) -> Scalar:
    if not isinstance(scalar, Call) or guessed(relation, scalar):
        return scalar
    before, met = fact_of(scalar, facts_of(relation)), fact_where_met(relation, scalar, condition)
    if before.type.kind not in _NUMBERS or range_of(met) == range_of(before):
        return scalar
    ends = _ends(met)
    if ends is None:
        return scalar
    low, high = ends
    clipped = Call("least", (Call("greatest", (scalar, low)), high))
    return Call("case", (Call("is_not_null", (scalar,)), clipped))


def _ends(fact: Fact) -> tuple[Literal, Literal] | None:
    """Return both ends of a finite range as constants of the fact's type; None where they are no such."""
    if not isinstance(fact.domain, Interval) or not fact.domain.finite:
        return None
    low, high = (_constant(end, fact.type) for end in (fact.domain.low, fact.domain.high))
    return None if low is None or high is None else (low, high)


def _constant(end: Number, type: Type) -> Literal | None:
    """Return an end as a constant of the type; None where the type does not hold it, as a cast would fail."""
    if type.kind is Kind.INTEGER:
        text = str(int(end)) if end == int(end) else ""
    else:
        text = format(Decimal(repr(end)), "f") if type.kind is Kind.DECIMAL else repr(float(end))
    return coerce(Literal(text, VARCHAR), type)

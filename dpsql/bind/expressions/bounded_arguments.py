"""Clip an aggregate's computed argument without a range to what WHERE or FILTER says of the same expression.

    SELECT AVG(date_diff('day', came, went)) FROM stays WHERE date_diff('day', came, went) BETWEEN 0 AND 90

is read as AVG(date_diff('day', came, went) CLAMPED BETWEEN 0 AND 90).

Claim   the answer is that of the argument as it is written, and its range is that of the condition.
Proof   The range is enforced: the clip is part of the scalar, whatever the conditions say. It moves no value
        of a row that is counted, since the condition holds there of the same expression (conditions_met.py);
        a CASE keeps NULL. Its ends are values of the argument's type, each the only one near the double that
        a range has for it: no cast of them can fail, and none is beside what the condition names.
Test    grammar_tests/bounds/conditions.sql, tests/unit/test_bounded_arguments.py

An argument with a range is left as it is: aggregates of the same argument share sums, and a clip of one of
them would part these. Conditions on a column need no clip: they narrow its fact (schema.py).
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from dpsql.aggregates import shelf
from dpsql.facts.conditions_met import fact_where_met
from dpsql.facts.row_guesses import guessed
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import coerce
from dpsql.ir.column import VARCHAR, Fact, Kind, Number, Type, bounded_range, decimal_size, type_range
from dpsql.ir.relation import AggregateCall, Relation
from dpsql.ir.scalar import Call, Literal, Scalar

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


def with_bounds(call: AggregateCall, relation: Relation) -> AggregateCall:
    """Return the call with its arguments clipped, where conditions alone bound them."""
    if shelf()[call.function].counts or call.distinct:
        return call
    argument = None if call.argument is None else _bounded(call.argument, call.condition, relation)
    others = tuple(_bounded(other, call.condition, relation) for other in call.others)
    return replace(call, argument=argument, others=others)


def _bounded(scalar: Scalar, condition: Scalar | None, relation: Relation) -> Scalar:
    if not isinstance(scalar, Call) or guessed(relation, scalar):
        return scalar
    before = fact_of(scalar, facts_of(relation))
    if before.type.kind not in _NUMBERS or bounded_range(before) is not None:
        return scalar
    ends = _ends(fact_where_met(relation, scalar, condition))
    if ends is None:
        return scalar
    low, high = ends
    clipped = Call("least", (Call("greatest", (scalar, low)), high))
    return Call("case", (Call("is_not_null", (scalar,)), clipped))


def _ends(fact: Fact) -> tuple[Literal, Literal] | None:
    """Return both ends of a finite range as constants of the fact's type; None where they are no such."""
    bounds, possible = bounded_range(fact), type_range(fact.type)
    if bounds is None:
        return None
    low, high = bounds.low, bounds.high
    if fact.type.kind is Kind.INTEGER:  # an end beyond the type says nothing
        low, high = max(math.ceil(low), possible.low), min(math.floor(high), possible.high)
    least, most = _constant(low, fact.type), _constant(high, fact.type)
    return None if least is None or most is None else (least, most)


def _constant(end: Number, type: Type) -> Literal | None:
    """Return an end as a constant of the type; None if the type does not hold it, or has others as near.

    ``coerce`` reads it from a text: a constant that is said to have the type already is not looked at.
    """
    scale = decimal_size(type)[1] if type.kind is Kind.DECIMAL else 0
    if type.kind is Kind.FLOAT:
        text = repr(float(end) + 0.0)  # of both zeros the positive one
    elif scale and abs(end) * 10**scale >= 2**53:
        return None
    else:
        text = format(Decimal(repr(end)), "f")
    return coerce(Literal(text, VARCHAR), type)

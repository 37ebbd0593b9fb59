"""An aggregate over a CASE that only selects rows -> the same aggregate with a FILTER.

    SUM(CASE WHEN a THEN x ELSE 0 END)     SUM(x) FILTER (WHERE a)
    SUM(CASE WHEN a THEN 1 ELSE 0 END)     COUNT(*) FILTER (WHERE a), in the type of the SUM
    SUM(a)                                 the same
    COUNT(CASE WHEN a THEN x END)          COUNT(x) FILTER (WHERE a)
    AVG(CASE WHEN a THEN x END)            AVG(x) FILTER (WHERE a), and every other moment

Equal aggregates in different notation are then measured once, and exclusive conditions are recognized.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.aggregates import shelf
from dpsql.facts.schema import Facts, fact_of
from dpsql.ir.column import BOOLEAN
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Literal, Scalar


def filtered(call: AggregateCall, facts: Facts) -> AggregateCall:
    """Move a condition from the argument of a call to its filter, if the argument only selects rows."""
    rule = shelf()[call.function]
    if call.argument is None or not rule.leaves_out_null:
        return call
    original, argument, condition = fact_of(call.argument, facts).type, call.argument, call.condition
    match argument:
        case Call("case", (when, then)) | Call("case", (when, then, Literal(value=None))):
            pass
        case Call("case", (when, then, Literal(value=0))) if rule.adds_up:
            pass
        case Call("cast", (inner,)) if rule.adds_up and fact_of(inner, facts).type == BOOLEAN:
            when, then = inner, Literal(1, original)
        case _ if rule.adds_up and original == BOOLEAN:
            when, then = argument, Literal(1, original)
        case _:
            return call
    result = replace(call, argument=then, condition=_both(condition, when))
    if rule.adds_up and isinstance(then, Literal) and then.value == 1:
        return replace(result, function="count", argument=None)
    return result if rule.counts or fact_of(then, facts).type == original else call


def _both(first: Scalar | None, second: Scalar) -> Scalar:
    return second if first is None else Call("and", (first, second))

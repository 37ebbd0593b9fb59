"""An aggregate over a CASE that only picks rows -> the same aggregate with a condition of its own.

    SUM(CASE WHEN a THEN x ELSE 0 END)     SUM(x) FILTER (WHERE a)
    SUM(CASE WHEN a THEN 1 ELSE 0 END)     COUNT(*) FILTER (WHERE a), in the type of the SUM
    SUM(a)                                 the same
    COUNT(CASE WHEN a THEN x END)          COUNT(x) FILTER (WHERE a)
    AVG(CASE WHEN a THEN x END)            AVG(x) FILTER (WHERE a), and every other moment

What is written in two ways is then measured once, and conditions that exclude each other are seen.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.aggregates import shelf
from dpsql.facts.schema import Facts, fact_of
from dpsql.ir.column import BOOLEAN
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Literal, Scalar


def filtered(call: AggregateCall, facts: Facts) -> AggregateCall:
    """The call, the argument of which picks no rows any more."""
    rule = shelf()[call.function]
    if call.argument is None or not rule.leaves_out_null:
        return call
    whole, argument, condition = fact_of(call.argument, facts).type, call.argument, call.condition
    match argument:
        case Call("case", (when, then)) | Call("case", (when, then, Literal(value=None))):
            pass
        case Call("case", (when, then, Literal(value=0))) if rule.adds_up:
            pass
        case Call("cast", (inner,)) if rule.adds_up and fact_of(inner, facts).type == BOOLEAN:
            when, then = inner, Literal(1, whole)
        case _ if rule.adds_up and whole == BOOLEAN:
            when, then = argument, Literal(1, whole)
        case _:
            return call
    picked = replace(call, argument=then, condition=_both(condition, when))
    if rule.adds_up and isinstance(then, Literal) and then.value == 1:
        return replace(picked, function="count", argument=None)
    return picked if rule.counts or fact_of(then, facts).type == whole else call


def _both(first: Scalar | None, second: Scalar) -> Scalar:
    return second if first is None else Call("and", (first, second))

"""The columns of the table that a measure releases: its keys, then each aggregate with its half-width."""

from __future__ import annotations

from dpsql.aggregates import Unbounded, shelf
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import BIGINT, DOUBLE, Type
from dpsql.ir.plan import Measure
from dpsql.ir.relation import AggregateCall


def released_columns(measure: Measure) -> list[tuple[str, Type]]:
    """Names and types, known before anything is planned."""
    facts = facts_of(measure.relation)
    columns = [(key.name, fact_of(key.scalar, facts).type) for key in measure.keys]
    for call in measure.aggregates:
        columns += [(call.name, released_type(call, measure)), (margin_of(call.name), DOUBLE)]
    return columns


def released_type(call: AggregateCall, measure: Measure) -> Type:
    """The type that an aggregate is delivered in."""
    if call.argument is None:
        return BIGINT
    facts = facts_of(measure.relation)
    argument, *others = (fact_of(each, facts) for each in (call.argument, *call.others))
    try:
        return shelf()[call.function].result(argument, None, *others).type
    except Unbounded as finding:
        raise refuse(finding.code, finding.title, call.span, help=finding.help) from None


def margin_of(name: str) -> str:
    """The released table's column with the half-width of an aggregate."""
    return f"{name} margin"

"""The columns of the table that a measure releases: its keys, then each aggregate with its half-width."""

from __future__ import annotations

from dpsql.aggregates import shelf
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
    return shelf()[call.function].result(fact_of(call.argument, facts_of(measure.relation)), None).type


def margin_of(name: str) -> str:
    """The released table's column with the half-width of an aggregate."""
    return f"{name} margin"

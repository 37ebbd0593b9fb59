"""The columns of the table that a measure releases: its keys, then each aggregate with its half-width

(and the ends of its interval, where the query reads them), then the same for what is computed of them.
"""

from __future__ import annotations

from dpsql.aggregates import Unbounded, shelf
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import BIGINT, DOUBLE, Type
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall


def released_columns(measure: Measure) -> list[tuple[str, Type]]:
    """Names and types, known before anything is planned."""
    facts = facts_of(measure.relation)
    columns = [(key.name, fact_of(key.scalar, facts).type) for key in measure.keys]
    noised = [(call.name, released_type(call, measure)) for call in measure.aggregates]
    for name, kind in (*noised, *((each.name, DOUBLE) for each in measure.derived)):
        columns += [(name, kind), (margin_of(name), DOUBLE)]
        if measure.intervals:
            columns += [(low_of(name), DOUBLE), (high_of(name), DOUBLE)]
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


def low_of(name: str) -> str:
    """The column with the lower end of an aggregate's interval."""
    return f"{name} low"


def high_of(name: str) -> str:
    """The column with the upper end."""
    return f"{name} high"

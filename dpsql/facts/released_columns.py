"""Columns of a measure's released table: keys, aggregates, values derived from them, and then posteriors.

Each aggregate is followed by the half-width of its margin, and by the ends of its interval where the query
reads them.
"""

from __future__ import annotations

from dpsql.aggregates import Unbounded, shelf
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import BIGINT, DOUBLE, VARCHAR, Kind, Type
from dpsql.ir.measure import Measure
from dpsql.ir.model import Model
from dpsql.ir.relation import AggregateCall


def released_columns(measure: Measure) -> list[tuple[str, Type]]:
    """Return names and types, known before anything is planned."""
    if measure.model is not None:
        return _columns_of(measure.model, measure.intervals)
    facts = facts_of(measure.relation)
    columns = [(key.name, _of_key(fact_of(key.scalar, facts).type, measure)) for key in measure.keys]
    noised = [(call.name, released_type(call, measure)) for call in measure.aggregates]
    for name, kind in (*noised, *((derived.name, DOUBLE) for derived in measure.derived)):
        columns += _with_ends(name, kind, measure.intervals)
    columns += [(name, DOUBLE) for posterior in measure.posteriors for name in posterior.columns]
    return columns


def _of_key(own: Type, measure: Measure) -> Type:
    """Return the type of a key: the name of the other group is no member of an ENUM."""
    return VARCHAR if measure.other is not None and own.kind is Kind.TEXT else own


def _columns_of(model: Model, intervals: bool) -> list[tuple[str, Type]]:
    """Return those of a model: the names of terms, then its numbers."""
    columns = [(name, VARCHAR) for name in model.keys]
    for name in model.numbers:
        columns += _with_ends(name, DOUBLE, intervals)
    return columns


def _with_ends(name: str, kind: Type, intervals: bool) -> list[tuple[str, Type]]:
    """Return a number's column, with those of its half-width and of its interval's ends."""
    ends = [(low_of(name), DOUBLE), (high_of(name), DOUBLE)] if intervals else []
    return [(name, kind), (margin_of(name), DOUBLE), *ends]


def released_type(call: AggregateCall, measure: Measure) -> Type:
    """Return the released type of an aggregate."""
    if call.argument is None:
        return BIGINT
    facts = facts_of(measure.relation)
    argument, *others = (fact_of(argument, facts) for argument in (call.argument, *call.others))
    try:
        return shelf()[call.function].result(argument, None, *others).type
    except Unbounded as finding:
        raise refuse(finding.code, finding.title, call.span, help=finding.help) from None


def margin_of(name: str) -> str:
    """Name the column of an aggregate's half-width."""
    return f"{name} margin"


def low_of(name: str) -> str:
    """Name the column of the lower end of an aggregate's interval."""
    return f"{name} low"


def high_of(name: str) -> str:
    """Name the column of the upper end of an aggregate's interval."""
    return f"{name} high"

"""Which expression makes an output less noisy, where its range is below 0 for want of an order alone.

    AVG(date_diff('hour', admitted, discharged))     in [-8784, 8784], for all that is declared
    GREATEST(date_diff(...), 0)                      in [0, 8784]: half the noise
    date_diff(...) CLAMPED BETWEEN 0 AND 8784        where it may be NULL, which GREATEST makes 0

Claim   The query with the new expression in the place of the old one has a sensitivity of this output that
        is smaller by the factor, and means the same if the old expression is never below 0.
Proof   It is planned so, at the same price, before it is named: the factor is read from the two plans. What
        is not below 0 stays as it is, and NULL stays NULL.
Test    tests/unit/test_tighter_ranges.py

Planning reads no private row, and neither do the facts (facts/subtractions.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from dpsql.errors import Error
from dpsql.explain.columns import column_facts
from dpsql.facts.schema import fact_of, facts_of
from dpsql.facts.subtractions import below_by_subtraction
from dpsql.ir.column import range_of
from dpsql.ir.measure import Finish
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.source import Source
from dpsql.planning import bounds_at_any_price, planned
from dpsql.session import Session

_LEAST = 1.5
"""A smaller factor is not worth another query."""

_TRIES = 8
"""Queries that are planned for one explanation, at most."""

_LONGEST = 200
"""Characters of an expression that may be repeated."""


def tighter_ranges(session: Session, plan: Plan) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the expressions, by the names of the measure and of its output."""
    if plan.first is not None or plan.goal is not None or not plan.events:
        return {}
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for number, place, instead, text in islice(_edited(plan), _TRIES):
        measure = plan.measures[number].measure
        finish = measure.finishes[place]
        name = measure.name, finish.call.name
        factor = 0.0 if name in found else _factor(session, plan, text, number, place)
        if factor >= _LEAST:
            found[name] = {"of": _text(finish, plan.source), "instead": instead, "factor": factor}
    return found


def _edited(plan: Plan) -> Iterator[tuple[int, int, str, str]]:
    """Yield new expressions of outputs, each with the query's text that has it."""
    for number, measure in enumerate(plan.measures):
        finishes = () if measure.measure.model is not None else measure.measure.finishes
        for place, finish in enumerate(finishes):
            for instead, text in _spellings(finish, measure, plan.source):
                yield number, place, instead, text


def _spellings(finish: Finish, measure: MeasurePlan, source: Source) -> Iterator[tuple[str, str]]:
    """Yield new expressions, each with the query's text that has it."""
    argument, relation = finish.call.argument, measure.measure.relation
    if finish.call.function not in ("sum", "avg") or argument is None or argument.span is None:
        return
    old, span = _text(finish, source), argument.span
    if len(old) > _LONGEST or not below_by_subtraction(relation, argument):
        return
    fact = fact_of(argument, facts_of(relation))
    high = range_of(fact).high
    spelled = [f"GREATEST({old}, 0)"]
    if fact.nullable:
        clamped = [f"{old} CLAMPED BETWEEN 0 AND {math.ceil(high)}"] if math.isfinite(high) else []
        spelled = [*clamped, f"CASE WHEN {old} IS NOT NULL THEN {spelled[0]} END"]
    for new in spelled:
        yield " ".join(new.split()), source.text[: span.start] + new + source.text[span.end :]


def _text(finish: Finish, source: Source) -> str:
    assert finish.call.argument is not None
    span = finish.call.argument.span
    return "" if span is None else source.text[span.start : span.end]


def _factor(session: Session, plan: Plan, text: str, number: int, place: int) -> float:
    """Return by what the sensitivity of an output is divided in the query with this text; 0 if unknown."""
    values: tuple[Any, ...] = plan.source.parameters
    terms = session.terms(plan.price)
    try:
        other = planned(
            session, replace(plan.source, text=text), values, terms, bounds_at_any_price(session, terms)
        )
    except Error:  # what is edited is no query: an expression of a view, or a name that is needed elsewhere
        return 0.0
    if other.first is not None or len(other.measures) != len(plan.measures):
        return 0.0
    now, then = (_sensitivity(each.measures[number], place, session) for each in (plan, other))
    return now / then if math.isfinite(now) else 0.0


def _sensitivity(measure: MeasurePlan, place: int, session: Session) -> float:
    """Return the sensitivity of an output; infinite if there is no such output."""
    finishes = measure.measure.finishes
    if place >= len(finishes):
        return math.inf
    return float(column_facts(finishes[place], measure, session.known).get("sensitivity", math.inf))

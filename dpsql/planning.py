"""Text -> Plan: parse, bind, rewrite, plan; at a price, or at the least price for an accuracy.

    SELECT SUM(cost) ...                     at the price of the call, or else the policy's
    SELECT OPTIONS(epsilon = 0.2) ...        at the price that the query says
    SELECT OPTIONS(within = 50) ...          at the least price for that accuracy

Planning costs nothing and reads no private row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.bind.export import refuse_randomized_response
from dpsql.bind.split import bind
from dpsql.errors import Error, refuse
from dpsql.ir.bound import Bound, MissingBound, NeededBounds
from dpsql.ir.column import Value
from dpsql.ir.options import Goal, Option
from dpsql.ir.plan import Plan
from dpsql.ir.source import Source
from dpsql.parse.parse import Query, parse
from dpsql.plan.bound_lookup import Lookup, bounded
from dpsql.plan.bound_search import asker_of, bound_search_plan, good_enough
from dpsql.plan.bound_search_price import worth_finding
from dpsql.plan.plan import plan
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known
from dpsql.post.accuracy_price import priced
from dpsql.rewrite import rewrite
from dpsql.session import Session


def parsed(session: Session, source: Source, parameters: Sequence[Value]) -> Query:
    """Text -> Query, at the session's time."""
    session.sealed.begin()
    return parse(replace(source, parameters=tuple(parameters)), parameters, session.now())


def planned(
    session: Session,
    source: Source,
    parameters: Sequence[Value],
    terms: Terms,
    lookup: Lookup | None = None,
) -> Plan:
    """Text -> Plan."""
    return planned_query(session, parsed(session, source, parameters), terms, lookup)


def planned_query(session: Session, query: Query, terms: Terms, lookup: Lookup | None = None) -> Plan:
    """Query -> Plan, at the price that the query says, if it says one.

    Bounds that nobody declared are the ledger's, unless ``lookup`` tells others.
    """
    refuse_randomized_response(query)
    if query.goal is not None:
        return _within(session, query, query.goal, terms, lookup)
    if query.epsilon is not None:
        terms = price_of_query(session, query.epsilon, query.source, terms)
    made = planned_at(session, query, terms, lookup)
    if made.first is not None:
        worth_finding(made.first, session.known, terms)
    return made


def planned_at(session: Session, query: Query, terms: Terms, lookup: Lookup | None = None) -> Plan:
    """Query -> Plan at one price. ``first`` finds the bounds that it lacks, if there are any."""

    def make(known: Known, share: Fraction) -> Plan | NeededBounds:
        split = rewrite(bind(query, known, session.sealed.public, session.sealed.check), known)
        return plan(split, known, replace(terms, share=share), session.engine.values)

    asker = asker_of(query.source, terms.epsilon)

    def usable(missing: MissingBound) -> Bound | None:
        return good_enough(session.bounds(missing), asker, terms)

    ours = Lookup(session.find_bounds, usable, lambda: session.asked(asker))
    made, bounds = bounded(make, session.known, lookup or ours)
    # what is free rests on no bounds, though they may have been missed on the way to it
    missing = [each.missing for each in bounds if not each.found and made.events]
    first = bound_search_plan(missing, session.known, query.source, asker, terms) if missing else None
    return replace(made, bounds=bounds, first=first)


def bounds_at_any_price(session: Session, terms: Terms) -> Lookup:
    """The same bounds at any price: those that are good enough for the usual one."""
    return Lookup(
        session.find_bounds, lambda missing: good_enough(session.bounds(missing), "", terms), lambda: False
    )


def price_of_query(session: Session, price: Option, source: Source, terms: Terms) -> Terms:
    """The terms with the price that a query says itself; a refusal points at its place."""
    try:
        return session.said(terms, price)
    except Error as error:
        raise error.within(source.text, source.name) from None


def _within(session: Session, query: Query, goal: Goal, terms: Terms, lookup: Lookup | None) -> Plan:
    """The plan at the least price for an accuracy."""

    def plan_at(price: float) -> Plan:
        bounds = lookup or bounds_at_any_price(session, terms)
        made = planned_at(session, query, replace(terms, epsilon=price), bounds)
        if made.first is not None:
            raise refuse(
                "D301",
                "nobody knows yet how accurate this is",
                goal.span,
                label=f"nothing says the {' or the '.join(each.said for each in made.first.missing_bounds)}",
                help=f"ask it once at a price, OPTIONS(epsilon = {terms.epsilon:g}): "
                "what is found serves this query too",
            )
        return made

    try:
        if terms.given:
            raise refuse(
                "D503",
                "the call says a price, and the query an accuracy",
                goal.span,
                label="each follows from the other",
                help="say one of them; EXPLAIN tells what the accuracy costs",
            )
        return priced(goal, plan_at, terms, session.least, session.ceiling)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None

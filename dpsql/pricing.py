"""Price and explanation of a query, without asking it: reads no private row, debits nothing."""

from __future__ import annotations

from functools import partial

from dpsql.errors import Error
from dpsql.explain import expected, explain, units_needed
from dpsql.ir.explanation import Explanation
from dpsql.ir.plan import Plan
from dpsql.ir.price import Price
from dpsql.parse.parse import Query
from dpsql.planning import planned_query
from dpsql.post.stages import types_of_stages
from dpsql.releasing import measure_text
from dpsql.session import Session
from dpsql.stepwise import all_steps_paid


def explained(session: Session, plan: Plan) -> Explanation:
    """Explain what a plan would release."""
    types_of_stages(plan.stages, session.sealed)
    return explain(plan, session.known, session.known.unit, partial(measure_text, session, plan))


def priced_now(session: Session, query: Query, epsilon: float | None) -> tuple[Plan, Price]:
    """Return a query's plan, and what it would cost now."""
    session.sealed.begin()
    terms = session.terms(epsilon)
    plan = planned_query(session, query, terms)
    facts, left = explained(session, plan).to_dict(), session.remaining()
    doubts = facts["doubts"]
    cost, after, repeated = 0.0, left, False
    if plan.steps and all_steps_paid(session, query, terms, plan):
        repeated = True
    elif plan.events or plan.first is not None:
        cost, after, repeated = session.quoted(plan)
    return plan, Price(
        *(plan.price, cost, left, after, repeated, plan.digest),
        expected(facts),
        units_needed(facts),
        cost == 0 or _affordable(session, plan),
        plan.steps,
        tuple(doubt["words"] for doubt in doubts),
        any(doubt["nothing"] for doubt in doubts),
    )


def _affordable(session: Session, plan: Plan) -> bool:
    try:
        session.afford(plan)
    except Error as error:
        if error.code != "D501":
            raise
        return False
    return True

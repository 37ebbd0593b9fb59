"""Price and explanation of a query, without asking it: reads no private row, debits nothing."""

from __future__ import annotations

from functools import partial

from dpsql.errors import Error
from dpsql.explain import expected, explain, units_needed
from dpsql.ir.explanation import Explanation
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.price import Price
from dpsql.ir.relation import Scan, names_of, scans
from dpsql.parse.parse import Query
from dpsql.planning import planned_query
from dpsql.policy.catalogue import Known
from dpsql.post.stages import types_of_stages
from dpsql.releasing import measure_text
from dpsql.session import Session
from dpsql.session.kept_plans import Prepared
from dpsql.stepwise import all_steps_paid
from dpsql.tighter_ranges import tighter_ranges

NOT_SHOWN = "-- not shown: it may name what the policy does not list for you"


def explained(session: Session, plan: Plan) -> Explanation:
    """Explain what a plan would release."""
    types_of_stages(plan.stages, session.sealed)
    sql_of = partial(_shown_sql, session, plan)
    return explain(plan, session.known, session.known.unit, sql_of, tighter_ranges(session, plan))


def _shown_sql(session: Session, plan: Plan, measure: MeasurePlan) -> str:
    """Return the SQL of a measure, unless it could name what does not exist for the analyst who asks."""
    text = measure_text(session, plan, measure)
    named = all(_is_shown(session.known, scan) for scan in scans(measure.measure.relation))
    return text if named else NOT_SHOWN


def _is_shown(known: Known, scan: Scan) -> bool:
    """Whether all that is read of a table, and on its path to the unit, exists for the analyst who asks."""
    read = {(scan.table, column.source) for column in scan.columns}
    if scan.owner is not None:
        holder = scan.table
        for link in scan.owner.links:
            read |= {(holder, name) for name in names_of(link.column)}
            read |= {(link.table, name) for name in names_of(link.key)}
            holder = link.table
        read |= {(holder, name) for name in names_of(scan.owner.column)}
    return all(known.shows(*each) for each in {(scan.table,), *read})


def priced_now(session: Session, query: Query, epsilon: float | None) -> tuple[Plan, Price]:
    """Return a query's plan, and what it would cost now."""
    session.sealed.begin()
    terms = session.terms(epsilon)
    return price_of(session, Prepared(query, terms, planned_query(session, query, terms)))


def price_of(session: Session, kept: Prepared) -> tuple[Plan, Price]:
    """Return a plan, and what it would cost now."""
    query, terms, plan = kept.query, kept.terms, kept.plan
    facts, left = explained(session, plan).to_dict(), session.remaining_for(plan)
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
        any(doubt["unmet"] for doubt in doubts),
    )


def _affordable(session: Session, plan: Plan) -> bool:
    try:
        session.afford(plan)
    except Error as error:
        if error.code != "D501":
            raise
        return False
    return True

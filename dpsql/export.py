"""Export: from a query to rows of randomized responses, which the owner gives away.

parse --> bind_export --> plan_export --> [pay] --> exact_export --> release_export --> rows and manifest
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.bind.export import bind_export, refuse_alert
from dpsql.errors import Error, refuse
from dpsql.ir.column import Value
from dpsql.ir.export import Export, ExportPlan, ExportQuery
from dpsql.ir.source import Source
from dpsql.plan.export import plan_export
from dpsql.plan.terms import Terms
from dpsql.planning import parsed, price_of_query
from dpsql.post.export import manifest, rows_of, types_of
from dpsql.release.export import release_export
from dpsql.release.release import from_system
from dpsql.release.serialization import export_from_bytes, export_to_bytes
from dpsql.session import Session


def export(session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None) -> Export:
    """Text -> Export: randomized rows. The columns' epsilons come on top of the query's own price."""
    query, terms = parsed(session, source, parameters), session.terms(epsilon)
    refuse_alert(query)
    if query.explained:
        raise refuse(
            "D104",
            "an export cannot be explained",
            help="it costs the query's price, which hides the number of rows, and each column's epsilon",
        )
    if query.epsilon is not None:
        terms = price_of_query(session, query.epsilon, source, terms)
    export_query = bind_export(query, session.known, session.sealed.public, session.sealed.check)
    plan = _export_plan(session, export_query, terms)
    receipt = session.pay(plan)
    if receipt.answer is None:
        exact = session.engine.exact_export(plan)
        with session.drawing():
            released = release_export(exact, plan, from_system)
            stored = session.store(receipt, export_to_bytes(released))
        session.drawing.heed()
    else:
        stored = receipt.answer
    repeated = receipt.answer is not None
    return Export(
        tuple(question.name for question in plan.questions),
        types_of(plan),
        rows_of(export_from_bytes(stored, plan), plan),
        manifest(plan, session.known.unit),
        plan.epsilon if receipt.charged else 0.0,
        session.remaining_for(plan),
        repeated,
    )


def _export_plan(session: Session, export_query: ExportQuery, terms: Terms) -> ExportPlan:
    """Plan an export; its whole price must be within the ceiling for one query."""
    try:
        plan = plan_export(export_query, terms, session.combinations)
        session.terms(plan.epsilon)
        session.engine.export_sql(plan)  # SQL that cannot be printed is refused before the debit
    except Error as error:
        raise error.within(export_query.source.text, export_query.source.name) from None
    return plan

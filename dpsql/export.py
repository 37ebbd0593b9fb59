"""From a text to rows that answer at random: the pipeline of what the owner gives away.

parse --> bind_survey --> plan_survey --> [pay] --> codes --> respond --> rows and how to count by them
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.bind.export import bind_export
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
    """Text -> Export: rows that answer at random. Its epsilons come on top of the query's own price."""
    query, terms = parsed(session, source, parameters), session.terms(epsilon)
    if query.explained:
        raise refuse(
            "D104",
            "an export is not explained",
            help="it costs the query's price, which hides the number of rows, and each column's epsilon",
        )
    if query.epsilon is not None:
        terms = price_of_query(session, query.epsilon, source, terms)
    export_query = bind_export(query, session.known, session.sealed.public, session.sealed.check)
    what = _export_plan(session, export_query, terms)
    receipt = session.pay(what)
    if receipt.answer is None:
        given = release_export(session.engine.exact_export(what), what, from_system)
        stored = session.store(receipt, export_to_bytes(given))
    else:
        stored = receipt.answer
    repeated = receipt.answer is not None
    return Export(
        tuple(each.name for each in what.questions),
        types_of(what),
        rows_of(export_from_bytes(stored, what), what),
        manifest(what, session.known.unit),
        0.0 if repeated else what.epsilon,
        session.remaining(),
        repeated,
    )


def _export_plan(session: Session, export_query: ExportQuery, terms: Terms) -> ExportPlan:
    """Nobody's ceiling is passed by asking several questions at once."""
    try:
        what = plan_export(export_query, terms, session.engine.values)
        session.terms(what.epsilon)
        session.engine.export_sql(what)  # what cannot be printed is not paid for
    except Error as error:
        raise error.within(export_query.source.text, export_query.source.name) from None
    return what

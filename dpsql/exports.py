"""From a text to rows that answer at random: the pipeline of what the owner gives away.

parse --> bind_survey --> plan_survey --> [pay] --> codes --> respond --> rows and how to count by them
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.bind.survey import bind_survey
from dpsql.errors import Error, refuse
from dpsql.ir.column import Value
from dpsql.ir.source import Source
from dpsql.ir.survey import Export, PlannedSurvey, Survey
from dpsql.office import Office
from dpsql.pipeline import parsed, said
from dpsql.plan.survey import plan_survey
from dpsql.plan.terms import Terms
from dpsql.post.responses import manifest, rows_of, types_of
from dpsql.release.release import from_system
from dpsql.release.responses import respond
from dpsql.release.stored import responses_from_bytes, responses_to_bytes


def export(office: Office, source: Source, parameters: Sequence[Value], epsilon: float | None) -> Export:
    """Text -> Export: rows that answer at random. Its epsilons come on top of the query's own price."""
    query, terms = parsed(office, source, parameters), office.terms(epsilon)
    if query.explained:
        raise refuse(
            "D104",
            "an export is not explained",
            help="it costs the query's price, which hides the number of rows, and each column's epsilon",
        )
    if query.epsilon is not None:
        terms = said(office, query.epsilon, source, terms)
    survey = bind_survey(query, office.known, office.sealed.public, office.sealed.check)
    what = _surveyed(office, survey, terms)
    receipt = office.pay(what)
    if receipt.answer is None:
        given = respond(office.engine.codes(what), what, from_system)
        stored = office.store(receipt, responses_to_bytes(given))
    else:
        stored = receipt.answer
    repeated = receipt.answer is not None
    return Export(
        tuple(each.name for each in what.questions),
        types_of(what),
        rows_of(responses_from_bytes(stored, what), what),
        manifest(what, office.known.unit),
        0.0 if repeated else what.epsilon,
        office.remaining(),
        repeated,
    )


def _surveyed(office: Office, survey: Survey, terms: Terms) -> PlannedSurvey:
    """Nobody's ceiling is passed by asking several questions at once."""
    try:
        what = plan_survey(survey, terms, office.engine.values)
        office.terms(what.epsilon)
        office.engine.codes_sql(what)  # what cannot be printed is not paid for
    except Error as error:
        raise error.within(survey.source.text, survey.source.name) from None
    return what

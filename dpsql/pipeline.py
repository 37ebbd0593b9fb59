"""From the text of a query to its answer: each step takes the value that the step before returned.

     text                                                                                         answer
      |                                                                                              ^
      v                                                                                              |
    parse --> bind --> rewrite --> plan --> [pay] --> measure --> release --> post-process ----------+
     Query    Split     Split      Plan    Receipt   ExactTable  ReleasedTable   Answer

Up to ``plan`` nothing is paid and no private row is read (planning.py): ``explain`` stops there. The debit is
durable before ``measure`` reads (releasing.py). The released tables are stored before anybody sees them, and
only the first ones are stored: a repeat on the same data shows them again, free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dpsql.accounting.entries import Stored
from dpsql.answer import Answer
from dpsql.errors import Error, InterfaceError
from dpsql.ir.bound import Bound
from dpsql.ir.column import Value
from dpsql.ir.heading import Heading
from dpsql.ir.plan import BoundSearchPlan, Plan
from dpsql.ir.source import Source
from dpsql.parse.named_statements import Access, Drop
from dpsql.parse.parse import Query
from dpsql.plan.bound_search import plan_again
from dpsql.plan.terms import Terms
from dpsql.planning import planned_query, prepared
from dpsql.post.stages import types_of_stages
from dpsql.release.serialization import to_bytes
from dpsql.releasing import (
    BOUGHT,
    answer_of,
    bought_answer,
    check_printable,
    measured_stages,
    release_stages,
    released,
    stored_release,
    tables_of,
)
from dpsql.session import Session
from dpsql.session.kept_plans import Prepared
from dpsql.stepwise import answer_in_steps, stored_steps
from dpsql.worth import check_worth, hopeless


def answer(
    session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None, anyway: bool = False
) -> Answer:
    """Text -> Answer. An EXPLAIN is answered with the explanation, line by line."""
    kept = prepared(session, source, parameters, epsilon)
    query, terms, plan = kept.query, kept.terms, kept.plan
    if query.explained:
        return _explanation_rows(session, plan)
    if query.alert is not None:
        from dpsql.alerts.answers import alert_answer

        return alert_answer(session, query, plan)
    types = _types(session, kept)
    if not plan.events:
        return _free_answer(session, kept, types)
    receipt = _answered_before(session, kept)
    if receipt is None:
        kept.once("printable", partial(check_printable, session, plan))
    if _complete_searches(session, plan.bounds, terms):
        kept = _planned_again(session, kept)
    query = replace(query, anyway=query.anyway or anyway)
    if kept.plan.steps:
        return answer_in_steps(session, query, terms, kept.plan, _types(session, kept), session.pay)
    if kept.once("hopeless", partial(hopeless, session, kept.plan)) is not None:
        check_worth(session, query, terms, kept.plan)
    search_cost, said = 0.0, list[str]()
    for _ in range(2):  # ranges and rows first, then the clip
        first = kept.plan.first
        if first is None:
            break
        session.afford(kept.plan)
        search_cost += _find_bounds(session, first)
        said += [missing.said for missing in first.missing_bounds]
        kept = _planned_again(session, kept)
        _types(session, kept)
        check_printable(session, kept.plan)
        paid = (
            f"epsilon {search_cost:.6g} was paid for the {' and the '.join(said)}: later queries use it free"
        )
        check_worth(session, query, terms, kept.plan, paid if search_cost else "")
    same, plan, types = kept.plan is plan, kept.plan, _types(session, kept)
    assert plan.first is None, "found bounds are known"
    session.sealed.begin()
    receipt = (receipt if same else None) or session.pay(plan)
    repeated = receipt.answer is not None
    stored, made = stored_release(session, plan, receipt)
    cost = search_cost + (plan.epsilon if receipt.charged else 0.0)
    _conclude(session, query, plan, receipt)
    if query.view is not None:
        return bought_answer(session, plan, made or tables_of(plan, stored), cost, repeated)
    shown = kept.shown(stored)
    if shown is not None:
        return replace(shown, cost=cost, remaining=session.remaining_for(plan), repeated=repeated)
    shown = answer_of(session, plan, made or tables_of(plan, stored), types, cost, repeated)
    kept.show(stored, shown)
    return shown


def headings(
    session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None
) -> tuple[Heading, ...]:
    """Return the columns of what ``answer`` would return. Nothing is paid, and no private row is read."""
    kept = prepared(session, source, parameters, epsilon)
    if kept.query.explained:
        return (Heading("explain", "VARCHAR"),)
    if kept.query.view is not None and kept.plan.events:
        return BOUGHT
    post = kept.plan.stages[-1].post
    computed = () if post.replicated is None else post.replicated.places
    noised = {*computed, *post.without, *(at for at, place in enumerate(post.margins) if place is not None)}
    pairs = zip(post.columns, _types(session, kept), strict=False)  # half-widths follow the columns
    return tuple(Heading(name, sql, at in noised) for at, (name, sql) in enumerate(pairs))


def stored_answer(
    session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None
) -> Answer | None:
    """Return the answer if this very analyst has paid for it, or if it costs nothing; else None.

    Nothing is paid and no private row is read, not even for an answer that was paid for and interrupted. What
    ``answer`` would refuse before its debit is refused.
    """
    kept = prepared(session, source, parameters, epsilon)
    query, terms, plan = kept.query, kept.terms, kept.plan
    if query.explained:
        return _explanation_rows(session, plan)
    if isinstance(query.view or query.alert, Drop | Access):
        raise InterfaceError("this statement changes a name, and nothing is changed here", help="execute it")
    if query.alert is not None:
        from dpsql.alerts.answers import stored_alert

        return stored_alert(session, query, plan)
    types = _types(session, kept)
    if not plan.events and plan.first is None:
        return _free_answer(session, kept, types)
    check_printable(session, plan)
    if plan.steps:
        return stored_steps(session, query, terms, plan)
    receipt = None if plan.first is not None else session.answered(plan)
    if receipt is not None and receipt.answer is not None:
        tables = tables_of(plan, receipt.answer)
        if query.view is not None:
            return bought_answer(session, plan, tables, cost=0.0, repeated=True)
        return answer_of(session, plan, tables, types, cost=0.0, repeated=True)
    check_worth(session, query, terms, plan)
    if session.stored(plan) is None:
        session.afford(plan)
    return None


def _answered_before(session: Session, kept: Prepared) -> Stored | None:
    """Return the receipt of a plan that has its answer: its SQL was printed before it was paid for.

    It is looked for where it is likely, or where it spares printing.
    """
    plan = kept.plan
    if plan.first is not None or plan.steps or (kept.knows("printable") and not kept.was_answered):
        return None
    return session.answered(plan)


def _free_answer(session: Session, kept: Prepared, types: list[str]) -> Answer:
    """Answer what costs nothing: public rows, and statements about private views."""
    if kept.query.view is not None:
        from dpsql.private_views import check_own

        try:
            check_own(session, kept.query)
        except Error as error:
            raise error.within(kept.query.source.text, kept.query.source.name) from None
    tables = release_stages(session, kept.plan)  # of public keys at most: no private row is read
    _conclude(session, kept.query, kept.plan, None)
    return answer_of(session, kept.plan, tables, types, cost=0.0, repeated=False)


def _conclude(session: Session, query: Query, plan: Plan, receipt: Stored | None) -> None:
    """Note what has become of a private view; of other queries there is nothing to note."""
    if query.view is not None or any(measure.measure.view is not None for measure in plan.measures):
        from dpsql.private_views import conclude

        conclude(session, query, plan, receipt)


def _planned_again(session: Session, kept: Prepared) -> Prepared:
    """Plan once more, with the bounds that have been found since."""
    return Prepared(kept.query, kept.terms, planned_query(session, kept.query, kept.terms))


def _types(session: Session, kept: Prepared) -> list[str]:
    return kept.once("types", lambda: types_of_stages(kept.plan.stages, session.sealed))


def _complete_searches(session: Session, bounds: Sequence[Bound], terms: Terms) -> bool:
    """Complete interrupted searches for these bounds that are already paid for; whether there were any."""
    searches = {
        search.debit.debit_id: search for bound in bounds for search in session.searches(bound.missing)
    }
    for search in searches.values():
        own = [bound.missing for bound in bounds]
        plan = plan_again(search.finds, session.known, search.strength, own)
        if plan is not None and terms.accountant.charge(plan.events).within(search.debit.price):
            draw = measured_stages(session, plan)
            with session.drawing():
                session.store(search.debit, to_bytes(draw()))
            session.drawing.heed()
    return bool(searches)


def _find_bounds(session: Session, first: BoundSearchPlan) -> float:
    """Pay for a bound search and run it; return what was paid now."""
    receipt = session.pay(first.plan, first)
    released(session, first.plan, receipt)
    return first.plan.epsilon if receipt.charged else 0.0


def _explanation_rows(session: Session, plan: Plan) -> Answer:
    from dpsql.pricing import explained  # what explains loads with an EXPLAIN

    rows: list[tuple[object, ...]] = [(line,) for line in str(explained(session, plan)).split("\n")]
    margins: list[tuple[float | None, ...]] = [(None,)] * len(rows)
    return Answer(("explain",), ("VARCHAR",), rows, margins, 0.0, session.remaining(), False, "")

"""The whole way from a text to an answer, each call taking the value that the one before returned.

     text                                                                                         answer
      |                                                                                              ^
      v                                                                                              |
    parse --> bind --> rewrite --> plan --> [pay] --> measure --> release --> post-process ----------+
     Query    Split     Split      Plan    Receipt   ExactTable  ReleasedTable   Answer

Up to ``plan`` nothing has been paid and no private row was read (planning.py): that is all ``explain``
does. The debit is durable before ``measure`` reads (releasing.py). The released tables are stored before
anybody sees them, and the first ones stored are the only ones: asked again on the same data, they come
back as they were, free.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.answer import Answer
from dpsql.ir.bound import Bound
from dpsql.ir.column import Value
from dpsql.ir.explanation import Explanation
from dpsql.ir.plan import BoundSearchPlan
from dpsql.ir.source import Source
from dpsql.plan.bound_search import plan_again
from dpsql.plan.terms import Terms
from dpsql.planning import parsed, planned_query
from dpsql.post.stages import types_of_stages
from dpsql.pricing import explained
from dpsql.release.serialization import to_bytes
from dpsql.releasing import answer_of, check_printable, release_stages, released
from dpsql.session import Session
from dpsql.stepwise import answer_in_steps


def answer(session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None) -> Answer:
    """Text -> Answer. Of an EXPLAIN it is the explanation, line by line."""
    query, terms = parsed(session, source, parameters), session.terms(epsilon)
    plan = planned_query(session, query, terms)
    if query.explained:
        return _explanation_rows(session, explained(session, plan))
    types = types_of_stages(plan.stages, session.sealed)
    if not plan.events:
        tables = release_stages(session, plan)  # of public keys, if there are any: no private row is read
        return answer_of(session, plan, tables, types, cost=0.0, repeated=False)
    check_printable(session, plan)
    if _complete_searches(session, plan.bounds, terms):
        plan = planned_query(session, query, terms)
        types = types_of_stages(plan.stages, session.sealed)
    if plan.steps:
        return answer_in_steps(session, query, terms, plan, types, session.pay)
    found = 0.0
    if plan.first is not None:
        session.afford(plan)
        found = _find_bounds(session, plan.first)
        plan = planned_query(session, query, terms)
        assert plan.first is None, "what was found is known"
        types = types_of_stages(plan.stages, session.sealed)
        check_printable(session, plan)
    session.sealed.begin()
    receipt = session.pay(plan)
    repeated = receipt.answer is not None
    tables = released(session, plan, receipt)
    cost = found if repeated and not receipt.joined else found + plan.epsilon
    return answer_of(session, plan, tables, types, cost, repeated)


def _complete_searches(session: Session, bounds: Sequence[Bound], terms: Terms) -> bool:
    """Answer the searches for these bounds that somebody has paid for and that were interrupted."""
    searches = {each.debit.debit_id: each for bound in bounds for each in session.searches(bound.missing)}
    for each in searches.values():
        plan = plan_again(each.finds, session.known, each.strength)
        if plan is not None and terms.accountant.charge(plan.events).within(each.debit.price):
            session.store(each.debit, to_bytes(release_stages(session, plan)))
    return bool(searches)


def _find_bounds(session: Session, first: BoundSearchPlan) -> float:
    """Find bounds, paying for them first; how much was paid now."""
    receipt = session.pay(first.plan, first)
    released(session, first.plan, receipt)
    return first.plan.epsilon if receipt.answer is None or receipt.joined else 0.0


def _explanation_rows(session: Session, explanation: Explanation) -> Answer:
    rows: list[tuple[object, ...]] = [(line,) for line in str(explanation).split("\n")]
    margins: list[tuple[float | None, ...]] = [(None,)] * len(rows)
    return Answer(("explain",), ("VARCHAR",), rows, margins, 0.0, session.remaining(), False, "")

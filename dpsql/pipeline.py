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
from dpsql.worth import check_worth


def answer(
    session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None, anyway: bool = False
) -> Answer:
    """Text -> Answer. An EXPLAIN is answered with the explanation, line by line."""
    query, terms = parsed(session, source, parameters), session.terms(epsilon)
    query = replace(query, anyway=query.anyway or anyway)
    plan = planned_query(session, query, terms)
    if query.explained:
        return _explanation_rows(session, explained(session, plan))
    types = types_of_stages(plan.stages, session.sealed)
    if not plan.events:
        tables = release_stages(session, plan)  # of public keys at most: no private row is read
        return answer_of(session, plan, tables, types, cost=0.0, repeated=False)
    check_printable(session, plan)
    if _complete_searches(session, plan.bounds, terms):
        plan = planned_query(session, query, terms)
        types = types_of_stages(plan.stages, session.sealed)
    if plan.steps:
        return answer_in_steps(session, query, terms, plan, types, session.pay)
    check_worth(session, query, terms, plan)
    search_cost, said = 0.0, list[str]()
    for _ in range(2):  # ranges and rows first, then the clip
        if plan.first is None:
            break
        session.afford(plan)
        search_cost += _find_bounds(session, plan.first)
        said += [missing.said for missing in plan.first.missing_bounds]
        plan = planned_query(session, query, terms)
        types = types_of_stages(plan.stages, session.sealed)
        check_printable(session, plan)
        paid = (
            f"epsilon {search_cost:.6g} was paid for the {' and the '.join(said)}: later queries use it free"
        )
        check_worth(session, query, terms, plan, paid if search_cost else "")
    assert plan.first is None, "found bounds are known"
    session.sealed.begin()
    receipt = session.pay(plan)
    repeated = receipt.answer is not None
    tables = released(session, plan, receipt)
    cost = search_cost if repeated and not receipt.joined else search_cost + plan.epsilon
    return answer_of(session, plan, tables, types, cost, repeated)


def _complete_searches(session: Session, bounds: Sequence[Bound], terms: Terms) -> bool:
    """Complete interrupted searches for these bounds that are already paid for; whether there were any."""
    searches = {
        search.debit.debit_id: search for bound in bounds for search in session.searches(bound.missing)
    }
    for search in searches.values():
        own = [bound.missing for bound in bounds]
        plan = plan_again(search.finds, session.known, search.strength, own)
        if plan is not None and terms.accountant.charge(plan.events).within(search.debit.price):
            session.store(search.debit, to_bytes(release_stages(session, plan)))
    return bool(searches)


def _find_bounds(session: Session, first: BoundSearchPlan) -> float:
    """Pay for a bound search and run it; return what was paid now."""
    receipt = session.pay(first.plan, first)
    released(session, first.plan, receipt)
    return first.plan.epsilon if receipt.answer is None or receipt.joined else 0.0


def _explanation_rows(session: Session, explanation: Explanation) -> Answer:
    rows: list[tuple[object, ...]] = [(line,) for line in str(explanation).split("\n")]
    margins: list[tuple[float | None, ...]] = [(None,)] * len(rows)
    return Answer(("explain",), ("VARCHAR",), rows, margins, 0.0, session.remaining(), False, "")

"""OPTIONS(within = '5%'): one paid release after the other, until what they say together is near enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsql.accounting.entries import Stored
from dpsql.answer import Answer
from dpsql.errors import Error
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ReleasedTable
from dpsql.parse.parse import Query
from dpsql.plan.terms import Terms
from dpsql.planning import bounds_at_any_price, planned_at
from dpsql.post.accuracy_steps import affordable, confidence_of, reached, together
from dpsql.post.stages import types_of_stages
from dpsql.releasing import answer_of, released
from dpsql.session import Session


def answer_in_steps(
    session: Session, query: Query, terms: Terms, plan: Plan, types: list[str], pay: Callable[[Plan], Stored]
) -> Answer:
    """Release at one price after the other; what all releases tell together is the answer."""
    goal, done = plan.goal, list[tuple[MeasurePlan, ReleasedTable]]()
    spent = paid = terms.accountant.zero
    assert goal is not None
    repeated, confidence = True, confidence_of(goal, plan.steps)
    shown: Answer | None = None
    session.sealed.begin()
    for price in plan.steps:
        step = planned_at(session, query, replace(terms, epsilon=price), bounds_at_any_price(session, terms))
        after = affordable(spent, step, terms, session.ceiling)
        if after is None:
            break
        try:
            receipt = pay(step)
        except Error as error:
            if shown is None or error.code not in ("D501", "D510"):  # what was told stays told
                raise
            break
        if receipt.answer is None or receipt.joined:
            paid += terms.accountant.charge(step.events)
        repeated = repeated and receipt.answer is not None
        (measure,), (table,) = step.measures, released(session, step, receipt)
        spent = after
        done.append((measure, table))
        measure, table = together(done)
        stage = replace(step.stages[0], measures=(measure,))
        cost = terms.accountant.epsilon(paid, terms.budget)
        whole = replace(step, stages=(stage,))
        shown = answer_of(session, whole, [table], types, cost, repeated, confidence)
        if reached(goal, shown, stage.post.margins):
            return replace(shown, note=f"Within {goal} after {len(done)} of {len(plan.steps)} steps.")
    assert shown is not None, "a step costs less than all"
    note = f"Not within {goal}: this is what {len(done)} steps tell, and there is no price for another."
    return replace(shown, note=note)


def all_steps_paid(session: Session, query: Query, terms: Terms, plan: Plan) -> bool:
    """Whether all steps that a query takes are in the ledger, so that it goes the same way free."""

    def pay(step: Plan) -> Stored:
        before = session.stored(step)
        if before is None or before.answer is None:
            raise LookupError
        return before

    try:
        answer_in_steps(session, query, terms, plan, types_of_stages(plan.stages, session.sealed), pay)
    except LookupError:
        return False
    return True

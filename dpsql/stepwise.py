"""OPTIONS(within = '5%'): paid releases, one after the other, until their average is accurate enough."""

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
from dpsql.post.accuracy_confidence import confidences_of
from dpsql.post.accuracy_steps import affordable, averaged, reached, together
from dpsql.post.stages import types_of_stages
from dpsql.releasing import answer_of, released
from dpsql.session import Session


def answer_in_steps(
    session: Session, query: Query, terms: Terms, plan: Plan, types: list[str], pay: Callable[[Plan], Stored]
) -> Answer:
    """Release at one price after the other; combine all releases into the answer."""
    goal, done = plan.goal, list[tuple[MeasurePlan, ReleasedTable]]()
    spent = paid = terms.accountant.zero
    assert goal is not None
    steps = [_step(session, query, terms, price) for price in plan.steps]
    measures = [measure for step in steps for measure in step.measures]
    releases = [averaged(measures[: place + 1]) for place in range(len(measures))]
    repeated, confidences = True, confidences_of(goal, releases)
    shown: Answer | None = None
    session.sealed.begin()
    for step, confidence in zip(steps, confidences, strict=True):
        after = affordable(spent, step, terms, session.ceiling)
        if after is None:
            break
        try:
            receipt = pay(step)
        except Error as error:
            if shown is None or error.code not in ("D501", "D510"):  # an answer so far is shown all the same
                raise
            break
        if receipt.charged:
            paid += terms.accountant.charge(step.events)
        repeated = repeated and receipt.answer is not None
        (measure,), (table,) = step.measures, released(session, step, receipt)
        spent = after
        done.append((measure, table))
        measure, table = together(done)
        stage = replace(step.stages[0], measures=(measure,))
        cost = terms.accountant.epsilon(paid, terms.budget)
        combined = replace(step, stages=(stage,))
        shown = answer_of(session, combined, [table], types, cost, repeated, confidence)
        if reached(goal, shown, stage.post.margins):
            return replace(shown, note=f"Within {goal} after {len(done)} of {len(plan.steps)} steps.")
    assert shown is not None, "the first step costs less than all"
    note = f"Not within {goal} after {len(done)} steps: the price does not pay for another."
    return replace(shown, note=note)


def _step(session: Session, query: Query, terms: Terms, price: float) -> Plan:
    return planned_at(session, query, replace(terms, epsilon=price), bounds_at_any_price(session, terms))


def all_steps_paid(session: Session, query: Query, terms: Terms, plan: Plan) -> bool:
    """Whether all steps of a query are in the ledger, so that a repeat is free."""
    return stored_steps(session, query, terms, plan) is not None


def stored_steps(session: Session, query: Query, terms: Terms, plan: Plan) -> Answer | None:
    """Return the answer of steps that are all in the ledger; None if one of them is not."""

    def pay(step: Plan) -> Stored:
        receipt = session.stored(step)
        if receipt is None or receipt.answer is None:
            raise LookupError
        return receipt

    if session.stored(_step(session, query, terms, plan.steps[0])) is None:
        return None  # before all the others are planned
    try:
        types = types_of_stages(plan.stages, session.sealed)
        return answer_in_steps(session, query, terms, plan, types, pay)
    except LookupError:
        return None

"""The whole way from a text to an answer, each call taking the value that the one before returned.

     text                                                                                         answer
      |                                                                                              ^
      v                                                                                              |
    parse --> bind --> rewrite --> plan --> [pay] --> measure --> release --> post-process ----------+
     Query    Split     Split      Plan    Receipt   ExactTable  ReleasedTable   Answer

Up to ``plan`` nothing has been paid and no private row was read: that is all ``explain`` does. The debit
is durable before ``measure`` reads. The released tables are stored before anybody sees them, and the
first ones stored are the only ones: asked again on the same data, they come back as they were, free.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from dpsql.accounting.entries import Stored
from dpsql.answer import Answer
from dpsql.bind.export import refuse_randomized_response
from dpsql.bind.split import bind
from dpsql.errors import Error, refuse
from dpsql.explain import expected, explain, units_needed
from dpsql.ir.bound import Bound, MissingBound
from dpsql.ir.column import Value
from dpsql.ir.explanation import Explanation
from dpsql.ir.options import Goal, Option
from dpsql.ir.plan import BoundSearchPlan, MeasurePlan, Plan
from dpsql.ir.price import Price
from dpsql.ir.source import Source
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.parse.parse import Query, parse
from dpsql.plan.bound_lookup import Lookup, bounded
from dpsql.plan.bound_search import asker_of, bound_search_plan, good_enough, plan_again
from dpsql.plan.bound_search_price import worth_finding
from dpsql.plan.plan import plan
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known
from dpsql.post.accuracy_price import priced
from dpsql.post.accuracy_steps import affordable, confidence_of, reached, together
from dpsql.post.margins import CONFIDENCE
from dpsql.post.notes import note_on
from dpsql.post.stages import StageOutputs, types_of_stages
from dpsql.release.release import from_system, release
from dpsql.release.second_round import in_rounds
from dpsql.release.serialization import from_bytes, to_bytes
from dpsql.rewrite import rewrite
from dpsql.session import Session


def planned(
    session: Session,
    source: Source,
    parameters: Sequence[Value],
    terms: Terms,
    lookup: Lookup | None = None,
) -> Plan:
    """Text -> Plan. Reads no private row and costs nothing. Bounds are the ledger's unless told otherwise."""
    return _planned(session, parsed(session, source, parameters), parameters, terms, lookup)


def parsed(session: Session, source: Source, parameters: Sequence[Value]) -> Query:
    session.sealed.begin()
    return parse(replace(source, parameters=tuple(parameters)), parameters, session.now())


def _planned(
    session: Session,
    query: Query,
    parameters: Sequence[Value],
    terms: Terms,
    lookup: Lookup | None = None,
) -> Plan:
    refuse_randomized_response(query)
    if query.goal is not None:
        return _within(session, query, query.goal, parameters, terms, lookup)
    if query.epsilon is not None:
        terms = said(session, query.epsilon, query.source, terms)
    what = _at(session, query, parameters, terms, lookup)
    if what.first is not None:
        worth_finding(what.first, session.known, terms)
    return what


def _within(
    session: Session,
    query: Query,
    goal: Goal,
    parameters: Sequence[Value],
    terms: Terms,
    lookup: Lookup | None,
) -> Plan:
    """The plan at the least price for an accuracy."""

    def plan_at(price: float) -> Plan:
        what = _at(
            session, query, parameters, replace(terms, epsilon=price), lookup or _at_any(session, terms)
        )
        if what.first is not None:
            raise refuse(
                "D301",
                "nobody knows yet how accurate this is",
                goal.span,
                label=f"nothing says the {' or the '.join(each.said for each in what.first.missing_bounds)}",
                help=f"ask it once at a price, OPTIONS(epsilon = {terms.epsilon:g}): "
                "what is found serves this query too",
            )
        return what

    try:
        if terms.given:
            raise refuse(
                "D503",
                "the call says a price, and the query an accuracy",
                goal.span,
                label="each follows from the other",
                help="say one of them; EXPLAIN tells what the accuracy costs",
            )
        return priced(goal, plan_at, terms, session.least, session.ceiling)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None


def _at(
    session: Session, query: Query, parameters: Sequence[Value], terms: Terms, lookup: Lookup | None
) -> Plan:
    def make(known: Known, share: Fraction) -> Plan:
        split = rewrite(bind(query, known, session.sealed.public, session.sealed.check), known)
        return plan(split, known, replace(terms, share=share), session.engine.values)

    asker = asker_of(query.source, parameters, terms.epsilon)

    def usable(missing: MissingBound) -> Bound | None:
        return good_enough(session.bounds(missing), asker, terms)

    ours = Lookup(session.find_bounds, usable, lambda: session.asked(asker))
    what, bounds = bounded(make, session.known, lookup or ours)
    # what is free rests on no bounds, though they may have been missed on the way to it
    missing = [each.missing for each in bounds if not each.found and what.events]
    first = bound_search_plan(missing, session.known, query.source, asker, terms) if missing else None
    return replace(what, bounds=bounds, first=first)


def _at_any(session: Session, terms: Terms) -> Lookup:
    """The same bounds at any price: those that are good enough for the usual one."""
    return Lookup(
        session.find_bounds, lambda missing: good_enough(session.bounds(missing), "", terms), lambda: False
    )


def said(session: Session, price: Option, source: Source, terms: Terms) -> Terms:
    try:
        return session.said(terms, price)
    except Error as error:
        raise error.within(source.text, source.name) from None


def answer(session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None) -> Answer:
    """Text -> Answer. Of an EXPLAIN it is the explanation, line by line."""
    query, terms = parsed(session, source, parameters), session.terms(epsilon)
    what = _planned(session, query, parameters, terms)
    if query.explained:
        return _explanation_rows(session, explained(session, what))
    types = types_of_stages(what.stages, session.sealed)
    if not what.events:
        tables = _released(session, what)  # of public keys, if there are any: no private row is read for them
        return _post(session, what, tables, types, cost=0.0, repeated=False)
    _printable(session, what)  # what cannot be printed is not paid for
    if _completed(session, what.bounds, terms):
        what = _planned(session, query, parameters, terms)
        types = types_of_stages(what.stages, session.sealed)
    if what.steps:
        return _stepwise(session, query, parameters, terms, what, types, session.pay)
    found = 0.0
    if what.first is not None:
        session.afford(what)
        found = _found(session, what.first)
        what = _planned(session, query, parameters, terms)
        assert what.first is None, "what was found is known"
        types = types_of_stages(what.stages, session.sealed)
        _printable(session, what)
    session.sealed.begin()
    measures = [each for stage in what.stages for each in stage.measures]
    receipt = session.pay(what)
    repeated = receipt.answer is not None
    if receipt.answer is None:
        stored = session.store(receipt, to_bytes(_released(session, what, receipt)))
    else:
        stored = receipt.answer
    tables = from_bytes(stored, [each.measure.width for each in measures])
    cost = found if repeated and not receipt.joined else found + what.epsilon
    return _post(session, what, tables, types, cost, repeated)


def _stepwise(
    session: Session,
    query: Query,
    parameters: Sequence[Value],
    terms: Terms,
    what: Plan,
    types: list[str],
    pay: Callable[[Plan], Stored],
) -> Answer:
    """One paid release after the other, until what they say together is near enough."""
    goal, done = what.goal, list[tuple[MeasurePlan, ReleasedTable]]()
    spent = paid = terms.accountant.zero
    assert goal is not None
    repeated, confidence = True, confidence_of(goal, what.steps)
    shown: Answer | None = None
    session.sealed.begin()
    for price in what.steps:
        step = _at(session, query, parameters, replace(terms, epsilon=price), _at_any(session, terms))
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
        stored = receipt.answer or session.store(receipt, to_bytes(_released(session, step, receipt)))
        (planned,) = step.stages[0].measures
        (table,) = from_bytes(stored, [planned.measure.width])
        spent = after
        done.append((planned, table))
        each, table = together(done)
        stage = replace(step.stages[0], measures=(each,))
        cost = terms.accountant.epsilon(paid, terms.budget)
        shown = _post(session, replace(step, stages=(stage,)), [table], types, cost, repeated, confidence)
        if reached(goal, shown, stage.post.margins):
            note = f"Within {goal} after {len(done)} of {len(what.steps)} steps."
            return replace(shown, note=note)
    assert shown is not None, "a step costs less than all"
    note = f"Not within {goal}: this is what {len(done)} steps tell, and there is no price for another."
    return replace(shown, note=note)


def _taken_before(
    session: Session, query: Query, parameters: Sequence[Value], terms: Terms, what: Plan
) -> bool:
    """Whether all steps that a query takes are in the ledger, so that it goes the same way free."""

    def pay(step: Plan) -> Stored:
        before = session.stored(step)
        if before is None or before.answer is None:
            raise LookupError
        return before

    try:
        types = types_of_stages(what.stages, session.sealed)
        _stepwise(session, query, parameters, terms, what, types, pay)
    except LookupError:
        return False
    return True


def _printable(session: Session, what: Plan) -> None:
    measures = [each for stage in what.stages for each in stage.measures]
    for each in [*measures, *(what.first.measures if what.first is not None else ())]:
        _printed(session, what, each)


def _printed(session: Session, what: Plan, each: MeasurePlan) -> str:
    try:
        return session.engine.measure_sql(each)
    except Error as error:
        raise error.within(what.source.text, what.source.name) from None


def _completed(session: Session, bounds: Sequence[Bound], terms: Terms) -> bool:
    """Answer the searches for these bounds that somebody has paid for and that were interrupted."""
    searches = {each.debit.debit_id: each for bound in bounds for each in session.searches(bound.missing)}
    for each in searches.values():
        plan = plan_again(each.finds, session.known, each.strength)
        if plan is not None and terms.accountant.charge(plan.events).within(each.debit.price):
            session.store(each.debit, to_bytes(_released(session, plan)))
    return bool(searches)


def _found(session: Session, first: BoundSearchPlan) -> float:
    """Find bounds, paying for them first; how much was paid now."""
    receipt = session.pay(first.plan, first)
    if receipt.answer is None:
        session.store(receipt, to_bytes(_released(session, first.plan, receipt)))
    return first.plan.epsilon if receipt.answer is None or receipt.joined else 0.0


def explained(session: Session, what: Plan) -> Explanation:
    """What a plan would release. Reads no row and costs nothing."""
    types_of_stages(what.stages, session.sealed)
    return explain(what, session.known, session.known.unit, partial(_printed, session, what))


def priced_now(
    session: Session, query: Query, parameters: Sequence[Value], epsilon: float | None
) -> tuple[Plan, Price]:
    """A query's plan, and what it would cost at this moment. Reads no private row and costs nothing."""
    session.sealed.begin()
    terms = session.terms(epsilon)
    what = _planned(session, query, parameters, terms)
    facts, left = explained(session, what).to_dict(), session.remaining()
    cost, after, repeated = 0.0, left, False
    if what.steps and _taken_before(session, query, parameters, terms, what):
        repeated = True
    elif what.events or what.first is not None:
        cost, after, repeated = session.quoted(what)
    return what, Price(
        *(what.price, cost, left, after, repeated, what.digest),
        expected(facts),
        units_needed(facts),
        cost == 0 or _affordable(session, what),
        what.steps,
    )


def _affordable(session: Session, what: Plan) -> bool:
    try:
        session.afford(what)
    except Error as error:
        if error.code != "D501":
            raise
        return False
    return True


def _explanation_rows(session: Session, explanation: Explanation) -> Answer:
    rows: list[tuple[object, ...]] = [(line,) for line in str(explanation).split("\n")]
    margins: list[tuple[float | None, ...]] = [(None,)] * len(rows)
    return Answer(("explain",), ("VARCHAR",), rows, margins, 0.0, session.remaining(), False, "")


def _released(session: Session, what: Plan, receipt: Stored | None = None) -> list[ReleasedTable]:
    """The only place where exact numbers live: between measure and release.

    What the rest rests on is kept before the rest is done: that may fail with it, and would tell of fresh
    noise each time that somebody asks again.
    """
    tables, so_far, places = [], StageOutputs(session.sealed), itertools.count()

    def one(each: MeasurePlan, early: bool) -> ReleasedTable:
        if receipt is None or not (early or each.again is not None):
            return _one_release(session, each)
        place = next(places)
        kept = session.part(receipt, place)
        if kept is None:
            kept = session.keep(receipt, place, to_bytes([_one_release(session, each)]))
        return from_bytes(kept, [each.measure.width])[0]

    for stage in what.stages:
        for each in stage.measures:
            tables.append(in_rounds(so_far.ready(each), partial(one, early=stage.awaited is not None)))
            so_far.add(each, tables[-1])
        so_far.hand_down(stage)
    return tables


def _one_release(session: Session, each: MeasurePlan) -> ReleasedTable:
    exact: ExactTable = session.engine.measure(each)
    return release(exact, each, from_system)


def _post(
    session: Session,
    what: Plan,
    tables: list[ReleasedTable],
    types: list[str],
    cost: float,
    repeated: bool,
    confidence: float = CONFIDENCE,
) -> Answer:
    stage, so_far = what.stages[-1], StageOutputs(session.sealed, confidence)
    for each, table in zip((each for stage in what.stages for each in stage.measures), tables, strict=True):
        so_far.add(each, table)
    rows = so_far.answer(stage, types)
    width = len(stage.post.columns)
    widths = [[None if place is None else row[place] for place in stage.post.margins] for row in rows]
    return Answer(
        stage.post.columns,
        tuple(types[:width]),
        [row[:width] for row in rows],
        [tuple(None if each is None or math.isinf(each) else float(each) for each in row) for row in widths],
        cost,
        session.remaining(),
        repeated,
        note_on(what, session.known.unit),
        tuple(at for at in range(width) if any(row[at] == math.inf for row in widths)),
    )

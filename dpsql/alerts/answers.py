"""What a statement about an alert does, and the outcome of a question.

    CREATE    pay -> draw the thresholds -> store them -> name the debit
    question  is it answered? can it be? -> pay, if it was lent -> has it ended? -> measure -> add noise
              -> in the ledger, nobody else writing: compare with the present threshold, store the outcome
              -> show it

The noisy number exists between ``_noisy`` and the comparison alone, as exact numbers do; thresholds are in
the ledger, and in no answer.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial

from dpsql.accounting.entries import Stored
from dpsql.accounting.named_alerts import (
    NamedAlert,
    Outcome,
    alert_access,
    alert_content,
    dropped_alert,
)
from dpsql.alerts.names import own_alert, readable_alert, unknown
from dpsql.answer import Answer
from dpsql.errors import Error, refuse
from dpsql.ir.alert import AlertPlan
from dpsql.ir.plan import AlertQuestion, Plan
from dpsql.ir.source import Span
from dpsql.mechanisms import above_threshold, sampler
from dpsql.parse.alert_statements import AlertAccess, AskAlert, CreateAlert, DropAlert
from dpsql.parse.parse import Query
from dpsql.policy.names import perhaps
from dpsql.release.release import from_system, release
from dpsql.session import Session


def alert_answer(session: Session, query: Query, plan: Plan) -> Answer:
    """Do what a statement about an alert says, or answer a question."""
    match query.alert:
        case CreateAlert() as statement:
            return _create(session, statement, plan)
        case AskAlert() as statement:
            return _ask(session, query, statement, plan)
        case DropAlert(name=name, at=at):
            named = _own(session, query, name, at)
            session.ledger.note_view(dropped_alert(session.payer, named.name))
            return _said(session, named.name, "dropped")
        case AlertAccess() as statement:
            return _lend(session, query, statement)
    raise AssertionError("the query is about an alert")


def stored_alert(session: Session, query: Query, plan: Plan) -> Answer | None:
    """Return what ``alert_answer`` would, if it is paid for and stored; else None. Nothing is changed."""
    match query.alert:
        case CreateAlert() as statement if _is_named(session, statement.name, plan):
            receipt = session.answered(plan)
            if receipt is not None and receipt.answer is not None:
                return _create(session, statement, plan)
        case AskAlert() as statement:
            receipt = session.answered(plan)
            found = None if receipt is None else _stored_outcome(session, receipt, plan)
            if receipt is not None and found is not None:
                return _outcome(session, statement, plan, found, 0.0, repeated=True)
            _check_question(session, query, statement, plan)
    if session.stored(plan) is None:
        session.afford(plan)
    return None


# ---- buying ----------------------------------------------------------------------------------------------


def _create(session: Session, statement: CreateAlert, plan: Plan) -> Answer:
    assert plan.alert is not None
    receipt = session.answered(plan) or session.pay(plan)
    paid_now = receipt.answer is None
    if paid_now:
        session.store(receipt, _thresholds(plan.alert))
    if not _is_named(session, statement.name, plan):
        own = own_alert(session, statement.name)
        each = plan.epsilon / plan.alert.alert.times
        price = statement.epsilon.value if statement.epsilon is not None else each
        assert isinstance(price, int | float)
        alert = plan.alert.alert
        named = NamedAlert(
            *(statement.name, session.payer, own.generation, receipt.debit_id, plan.digest),
            *(float(price), plan.alert.epsilon0, alert),
        )
        content = alert_content(session.payer, statement.name, receipt.debit_id, named)
        session.ledger.note_view(content, None if paid_now else session.room)
    cost = plan.epsilon if paid_now or receipt.joined else 0.0
    row = (statement.name, plan.alert.alert.above, "bought" if paid_now else "bought before")
    titles, types = plan.stages[-1].post.columns, ("VARCHAR", "DOUBLE", "VARCHAR")
    left = session.remaining_for(plan)
    return Answer(titles, types, [row], [(None,) * 3], cost, left, not paid_now)


def _thresholds(planned: AlertPlan) -> bytes:
    """Draw the thresholds, one for each true."""
    draw = partial(sampler.laplace, words=os.urandom)
    alert = planned.alert
    drawn = above_threshold.thresholds(alert.above, planned.step, planned.scale, alert.times, draw)
    return json.dumps(drawn).encode()


def _is_named(session: Session, name: str, plan: Plan) -> bool:
    own = own_alert(session, name)
    return own.debit is not None and own.digest == plan.digest


# ---- asking ----------------------------------------------------------------------------------------------


def _ask(session: Session, query: Query, statement: AskAlert, plan: Plan) -> Answer:
    planned, question = plan.alert, plan.question
    assert planned is not None
    assert question is not None
    receipt = session.answered(plan)
    found = None if receipt is None else _stored_outcome(session, receipt, plan)
    if receipt is None or found is None:
        _check_question(session, query, statement, plan)
        receipt = receipt or session.pay(plan)
        found = _stored_outcome(session, receipt, plan)
    cost = plan.epsilon if receipt.joined else 0.0
    if found is not None:
        return _outcome(session, statement, plan, found, cost, repeated=True)
    if receipt.answer is None:  # its creation was interrupted after the debit
        receipt = replace(receipt, answer=session.store(receipt, _thresholds(planned)))
    assert receipt.answer is not None
    outcome = None
    if session.ledger.trues(receipt.debit_id)[0] < planned.alert.times:
        outcome = _decided(session, receipt, receipt.answer, planned, question)
    if outcome is not None:
        return _outcome(session, statement, plan, outcome, cost, repeated=False)
    if receipt.joined:
        return _ended_when_joined(session, statement, plan, receipt.debit_id, cost)
    own = own_alert(session, statement.name).debit == receipt.debit_id
    raise _ended(session, query, statement, receipt.debit_id, planned, own)


def _check_question(session: Session, query: Query, statement: AskAlert, plan: Plan) -> None:
    """Refuse what would be refused after paying: SQL that is not printed, blocks that are not paid, the end.

    The end is told to who has paid: that an alert has ended is one of its answers.
    """
    assert plan.question is not None
    named = readable_alert(session, statement.name)
    try:
        session.engine.measure_sql(plan.question.measure)
        if named is not None and named.debit is not None:
            session.ledger.check_asked(named.debit, session.asked_of(plan.question), session.checked)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None
    _check_open(session, query, statement, plan)


def _decided(
    session: Session, receipt: Stored, stored: bytes, planned: AlertPlan, question: AlertQuestion
) -> Outcome | None:
    """Measure a number, add its noise, and let the ledger keep how it compares; None if the alert ended."""
    thresholds: list[int] = json.loads(stored)
    noisy = _noisy(session, question)

    def is_above(trues: int) -> bool | None:
        if trues >= planned.alert.times:
            return None
        return above_threshold.is_above(noisy, question.step, thresholds[trues], planned.step)

    own = question.digest, session.versions.of(question.tables), session.payer, session.room
    read = session.asked_of(question), session.checked
    return session.ledger.decide(receipt.debit_id, *own, read, is_above)


def _noisy(session: Session, question: AlertQuestion) -> int:
    measure = question.measure
    released = release(session.engine.measure(measure), measure, from_system)
    return int(released.sums[0, 0])


def _stored_outcome(session: Session, receipt: Stored, plan: Plan) -> Outcome | None:
    assert plan.question is not None
    version = session.versions.of(plan.question.tables)
    return session.ledger.outcome(receipt.debit_id, plan.question.digest, version)


def _check_open(session: Session, query: Query, statement: AskAlert, plan: Plan) -> None:
    """Refuse a new question to an alert that has ended.

    That it has, and what it was asked, are answers of the alert: who has not paid for them is not told.
    """
    named = readable_alert(session, statement.name)
    assert plan.alert is not None
    if named is None or named.debit is None or session.stored(plan) is None:
        return
    trues, _ = session.ledger.trues(named.debit)
    if trues >= plan.alert.alert.times:
        own = named.creator == session.payer
        raise _ended(session, query, statement, named.debit, plan.alert, own)


def _ended(
    session: Session, query: Query, statement: AskAlert, debit: int, planned: AlertPlan, own: bool
) -> Error:
    times, last = planned.alert.times, session.ledger.trues(debit)[1][:10]
    how = "" if times == 1 else f" {times} times, the last time"
    return refuse(
        "D515",
        f"{planned.name} has ended: it said true{how} on {last}",
        statement.at,
        label="it answers only what it has answered before",
        help=f"DROP PRIVATE ALERT {planned.name}, and create it again: it is paid for anew"
        if own
        else "create an alert of your own: CREATE PRIVATE ALERT ...",
    ).within(query.source.text, query.source.name)


def _ended_when_joined(session: Session, statement: AskAlert, plan: Plan, debit: int, cost: float) -> Answer:
    """Return what was paid for: nothing but that the alert has ended, and when."""
    assert plan.alert is not None
    note = (
        f"{plan.alert.name} has ended: it said true on {session.ledger.trues(debit)[1][:10]}. "
        "It answers only what it has answered before."
    )
    left = session.remaining_for(plan)
    return Answer((statement.title,), ("BOOLEAN",), [(None,)], [(None,)], cost, left, False, note)


def _outcome(
    session: Session, statement: AskAlert, plan: Plan, outcome: Outcome, cost: float, repeated: bool
) -> Answer:
    assert plan.alert is not None
    more = plan.alert.alert.times - outcome.trues
    note = ""
    if not more:
        note = f"{plan.alert.name} has ended: it answers only what it has answered before."
    elif outcome.above:
        note = f"{plan.alert.name} may say true {'once' if more == 1 else f'{more} times'} more."
    left, row = session.remaining_for(plan), (outcome.above,)
    shown = Answer((statement.title,), ("BOOLEAN",), [row], [(None,)], cost, left, repeated, note)
    return shown if cost or repeated else replace(shown, paid_as=f"paid for by {plan.alert.name}")


# ---- names -----------------------------------------------------------------------------------------------


def _own(session: Session, query: Query, name: str, at: Span | None) -> NamedAlert:
    own = own_alert(session, name)
    if own.debit is None:
        raise unknown(session, name, at, own=True).within(query.source.text, query.source.name)
    return own


def _lend(session: Session, query: Query, statement: AlertAccess) -> Answer:
    named = _own(session, query, statement.name, statement.at)
    analysts = [rule.name for rule in session.policy.analysts]
    if statement.analyst not in analysts:
        raise refuse(
            "D504",
            f"the policy {session.policy.name} knows no analyst {statement.analyst}",
            help=perhaps(statement.analyst, analysts) if session.analyst is None else "ask the owner",
        )
    if (statement.analyst in named.readers) != statement.granted:
        content = alert_access(session.payer, named.name, statement.analyst, statement.granted)
        session.ledger.note_view(content, session.room if statement.granted else None)
    done = "granted to" if statement.granted else "revoked from"
    return _said(session, named.name, f"{done} {statement.analyst}")


def _said(session: Session, name: str, done: str) -> Answer:
    titles, types = ("private alert", "status"), ("VARCHAR", "VARCHAR")
    return Answer(titles, types, [(name, done)], [(None, None)], 0.0, session.remaining(), False, "")

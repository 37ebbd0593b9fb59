"""The outcome of a question to a private alert.

    is it answered? can it be? -> pay, if it was lent -> has it ended? -> measure -> add noise
    -> in the ledger, nobody else writing: compare with the present threshold, store the outcome -> show it

The noisy number exists between ``_noisy`` and the comparison alone, as exact numbers do.
"""

from __future__ import annotations

import json
from dataclasses import replace

from dpsql.accounting.entries import Stored
from dpsql.accounting.named_alerts import Outcome
from dpsql.alerts.holdouts import holdout_answer
from dpsql.alerts.names import own_alert, readable_alert
from dpsql.alerts.thresholds import drawn_thresholds
from dpsql.answer import Answer
from dpsql.errors import Error, refuse
from dpsql.ir.alert import AlertPlan
from dpsql.ir.plan import AlertQuestion, Plan
from dpsql.mechanisms import above_threshold
from dpsql.parse.alert_statements import AskAlert
from dpsql.parse.parse import Query
from dpsql.release.holdout import noisy_distance
from dpsql.release.release import from_system, release
from dpsql.session import Session


def ask_alert(session: Session, query: Query, statement: AskAlert, plan: Plan) -> Answer:
    planned, question = plan.alert, plan.question
    assert planned is not None
    assert question is not None
    receipt = session.answered(plan)
    found = None if receipt is None else _stored_outcome(session, receipt, plan)
    if receipt is None or found is None:
        _check_question(session, query, statement, plan)
        receipt = receipt or session.pay(plan)
        found = _stored_outcome(session, receipt, plan)
    cost = plan.epsilon if receipt.charged else 0.0
    if found is not None:
        return _shown(_outcome(session, statement, plan, found, receipt, cost, repeated=True))
    if receipt.answer is None:  # its creation was interrupted after the debit
        receipt = replace(receipt, answer=session.store(receipt, drawn_thresholds(planned)))
    assert receipt.answer is not None
    outcome = None
    if session.ledger.trues(receipt.debit_id)[0] < planned.alert.times:
        outcome = _decided(session, receipt, receipt.answer, planned, question)
    if outcome is not None:
        return _shown(_outcome(session, statement, plan, outcome, receipt, cost, repeated=False))
    if receipt.joined:
        return _ended_when_joined(session, statement, plan, receipt.debit_id, cost)
    own = own_alert(session, statement.name).debit == receipt.debit_id
    raise _ended(session, query, statement, receipt.debit_id, planned, own)


def _shown(answer: Answer | None) -> Answer:
    assert answer is not None, "what may be read is measured"
    return answer


def stored_question(session: Session, query: Query, statement: AskAlert, plan: Plan) -> Answer | None:
    """Return what ``ask_alert`` would, if it is paid for and stored; else None, or what it would refuse."""
    receipt = session.answered(plan)
    found = None if receipt is None else _stored_outcome(session, receipt, plan)
    if receipt is not None and found is not None:
        return _outcome(session, statement, plan, found, receipt, 0.0, repeated=True, may_read=False)
    _check_question(session, query, statement, plan)
    return None


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
    if question.distance is not None:
        return noisy_distance(session.engine.measure(measure), question, from_system)
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
    word = planned.alert.word.upper()
    times, last = planned.alert.times, session.ledger.trues(debit)[1][:10]
    how = "" if times == 1 else f" {times} times, the last time"
    return refuse(
        "D515",
        f"{planned.name} has ended: {_SAYS[planned.alert.word]}{how} on {last}",
        statement.at,
        label="it answers only what it has answered before",
        help=f"DROP PRIVATE {word} {planned.name}, and create it again: it is paid for anew"
        if own
        else f"make one of your own: CREATE PRIVATE {word} ...",
    ).within(query.source.text, query.source.name)


def _ended_when_joined(session: Session, statement: AskAlert, plan: Plan, debit: int, cost: float) -> Answer:
    """Return what was paid for: nothing but that the alert has ended, and when."""
    assert plan.alert is not None
    note = (
        f"{plan.alert.name} has ended: {_SAYS[plan.alert.alert.word]} on "
        f"{session.ledger.trues(debit)[1][:10]}. "
        "It answers only what it has answered before."
    )
    left = session.remaining_for(plan)
    kind = plan.alert.alert.word
    return Answer((statement.title,), (_TYPES[kind],), [(None,)], [(None,)], cost, left, False, note)


_SAYS = {"alert": "it said true", "holdout": "its last mean was paid for"}
_MAY = {"alert": "say true", "holdout": "answer with a private mean"}
_TYPES = {"alert": "BOOLEAN", "holdout": "DOUBLE"}


def _outcome(
    session: Session,
    statement: AskAlert,
    plan: Plan,
    outcome: Outcome,
    receipt: Stored,
    cost: float,
    repeated: bool,
    may_read: bool = True,
) -> Answer | None:
    """Return what is shown; None where a mean would have to be measured, and may not be."""
    assert plan.alert is not None
    more = plan.alert.alert.times - outcome.trues
    note = ""
    if not more:
        note = f"{plan.alert.name} has ended: it answers only what it has answered before."
    elif outcome.above:
        often = "once" if more == 1 else f"{more} times"
        note = f"{plan.alert.name} may {_MAY[plan.alert.alert.word]} {often} more."
    left, row = session.remaining_for(plan), (outcome.above,)
    if statement.public is not None:
        found = holdout_answer(session, statement, plan, outcome, receipt, may_read)
        if found is None:
            return None
        said = " ".join(filter(None, (note, found.note)))
        shown = replace(found, cost=cost, repeated=repeated, note=said)
    else:
        shown = Answer((statement.title,), ("BOOLEAN",), [row], [(None,)], cost, left, repeated, note)
    return shown if cost or repeated else replace(shown, paid_as=f"paid for by {plan.alert.name}")

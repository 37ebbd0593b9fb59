"""What a statement about an alert does.

CREATE          pay -> draw the thresholds -> store them -> name the debit
a question      questions.py
DROP, GRANT     an entry about the name
"""

from __future__ import annotations

from dpsql.accounting.named_alerts import NamedAlert, alert_access, alert_content, dropped_alert
from dpsql.alerts.names import own_alert, unknown
from dpsql.alerts.questions import ask_alert, stored_question
from dpsql.alerts.thresholds import drawn_thresholds
from dpsql.answer import Answer
from dpsql.errors import refuse
from dpsql.ir.plan import Plan
from dpsql.ir.source import Span
from dpsql.parse.alert_statements import AskAlert, CreateAlert
from dpsql.parse.named_statements import Access, Drop
from dpsql.parse.parse import Query
from dpsql.policy.names import perhaps
from dpsql.session import Session


def alert_answer(session: Session, query: Query, plan: Plan) -> Answer:
    """Do what a statement about an alert says, or answer a question."""
    match query.alert:
        case CreateAlert() as statement:
            return _create(session, statement, plan)
        case AskAlert() as statement:
            return ask_alert(session, query, statement, plan)
        case Drop(name=name, at=at) as statement:
            named = _own(session, query, name, at, statement.word)
            session.ledger.note_view(dropped_alert(session.payer, named.name))
            return _said(session, named, "dropped")
        case Access() as statement:
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
            found = stored_question(session, query, statement, plan)
            if found is not None:
                return found
    if session.stored(plan) is None:
        session.afford(plan)
    return None


def _create(session: Session, statement: CreateAlert, plan: Plan) -> Answer:
    assert plan.alert is not None
    receipt = session.answered(plan) or session.pay(plan)
    paid_now = receipt.answer is None
    if paid_now:
        session.store(receipt, drawn_thresholds(plan.alert))
    if not _is_named(session, statement.name, plan):
        own = own_alert(session, statement.name)
        each = plan.epsilon / plan.alert.alert.prices
        price = statement.epsilon.value if statement.epsilon is not None else each
        assert isinstance(price, int | float)
        alert = plan.alert.alert
        named = NamedAlert(
            *(statement.name, session.payer, own.generation, receipt.debit_id, plan.digest),
            *(float(price), plan.alert.epsilon0, alert),
            epsilon1=plan.alert.epsilon1,
        )
        content = alert_content(session.payer, statement.name, receipt.debit_id, named)
        session.ledger.note_view(content, None if paid_now else session.room)
    cost = plan.epsilon if receipt.charged else 0.0
    said = statement.alert.above if statement.alert.tolerance is None else statement.alert.tolerance
    row = (statement.name, said, "bought" if paid_now else "bought before")
    titles, types = plan.stages[-1].post.columns, ("VARCHAR", "DOUBLE", "VARCHAR")
    left = session.remaining_for(plan)
    return Answer(titles, types, [row], [(None,) * 3], cost, left, not paid_now)


def _is_named(session: Session, name: str, plan: Plan) -> bool:
    own = own_alert(session, name)
    return own.debit is not None and own.digest == plan.digest


def _own(session: Session, query: Query, name: str, at: Span | None, word: str) -> NamedAlert:
    own = own_alert(session, name)
    if own.debit is None or own.alert.word != word:
        raise unknown(session, name, at, own=True, word=word).within(query.source.text, query.source.name)
    return own


def _lend(session: Session, query: Query, statement: Access) -> Answer:
    named = _own(session, query, statement.name, statement.at, statement.word)
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
    return _said(session, named, f"{done} {statement.analyst}")


def _said(session: Session, named: NamedAlert, done: str) -> Answer:
    titles, types = (f"private {named.alert.word}", "status"), ("VARCHAR", "VARCHAR")
    return Answer(titles, types, [(named.name, done)], [(None, None)], 0.0, session.remaining(), False, "")

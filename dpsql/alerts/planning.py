"""Query -> Plan of a statement about a private alert, or of a question; refuses before anything is paid.

Both are the alert's purchase: a question has its number beside it, in no stage, so that nothing but
``answers`` can measure it. Who has not paid for a lent alert joins its debit, as for any query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsql.accounting.named_alerts import NamedAlert
from dpsql.alerts.names import create_in_file, drop_in_file, own_alert, readable_alert, unknown
from dpsql.errors import Error, refuse
from dpsql.ir.alert import Alert, AlertPlan
from dpsql.ir.bound import NeededBounds
from dpsql.ir.measure import Post, Split
from dpsql.ir.plan import AlertQuestion, Plan, StagePlan
from dpsql.ir.source import Source
from dpsql.parse.alert_statements import AskAlert, CreateAlert
from dpsql.parse.named_statements import Drop
from dpsql.parse.parse import Query
from dpsql.plan.alert import (
    asked,
    check_number,
    check_plan,
    digest_of_alert,
    planned_alert,
    question,
    with_noise,
)
from dpsql.plan.holdout import check_mean, holdout_question
from dpsql.plan.plan import plan
from dpsql.plan.terms import Terms
from dpsql.policy.names import fold
from dpsql.rewrite import rewrite
from dpsql.session import Session


def alert_plan(session: Session, query: Query, terms: Terms, bind: Callable[[], Split]) -> Plan | None:
    """Return the plan of a query about an alert; None of one that only changes a name."""
    try:
        match query.alert:
            case CreateAlert() as statement:
                return _created(session, query, statement, terms)
            case AskAlert() as statement:
                return _question(session, query, statement, terms, bind)
            case Drop(name=name):
                drop_in_file(session, name)
                return None
            case _:
                return None
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None


def _created(session: Session, query: Query, statement: CreateAlert, terms: Terms) -> Plan:
    if query.epsilon is not None:
        terms = session.terms_with(terms, query.epsilon)
    name = statement.name
    if fold(name) != name.casefold() or not name.isprintable() or "." in name:
        raise refuse(
            "D411",
            f"a private {statement.alert.word} needs a plain name",
            statement.at,
            help="write it with the letters a to z, digits and _",
        )
    own = own_alert(session, name)
    if own.digest:
        if own.alert != statement.alert or (query.epsilon is not None and own.epsilon != terms.epsilon):
            raise refuse(
                "D411",
                f"there is a private {own.alert.word} {own.name} already",
                statement.at,
                help=f"DROP PRIVATE {own.alert.word.upper()} {own.name} first, or choose another name",
            )
        return _bought(session, query.source, own, _noised(own), _created_post(own.alert))
    session.terms(terms.epsilon * statement.alert.prices)  # within the owner's limits for one query
    planned = planned_alert(name, statement.alert, terms)
    digest = digest_of_alert(planned, terms.accountant.name, session.payer, own.generation)
    named = NamedAlert(
        *(name, session.payer, own.generation, None, digest, terms.epsilon, planned.epsilon0),
        statement.alert,
        epsilon1=planned.epsilon1,
    )
    if not query.explained:
        create_in_file(session, named)
    return _bought(session, query.source, named, planned, _created_post(statement.alert))


def _noised(named: NamedAlert) -> AlertPlan:
    return with_noise(named.name, named.alert, named.epsilon0, named.epsilon1)


def _question(
    session: Session, query: Query, statement: AskAlert, terms: Terms, bind: Callable[[], Split]
) -> Plan:
    named = readable_alert(session, statement.name)
    if named is None:
        word = "alert" if statement.public is None else "holdout"
        raise unknown(session, statement.name, statement.at, word=word)
    option = query.epsilon if query.goal is None else query.goal
    if option is not None or query.delta is not None:
        raise refuse(
            "D503",
            f"a question to a private {named.alert.word} has no price",
            option.span if option is not None else None,
            label=f"{named.name} is paid for",
            help="leave the option out",
        )
    _check_kind(named, statement)
    planned = _noised(named)
    split = rewrite(bind(), session.known)
    if split.needed:
        raise _declared(split.needed[0].refusal)
    split = asked(split, planned)
    if statement.public is None:
        check_number(split, planned, statement.at)
    else:
        check_mean(split, statement.at)
    at_price = replace(terms, epsilon=named.epsilon)
    number = plan(split, session.known, at_price, session.engine.combinations, together=False)
    if isinstance(number, NeededBounds):
        raise _declared(number.refusal)
    title, kind = statement.title.replace('"', '""'), "BOOLEAN" if statement.public is None else "DOUBLE"
    post = Post(f'SELECT NULL::{kind} AS "{title}"', (statement.title,), (), (), (None,), plain=True)
    if statement.public is None:
        check_plan(number.measures[0], statement.at)
        asked_now = question(number, planned)
    else:
        asked_now = holdout_question(number, planned, statement.public, statement.at)
    bought = _bought(session, query.source, named, planned, post, asked_now)
    dearer = terms.given and terms.epsilon < bought.epsilon
    if dearer and session.kept.ask(lambda: session.stored(bought) is None):
        raise refuse(
            "D503",
            f"the private {named.alert.word} costs {bought.epsilon:g}, and the call allows {terms.epsilon:g}",
            help=f"leave the call's epsilon out: the {named.alert.word} has a price of its own, once",
        )
    return bought


def _bought(
    session: Session,
    source: Source,
    named: NamedAlert,
    planned: AlertPlan,
    post: Post,
    question: AlertQuestion | None = None,
) -> Plan:
    stages = (StagePlan((), post),)
    price = named.price
    accountant = session.accountant.name
    return Plan(*(source, stages, price, accountant, named.digest), alert=planned, question=question)


def _created_post(alert: Alert) -> Post:
    """Return what is said of an alert that is bought."""
    titles = (f"private {alert.word}", "above" if alert.tolerance is None else "tolerance", "status")
    kinds = zip(titles, ("VARCHAR", "DOUBLE", "VARCHAR"), strict=True)
    sql = "SELECT " + ", ".join(f'NULL::{kind} AS "{title}"' for title, kind in kinds)
    return Post(sql, titles, (), (), (None, None, None), plain=True)


def _check_kind(named: NamedAlert, statement: AskAlert) -> None:
    """Refuse a question of another kind than what it names."""
    if (named.alert.tolerance is None) != (statement.public is None):
        example = (
            "DP_ABOVE('{}', COUNT(*))" if statement.public is not None else "DP_HOLDOUT('{}', 0.31, AVG(x))"
        )
        raise refuse(
            "D412",
            f"{named.name} is a private {named.alert.word}",
            statement.at,
            help=f"SELECT {example.format(named.name)} FROM ... WHERE ...",
        )


def _declared(refusal: Error) -> Error:
    """Return the refusal of what is missing for a question, which rests on what is declared alone."""
    refusal.help = "let the owner declare it in the policy: a question to an alert finds no bounds"
    return refusal

"""Which alert a name stands for: one's own, or one that was lent.

While a file is priced, its statements are carried out on names alone: what they create and drop is pending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.accounting.named_alerts import NamedAlert
from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.policy.names import fold, perhaps
from dpsql.session import Session


def own_alert(session: Session, name: str) -> NamedAlert:
    """Return one's own alert of that name; without a debit if there is none now."""
    found = [alert for alert in _of_name(session, name) if alert.creator == session.payer]
    return next(iter([*_pending(session, name), *found]), NamedAlert(name, session.payer, 0))


def readable_alert(session: Session, name: str) -> NamedAlert | None:
    """Return the alert that a question of this name asks: one's own, one of a file, or a lent one."""
    own = own_alert(session, name)
    if own.digest:
        return own
    named = [alert for alert in _of_name(session, name) if alert.digest and alert.creator != session.payer]
    lent = [alert for alert in named if session.analyst is None or session.payer in alert.readers]
    return next(iter(lent[::-1]), None)


def create_in_file(session: Session, alert: NamedAlert) -> None:
    """Let the statements below in a file ask an alert that one of them creates, while the file is priced."""
    if session.pending_alerts is not None:
        others = (each for each in session.pending_alerts if fold(each.name) != fold(alert.name))
        session.pending_alerts = (*others, replace(alert, debit=None))


def drop_in_file(session: Session, name: str) -> None:
    """Let the statements below in a file create the alert anew: it is another one, at its own price."""
    own = own_alert(session, name)
    if own.digest:
        create_in_file(session, NamedAlert(own.name, own.creator, own.generation + 1))


def unknown(session: Session, name: str, at: Span | None, own: bool = False, word: str = "alert") -> Error:
    """Return the refusal of a name that no alert has."""
    alerts = [alert for alert in session.ledger.alerts() if alert.debit is not None]
    readers = {session.payer} if own or session.analyst is not None else {each.creator for each in alerts}
    alerts = [alert for alert in alerts if alert.alert.word == word]
    mine = [each.name for each in alerts if each.creator in readers or (session.payer in each.readers)]
    names: Sequence[str] = [each for each in mine if fold(each) != fold(name)]
    return refuse(
        "D201",
        f"there is no private {word} {name}",
        at,
        help=perhaps(name, names) or f"CREATE PRIVATE {word.upper()} makes one",
    )


def _pending(session: Session, name: str) -> list[NamedAlert]:
    return [alert for alert in session.pending_alerts or () if fold(alert.name) == fold(name)]


def _of_name(session: Session, name: str) -> list[NamedAlert]:
    return [alert for alert in session.kept.ask(session.ledger.alerts) if fold(alert.name) == fold(name)]

"""What a client may call on its analyst's connection, and the server's side of it.

    {"do": "price", "sql": "SELECT ...", "epsilon": null, "session": {"epsilon": 0.2, "study": null, ...}}

A client keeps its own settings and sends them with each call, for the server lends connections from a pool.

Claim   a call gives an analyst nothing that their connection does not: of budgets, their own and what is
        granted and spent in all.
Proof   CALLS is all there is, each entry a direct call of a Connection that was opened with the analyst's
        name. The owner's (``export``, ``synthetic_rows``, ``spending``) are not in it.
Test    tests/drivers/test_server_walls.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dpsql.dbapi import Balance, Connection
from dpsql.errors import Error, InterfaceError, class_of
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was read: what to do, with which arguments, under which settings of the client."""

    do: str
    arguments: Mapping[str, Any]
    epsilon: float | None = None
    study: str | None = None
    timeout: float | None = None

    @property
    def pays(self) -> bool:
        return self.do == "execute"


_KINDS: Mapping[str, tuple[type, ...]] = {
    "sql": (str,),
    "epsilon": (float, int, type(None)),
    "anyway": (bool,),
    "most": (int,),
    "since": (int,),
    "study": (str, type(None)),
    "timeout": (float, int, type(None)),
}
_LIMITS = ("timeout", "most", "since")
CALLS: Mapping[str, tuple[tuple[str, ...], Callable[..., object]]] = {
    "execute": (("sql", "epsilon", "anyway"), Connection.execute),
    "explain": (("sql", "epsilon"), Connection.explain),
    "price": (("sql", "epsilon"), Connection.price),
    "tables": ((), lambda db: db.tables),
    "usual_epsilon": ((), lambda db: db.epsilon),
    "chosen_study": ((), lambda db: db.study),
    "budget": ((), lambda db: _own_budget(db)),
    "outlook": ((), lambda db: db.outlook),
    "purchase_count": ((), lambda db: db.purchase_count),
    "latest_purchases": (("most",), lambda db, most: db.latest_purchases(most)),
    "purchases_of": (("sql", "since"), lambda db, sql, since: db.purchases_of(sql, since)),
}
"""The names of calls, of their arguments, and what answers them."""


def read(text: str) -> Call:
    """Read a call, or refuse it."""
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or str(document.get("do")) not in CALLS:
        raise _unreadable()
    settings = document.pop("session", {})
    do = str(document.pop("do"))
    if set(document) != set(CALLS[do][0]) or not isinstance(settings, dict):
        raise _unreadable()
    if not set(settings) <= {"epsilon", "study", "timeout"}:
        raise _unreadable()
    for name, value in (*document.items(), *settings.items()):
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and name != "anyway"):
            raise _unreadable()
        least = -1 if name == "most" else 0  # as many as there are
        if name in _LIMITS and isinstance(value, int | float) and not least <= value < 2**63:
            raise _unreadable()
    return Call(do, document, **settings)


def _no_number(name: str) -> None:
    """Refuse NaN and infinities: no limit would hold beside them."""
    raise ValueError(name)


def _unreadable() -> InterfaceError:
    return InterfaceError(
        "this call cannot be read: it is of another version of dpsql",
        help="install the version that SHOW server_version names",
    )


def result_of(db: Connection, call: Call, plan: list[str]) -> object:
    """Run a call; the connection is left as it was but for its price and its time limit.

    ``plan`` gets the digest of its plan, '' if there was none.
    """
    names, run = CALLS[call.do]
    try:
        db.study = call.study
        db.epsilon = call.epsilon
        arguments = dict(call.arguments)
        first = [arguments.pop("sql")] if "sql" in names else []
        return run(db, *first, **arguments)
    finally:
        plan.append(db.plan_digest)
        db.study = None


def _own_budget(db: Connection) -> Balance:
    balance = db.budget
    own = tuple(account for account in balance.accounts if account.analyst == db.analyst)
    return replace(balance, accounts=own)


# ---- refusals --------------------------------------------------------------------------------------------


def refusal_of(error: Error, sql: str) -> dict[str, object]:
    """Return a refusal as it is sent: a text that is not the client's own, only as far as it is shown."""
    return {
        "code": error.code,
        "title": error.title,
        "start": error.start,
        "end": error.end,
        "label": error.label,
        "notes": tuple(error.notes),
        "help": error.help,
        "text": None if error.text == sql else _shown_part(error),
        "name": error.name,
    }


def _shown_part(error: Error) -> str:
    """Return the text with spaces for all that the excerpt does not show."""
    shown = set(range(*error.shown)) if error.shown is not None else set[int]()
    return "".join(each if each == "\n" or at in shown else " " for at, each in enumerate(error.text))


def error_of(refusal: Mapping[str, Any], sql: str) -> Error:
    """Return the error that a text was refused with."""
    code = refusal["code"]
    error: Error
    if code == "D001":
        error = InterfaceError(refusal["title"], refusal["help"])
    else:
        error = class_of(code)(code, refusal["title"], help=refusal["help"])
    error.label, error.notes = refusal["label"], refusal["notes"]
    error.start, error.end = refusal["start"], refusal["end"]
    error.text = sql if refusal["text"] is None else refusal["text"]
    error.name = refusal["name"]
    return error

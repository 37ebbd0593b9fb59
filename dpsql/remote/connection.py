"""The direct calls of an analyst's connection, answered by ``dpsql serve``.

    with RemoteConnection(Login.of("postgresql://ana@db.lan/clinic")) as db:
        db.execute("SELECT COUNT(*) FROM patients")

Each call is one statement, ``SELECT * FROM dpsql.call('{...}')``, and its answer one text. A connection that
was lost is opened once more and the call is sent again: what was paid for is free.
Test: tests/drivers/test_server_shell.py
"""

from __future__ import annotations

import json
import threading
from typing import Any, Self

from dpsql.answer import Answer
from dpsql.dbapi.accounts import Balance, Outlook, Purchase
from dpsql.errors import DatabaseError, InterfaceError, refuse
from dpsql.ir.explanation import Explanation
from dpsql.ir.price import Price
from dpsql.policy.listing import Table
from dpsql.remote import documents
from dpsql.remote.calls import error_of
from dpsql.remote.login import Login, opened, psycopg


class RemoteConnection:
    """A database that a server keeps, for the analyst who logs in; one call runs at a time."""

    def __init__(self, login: Login) -> None:
        self.analyst: str | None = login.user
        self.timeout: float | None = None
        self._login = login
        self._lock = threading.Lock()
        self._epsilon: float | None = None
        self._study: str | None = None
        self._wire = opened(login)
        self._closed = False
        try:
            self._call("usual_epsilon")  # a server that is no dpsql is noticed now
        except BaseException:  # Ctrl-C too: nobody has the connection to close it
            self.close()
            raise

    # ---- direct calls ------------------------------------------------------------------------------

    def execute(self, sql: str, *, epsilon: float | None = None, anyway: bool = False) -> Answer:
        answer: Answer = self._call("execute", sql=sql, epsilon=epsilon, anyway=anyway)
        return answer

    def explain(self, sql: str, *, epsilon: float | None = None) -> Explanation:
        explanation: Explanation = self._call("explain", sql=sql, epsilon=epsilon)
        return explanation

    def price(self, sql: str, *, epsilon: float | None = None) -> Price:
        price: Price = self._call("price", sql=sql, epsilon=epsilon)
        return price

    @property
    def tables(self) -> tuple[Table, ...]:
        tables: tuple[Table, ...] = self._call("tables")
        return tables

    @property
    def budget(self) -> Balance:
        balance: Balance = self._call("budget")
        return balance

    @property
    def outlook(self) -> Outlook:
        outlook: Outlook = self._call("outlook")
        return outlook

    @property
    def purchases(self) -> tuple[Purchase, ...]:
        return self.latest_purchases(self.purchase_count)

    @property
    def purchase_count(self) -> int:
        count: int = self._call("purchase_count")
        return count

    def latest_purchases(self, most: int) -> tuple[Purchase, ...]:
        purchases: tuple[Purchase, ...] = self._call("latest_purchases", most=most)
        return purchases

    def purchases_of(self, sql: str, since: int) -> tuple[Purchase, ...]:
        purchases: tuple[Purchase, ...] = self._call("purchases_of", sql=sql, since=since)
        return purchases

    @property
    def epsilon(self) -> float:
        usual: float = self._call("usual_epsilon")
        return usual

    @epsilon.setter
    def epsilon(self, price: float | None) -> None:
        self._call("usual_epsilon", settings={"epsilon": price})
        self._epsilon = price

    @property
    def study(self) -> str | None:
        return self._study

    @study.setter
    def study(self, name: str | None) -> None:
        self._call("chosen_study", settings={"study": name})
        self._study = name

    def interrupt(self) -> None:
        """Stop the running call from another thread. What was debited stays debited."""
        library = psycopg()
        try:
            self._wire.cancel_safe(timeout=5)
        except library.Error:  # it is lost: nothing runs any more
            return

    def close(self) -> None:
        self._closed = True
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- over the wire -----------------------------------------------------------------------------

    def _call(self, do: str, settings: dict[str, Any] | None = None, **arguments: Any) -> Any:
        """Return what the server's connection returns, or raise what it refuses with."""
        if self._closed:
            raise InterfaceError("the connection is closed", help="open another")
        session = {"epsilon": self._epsilon, "study": self._study, "timeout": self.timeout}
        document = json.dumps({"do": do, **arguments, "session": session | (settings or {})})
        statement = f"SELECT * FROM dpsql.call('{document.replace(chr(39), chr(39) * 2)}')"
        with self._lock:
            kind, content = documents.read(self._asked(statement))
        if kind == "refused":
            raise error_of(content, arguments.get("sql", ""))
        return content

    def _asked(self, statement: str) -> str:
        """Return the text that answers a statement; a lost connection is opened anew, once."""
        library = psycopg()
        fresh = self._wire.broken or self._wire.closed
        if fresh:
            self._wire = opened(self._login)
        try:
            return self._text(statement)
        except library.Error as error:
            lost = self._wire.broken and not (error.sqlstate or "").startswith("28")
            if fresh or not lost:
                raise _unanswered(error) from None
        self._wire = opened(self._login)
        try:
            return self._text(statement)
        except library.Error as error:
            raise _unanswered(error) from None

    def _text(self, statement: str) -> str:
        (text,) = self._wire.execute(statement, prepare=False).fetchone()
        if not isinstance(text, str):
            raise _no_dpsql()
        return text


def _no_dpsql() -> DatabaseError:
    return refuse(
        "D602",
        "the server does not answer as dpsql serve does",
        help="name the host and the port of dpsql serve; its own port is 5433",
    )


def _unanswered(error: Any) -> DatabaseError:
    """Return the refusal for a call that the server did not take, or that was lost with the connection."""
    said = error.diag.message_primary or str(error).strip().split("\n")[0]
    if error.sqlstate in ("42P01", "42601", "42883", "3F000"):  # no dpsql.call there
        return _no_dpsql()
    return refuse(
        "D601",
        "the server did not answer this",
        label=said,
        help=error.diag.message_hint
        or "ask the same query again: what was debited stays debited, and is completed without paying twice",
    )

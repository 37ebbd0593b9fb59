"""Harlequin's adapter: ``harlequin -a dpsql clinic.duckdb --analyst ana --epsilon 0.1``.

The catalogue shows the tables and columns of the policy, with ranges. A noised column is followed by its
margins. The first message shows what remains. A cancelled query stays paid if it was paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harlequin import HarlequinAdapter, HarlequinConnection, HarlequinCursor
from harlequin.catalog import Catalog, CatalogItem
from harlequin.exception import HarlequinConfigError, HarlequinConnectionError, HarlequinQueryError
from harlequin.options import PathOption, TextOption

import dpsql
from dpsql.answer import Answer
from dpsql.ir.column import Kind, type_named
from dpsql.policy.listing import Column, Table

OPTIONS = [
    TextOption("analyst", "Who asks, and whose budget pays; default: the owner."),
    TextOption("epsilon", "The price of each query; default: the policy's."),
    PathOption("policy", "The policy; default: beside the database.", exists=True, dir_okay=False),
    PathOption("ledger", "The ledger; default: beside the database.", dir_okay=False),
]
_SHORT = {
    Kind.BOOLEAN: "t/f", Kind.INTEGER: "##", Kind.DECIMAL: "#.#", Kind.FLOAT: "#.#", Kind.TEXT: "s",
    Kind.DATE: "d", Kind.TIME: "t", Kind.TIMESTAMP: "ts", Kind.TIMESTAMPTZ: "tz",
}  # fmt: skip


class Cursor(HarlequinCursor):
    """An answer; each noised column is followed by its margins."""

    def __init__(self, answer: Answer) -> None:
        self._columns: list[tuple[str, str]] = []
        self._limit = len(answer)
        values: list[list[Any]] = []
        for at, (name, sql) in enumerate(zip(answer.columns, answer.types, strict=True)):
            self._columns.append((name, _short(sql)))
            values.append([row[at] for row in answer.rows])
            if answer.noised(at):
                self._columns.append((f"± {name}", "#.#"))
                values.append([row[at] for row in answer.margins])
        self._rows = list(zip(*values, strict=True))

    def columns(self) -> list[tuple[str, str]]:
        return self._columns

    def set_limit(self, limit: int) -> Cursor:
        self._limit = limit
        return self

    def fetchall(self) -> Any:
        if self._rows:
            return self._rows[: self._limit]
        import pyarrow  # comes with Harlequin; only a table has columns without rows

        return pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name, _ in self._columns})


class Connection(HarlequinConnection):
    """A connection for Harlequin, with one price for every query."""

    def __init__(self, db: dpsql.Connection, epsilon: float | None) -> None:
        self._db, self._epsilon = db, epsilon
        analyst_remaining = [
            account.remaining for account in db.budget.accounts if account.analyst == db.analyst
        ]
        analyst_remaining += [account.remaining for account in db.budget.shared if db.analyst is not None]
        analyst_remaining += [cap.remaining for cap in db.budget.time_caps if cap.analyst == db.analyst]
        self.init_message = f"epsilon {min([db.budget.remaining, *analyst_remaining]):.4g} remains"

    def execute(self, query: str) -> Cursor:
        try:
            return Cursor(self._db.execute(query, epsilon=self._epsilon))
        except dpsql.Error as error:
            raise HarlequinQueryError(str(error), title="dpsql does not answer this query.") from None

    def cancel(self) -> None:
        self._db.interrupt()

    def get_catalog(self) -> Catalog:
        return Catalog([_table(table) for table in self._db.tables])

    def close(self) -> None:
        self._db.close()


class Adapter(HarlequinAdapter):
    """The adapter that Harlequin loads."""

    ADAPTER_OPTIONS = OPTIONS
    ADAPTER_DETAILS = "Differentially private SQL: noised answers with margins, paid for from a budget."
    IMPLEMENTS_CANCEL = True
    IMPLEMENTS_READ_ONLY = True

    def __init__(
        self,
        conn_str: Sequence[str],
        read_only: bool = True,
        *,
        analyst: str | None = None,
        epsilon: str | float | None = None,
        policy: str | Path | None = None,
        ledger: str | Path | None = None,
        **_: Any,
    ) -> None:
        if len(conn_str) != 1:
            raise HarlequinConfigError(
                "Name one database: harlequin -a dpsql clinic.duckdb", "Which database?"
            )
        try:
            self._epsilon = None if epsilon is None or epsilon == "" else float(epsilon)
        except ValueError:
            raise HarlequinConfigError(f"The price {epsilon} is not a number.", "What price?") from None
        self._database, self._analyst = Path(conn_str[0]), analyst or None
        self._policy, self._ledger = policy or None, ledger or None

    @property
    def connection_id(self) -> str:
        return f"dpsql {self._database.resolve()} {self._analyst or ''}"

    def connect(self) -> Connection:
        try:
            db = dpsql.connect(self._database, self._policy, self._ledger, self._analyst)
        except dpsql.Error as error:
            raise HarlequinConnectionError(str(error), title="dpsql does not open this database.") from None
        return Connection(db, self._epsilon)


def _table(table: Table) -> CatalogItem:
    name = ".".join(map(_quoted, table.name.split(".")))
    kind = "view" if table.view else "public table" if table.public else "private table"
    columns = [_column(column, name) for column in table.columns]
    return CatalogItem(name, name, table.name, "v" if table.view else "t", columns, kind)


def _column(column: Column, table: str) -> CatalogItem:
    name = _quoted(column.name)
    type_text = f"{column.type} {column.hint}".strip()
    return CatalogItem(f"{table}.{name}", name, column.name, _short(column.type), type_name=type_text)


def _short(sql: str) -> str:
    return _SHORT.get(type_named(sql).kind, "?")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""The SQLAlchemy dialect: URLs, connections and execution.

    dpsql:///clinic.duckdb                                 policy and ledger are beside it
    dpsql:////data/clinic.duckdb?analyst=ana&policy=/etc/clinic.toml&ledger=/var/lib/clinic.ledger

The price of a statement is the execution option ``epsilon``, or the policy's default.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.engine.interfaces import ExecutionContext, IsolationLevel
from sqlalchemy.engine.url import URL

import dpsql
from dpsql.bridges.alchemy.compiler import Compiler, Preparer, TypeCompiler
from dpsql.bridges.alchemy.reflection import MAIN, Reflection
from dpsql.bridges.alchemy.types import ADAPTED

SAID_IN_A_URL = ("policy", "ledger", "analyst", "study")


class Context(DefaultExecutionContext):
    """One execution. ``answer`` is the whole answer, with margins, its cost and what remains."""

    answer: dpsql.Answer | None = None


class Dialect(Reflection):
    """dpsql for SQLAlchemy, read-only."""

    name = "dpsql"
    driver = "dpsql"
    statement_compiler = Compiler
    type_compiler_cls = TypeCompiler
    preparer = Preparer
    execution_ctx_cls = Context
    colspecs = ADAPTED

    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_native_uuid = True
    returns_native_bytes = True
    supports_comments = True
    supports_alter = False
    supports_default_values = False
    supports_empty_insert = False
    postfetch_lastrowid = False
    div_is_floordiv = False

    # ---- connecting --------------------------------------------------------------------------------

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        return dpsql

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """Return the database's path, and the policy, ledger, analyst and study of the URL."""
        if url.host or url.port or url.username or url.password:
            raise dpsql.InterfaceError(
                "a URL of dpsql names a file, without a host or a user",
                help="write three slashes: dpsql:///clinic.duckdb?analyst=ana",
            )
        if not url.database:
            raise dpsql.InterfaceError(
                "this URL names no database",
                help="write dpsql:///clinic.duckdb, or with four slashes dpsql:////data/clinic.duckdb",
            )
        for key, value in url.query.items():
            if key not in SAID_IN_A_URL:
                raise dpsql.InterfaceError(
                    f"a URL of dpsql has no option {key}",
                    help="its options are ?policy=...&ledger=...&analyst=...&study=...",
                )
            if not isinstance(value, str) or not value:
                raise dpsql.InterfaceError(
                    f"the option {key} of this URL is repeated or empty", help="give it once, or leave it out"
                )
        return [url.database], dict(url.query)

    def _get_default_schema_name(self, connection: Any) -> str:
        return MAIN

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Do nothing: nothing was written, and what was paid stays paid."""

    def get_isolation_level_values(self, dbapi_connection: Any) -> list[IsolationLevel]:
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: Any) -> IsolationLevel:
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: Any, level: IsolationLevel) -> None:
        """Do nothing: each answer is paid and stored at once."""

    # ---- execution ---------------------------------------------------------------------------------

    def do_execute(
        self, cursor: Any, statement: str, parameters: Any, context: ExecutionContext | None = None
    ) -> None:
        options = {} if context is None else context.execution_options
        cursor.execute(statement, parameters, epsilon=options.get("epsilon"))
        if isinstance(context, Context):
            context.answer = cursor.answer

    def do_execute_no_params(
        self, cursor: Any, statement: str, context: ExecutionContext | None = None
    ) -> None:
        self.do_execute(cursor, statement, (), context)

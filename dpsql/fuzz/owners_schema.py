"""A database like the owner's, without its private rows: its schema, its public rows, its policy.

    clinic.duckdb    its tables in memory, with the columns that the policy names; no private row is read
    clinic.toml      the same policy, with a budget that a run does not use up, and no ledger of its own

The policy's tables, columns, units, keys, accountant and delta stay what they are. Nothing else is copied:
a sequence tells how many rows there were, and the members of an ENUM may be names.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from dpsql.attacks.world import policy_text
from dpsql.audit.neighbour_views import attached
from dpsql.driver import duckdb
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.folder import Folder
from dpsql.engines.identifiers import quote, table_sql
from dpsql.errors import InterfaceError
from dpsql.fuzz.run import Empty
from dpsql.policy.catalogue import FoundTable
from dpsql.policy.files import is_files
from dpsql.policy.model import Policy
from dpsql.policy.names import fold

BUDGET = 1e6
"""The budget of a run, which has a ledger of its own: queries are answered to see that they can be."""

_PUBLIC_ROWS = 500
_OF_FILES = ("files", "csv")


def empty_like(database: Path, policy: Policy) -> Empty:
    """Copy the schema and public rows of a database into memory; give a policy for the copy."""
    files = is_files(database)
    connection = _of_files(database, policy) if files else _of_database(database, policy)
    document = tomllib.loads(policy.text)
    document.pop("ledger", None)  # its places are the database's
    document.pop("studies", None)
    if files:
        for table in document["tables"].values():
            for key in _OF_FILES:
                table.pop(key, None)
            for column in table.get("columns", {}).values():
                column.pop("type", None)
    text = policy_text(document, policy.budget.accountant, BUDGET, policy.budget.delta)
    return Empty(connection, text.replace('["query"]\n', '["query"]\nmin_epsilon = 1e-6\n'))


def _of_database(database: Path, policy: Policy) -> duckdb.DuckDBPyConnection:
    engine = DuckDB(database, policy.timezone, 1)
    try:
        found = [_named(table, policy) for table in engine.describe().tables]
    finally:
        engine.close()
    connection = attached(database, policy.timezone, 1)
    try:
        for table in (table for table in found if table.columns):
            connection.execute(_created(table))
            if table.name in _public(policy):
                name, listed = table_sql(table.name), ", ".join(quote(each.name) for each in table.columns)
                connection.execute(
                    f"INSERT INTO {name} SELECT {listed} FROM whole.{name} LIMIT {_PUBLIC_ROWS}"
                )
    except duckdb.Error:  # its text may hold data
        connection.close()
        raise InterfaceError(
            "the schema of this database cannot be copied",
            help="fuzz a file that has the policy's tables alone",
        ) from None
    connection.execute("DETACH whole")
    return connection


def _of_files(database: Path, policy: Policy) -> duckdb.DuckDBPyConnection:
    engine = Folder(database, policy)
    connection = duckdb.connect(config={"threads": 1})
    try:
        public = _public(policy)
        for table in engine.describe().tables:
            connection.execute(_created(table))
            if table.name in public:
                rows = engine._all(f"SELECT * FROM {table_sql(table.name)} LIMIT {_PUBLIC_ROWS}")
                cells = ", ".join("?" for _ in table.columns)
                if rows:
                    connection.executemany(f"INSERT INTO {table_sql(table.name)} VALUES ({cells})", rows)
    finally:
        engine.close()
    return connection


def _named(table: FoundTable, policy: Policy) -> FoundTable:
    """Return a table with the columns that the policy names anywhere, or all of a public one."""
    quoted = re.findall(r"'([^'\n]*)'", policy.text)
    written = (*quoted, *re.findall(r"\w+", policy.text), *re.findall(r'"([^"\n]*)"', policy.text))
    words = {fold(word) for word in written}
    rule = policy.table(table.name)
    public = rule is not None and rule.public
    kept = (each for each in table.columns if public or fold(each.name) in words)
    columns = () if rule is None else tuple(kept)
    names = {each.name for each in columns}
    return FoundTable(table.name, columns, tuple(key for key in table.unique if names.issuperset(key)))


def _created(table: FoundTable) -> str:
    columns = ", ".join(
        [
            f"{quote(column.name)} {column.sql}{'' if column.nullable else ' NOT NULL'}"
            for column in table.columns
        ]
        + [f"UNIQUE ({', '.join(map(quote, key))})" for key in table.unique]
    )
    schema = (
        f"CREATE SCHEMA IF NOT EXISTS {quote(table.name.split('.', 1)[0])}; " if "." in table.name else ""
    )
    return f"{schema}CREATE TABLE {table_sql(table.name)} ({columns})"


def _public(policy: Policy) -> list[str]:
    return [table.name for table in policy.tables if table.public]


__all__ = ["BUDGET", "empty_like"]

"""The worlds of the fixtures in a PostgreSQL server, with the same rows in a DuckDB file to compare with.

What PostgreSQL cannot hold is taken out of both: zero bytes of texts, moments after its last one. Columns of
types that are not read there, such as lists, are not there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from cases import script
from postgres_servers import Server, track

from dpsql.engines import special_units
from dpsql.engines.identifiers import quote
from dpsql.engines.postgres.engine import PostgresEngine
from dpsql.engines.postgres.types import name_of
from dpsql.engines.special_units import Limits
from dpsql.ir.column import type_named

_FIRST = "'4713-01-01 (BC) 00:00:00'"
_LAST = "'294246-12-31 00:00:00'"


CALENDAR = "'0001-01-01 00:00:00'", "'9999-12-31 00:00:00'"
"""The moments that Spark has; infinite ones are not among them."""


def amended(folder: Path, world: str, moments: tuple[str, str] | None = None) -> Path:
    """Write a world as a DuckDB file, without what PostgreSQL cannot hold, or moments outside of these."""
    first, last = moments or (_FIRST, _LAST)
    path = folder / f"{world}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(script(world))
        for table, columns in tables_of(connection).items():
            for name, sql in columns.items():
                column = quote(name)
                if sql == "VARCHAR":
                    plain = f"replace({column}, chr(0), '?')"
                    connection.execute(
                        f"UPDATE {table} SET {column} = {plain} WHERE {column} LIKE '%' || chr(0) || '%'"
                    )
                elif sql == "DATE" or sql.startswith("TIMESTAMP"):
                    ends = f"CAST({first} AS {sql}) AND CAST({last} AS {sql})"
                    far = f"{column} NOT BETWEEN {ends}"
                    far = far if moments else f"{far} AND isfinite({column})"
                    connection.execute(f"UPDATE {table} SET {column} = NULL WHERE {far}")
    return path


def tables_of(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the types of the columns of each table, under its quoted name with its schema."""
    found = connection.execute(
        "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns "
        "JOIN information_schema.tables USING (table_catalog, table_schema, table_name) "
        "WHERE table_type = 'BASE TABLE' ORDER BY table_schema, table_name, ordinal_position"
    ).fetchall()
    tables: dict[str, dict[str, str]] = {}
    for schema, table, column, sql in found:
        tables.setdefault(f"{quote(schema)}.{quote(table)}", {})[column] = sql
    return tables


def load(server: Server, name: str, path: Path) -> psycopg.Connection[Any]:
    """Copy a DuckDB file into a new database of the server; return its owner's connection."""
    owner = server.database(name)
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for table, columns in tables_of(connection).items():
            _copy(owner, connection, table, columns)
    return owner


def _copy(
    owner: psycopg.Connection[Any], connection: duckdb.DuckDBPyConnection, table: str, columns: dict[str, str]
) -> None:
    schema, _, name = table.partition(".")
    place = f"public.{name}" if schema == '"main"' else table
    if schema != '"main"':
        owner.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader".encode())
    types = {column: _type(sql) for column, sql in columns.items()}
    kept = {column: name for column, name in types.items() if name is not None}
    listed = ", ".join(f"{quote(column)} {name}" for column, name in kept.items())
    owner.execute(f"CREATE TABLE {place} ({listed})".encode())
    texts = ", ".join(f"CAST({quote(column)} AS VARCHAR)" for column in kept)
    rows = connection.execute(f"SELECT {texts} FROM {table}").fetchall()
    with owner.cursor() as cursor, cursor.copy(f"COPY {place} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row([None if value is None else _spelled(value) for value in row])
    track(owner, place)


def _type(sql: str) -> str | None:
    return "text" if sql.startswith("ENUM(") else name_of(type_named(sql))


def _spelled(value: str) -> str:
    return value.replace(" (BC)", " BC") if value.endswith(" (BC)") or " (BC) " in value else value


EVERYTHING = replace(special_units.EVERYTHING, copied=0, long=0)
"""All rows are summed and the few corrected, however few rows there are."""


def engine(server: Server, name: str, limits: Limits | None = None) -> PostgresEngine:
    return PostgresEngine(server.url(name), limits=limits)

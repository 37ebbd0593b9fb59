"""The sealed engine: an in-memory DuckDB that holds catalogue tables and nothing else.

    engine = SealedEngine(world)
    engine.run('SELECT relname FROM pg_catalog_.pg_class', ["pg_catalog.pg_class"])

Claim   whatever a statement says, it reads only what dpsql.server.catalogue put here, and ends within the
        limits of time, memory and rows.
Proof   The engine has no file, external access is off, extensions are neither installed nor loaded, and the
        configuration is locked before the first statement of a client. Its tables come from ``World``.
Test    tests/server/test_catalogue_privacy.py::test_the_engine_is_sealed
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress

from dpsql.driver import connect, duckdb
from dpsql.server.catalogue.contents import World, rows_in
from dpsql.server.catalogue.errors import CatalogueError
from dpsql.server.catalogue.functions import macros_of, maps_of
from dpsql.server.catalogue.reference import relations

SECONDS = 2.0
MAX_ROWS = 50_000
MAX_TEXT = 20_000_000
_CONFIG = {
    "threads": 1,
    "memory_limit": "200MB",
    "max_temp_directory_size": "0KB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_TYPES = {
    **dict.fromkeys(("oid", "regproc", "regtype", "xid"), "UINTEGER"),
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    **dict.fromkeys(("int4", "cardinal_number"), "INTEGER"),
    "int8": "BIGINT",
    "float4": "FLOAT",
    **dict.fromkeys(("float8", "numeric"), "DOUBLE"),
    **dict.fromkeys(("timestamptz", "time_stamp"), "TIMESTAMP"),
    "int2vector": "SMALLINT[]",
    "oidvector": "UINTEGER[]",
    "anyarray": "VARCHAR[]",
}


def schema_of(name: str) -> str:
    """Return the engine's schema for pg_catalog or information_schema; DuckDB has its own of these names."""
    return f"{name}_"


class SealedEngine:
    """One engine for the catalogue of one analyst. Threads may share it; one statement runs at a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._made: set[str] = set()
        self._engine = connect(":memory:", _CONFIG)
        for schema in ("pg_catalog", "information_schema"):
            self._engine.execute(f"CREATE SCHEMA {schema_of(schema)}")
        for name, (keys, values) in maps_of(world).items():
            kinds = ("UINTEGER" if isinstance(each[0], int) else "VARCHAR" for each in (keys, values))
            made = ", ".join(f"${at}::{kind}[]" for at, kind in enumerate(kinds, 1))
            self._engine.execute(f"SET VARIABLE {name} = map({made})", [keys, values])
        self._engine.execute(";".join(macros_of(world)))
        for setting in (
            "integer_division = true",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self._engine.execute(f"SET {setting}")

    def run(self, sql: str, reads: Iterable[str]) -> tuple[list[tuple[str, str]], list[tuple[object, ...]]]:
        """Return the columns and rows of one SELECT over the relations that it reads."""
        with self._lock:
            for name in sorted(set(reads) - self._made):
                self._make(name)
            self._engine.execute(f"SET VARIABLE pid = {os.getpid()}")
            timer = threading.Timer(SECONDS, self._engine.interrupt)
            timer.daemon = True
            timer.start()
            try:
                self._engine.execute("BEGIN TRANSACTION READ ONLY")  # a WITH may hold a DELETE
                self._engine.execute(sql)
                columns = [(str(name), str(kind)) for name, kind, *_ in self._engine.description or ()]
                found = self._fetched()
            except duckdb.InterruptException:
                raise CatalogueError(f"reading the catalogue took longer than {SECONDS:g} seconds") from None
            except duckdb.Error as error:
                raise CatalogueError(f"the catalogue cannot answer this: {_first_line(error)}") from None
            finally:
                timer.cancel()
                with suppress(duckdb.Error):  # it was ended with what failed
                    self._engine.execute("ROLLBACK")
        if len(found) > MAX_ROWS:
            raise CatalogueError(f"this reads more than {MAX_ROWS:,} rows of the catalogue")
        return columns, found

    def _fetched(self) -> list[tuple[object, ...]]:
        """Return the rows, one more than there may be; refuse long ones."""
        found, size = list[tuple[object, ...]](), 0
        while len(found) <= MAX_ROWS and (some := self._engine.fetchmany(1_000)):
            size += sum(len(value) for row in some for value in row if isinstance(value, str))
            if size > MAX_TEXT:
                raise CatalogueError(f"this reads more than {MAX_TEXT:,} characters of the catalogue")
            found += some
        return found

    def _make(self, name: str) -> None:
        """Create a catalogue table with its rows; most are never read."""
        schema, _, table = name.partition(".")
        full = f'{schema_of(schema)}."{table}"'
        columns = {each: engine_type(kind) for each, kind in relations()[name].columns.items()}
        named = ", ".join(f'"{each}" {kind}' for each, kind in columns.items())
        self._engine.execute(f"CREATE TABLE {full} ({named})")
        if rows := rows_in(self._world, name):
            values = ", ".join(f"unnest(${at}::{kind}[])" for at, kind in enumerate(columns.values(), 1))
            by_column = [list(column) for column in zip(*rows, strict=True)]
            self._engine.execute(f"INSERT INTO {full} SELECT {values}", by_column)
        self._made.add(name)


def engine_type(kind: str) -> str:
    """Return the type in which the engine holds a type of PostgreSQL."""
    is_array = kind[0] == "_" and kind != "_pg_statistic"
    return f"{engine_type(kind[1:])}[]" if is_array else _TYPES.get(kind, "VARCHAR")


def _first_line(error: Exception) -> str:
    lines: Sequence[str] = str(error).splitlines() or [""]
    return lines[0][:200]

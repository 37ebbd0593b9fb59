"""The sealed engine: a process with an in-memory DuckDB that holds catalogue tables and nothing else.

    engine = SealedEngine(world)
    engine.run('SELECT relname FROM pg_catalog_.pg_class', ["pg_catalog.pg_class"])

The process is that of post-processing (sealed_process.py). It is killed when a statement takes too long, too
much memory or too many rows, and the next statement starts another.

Claim   whatever a statement says, it reads only what dpsql.server.catalogue put here, and ends within the
        limits of time, memory and rows.
Proof   The engine has no file, external access is off, extensions are neither installed nor loaded, and the
        configuration is locked before the first statement of a client. Its tables come from ``World``. The
        operating system limits the process's memory, and killing it needs nothing of what runs in it.
Test    tests/server/test_catalogue_privacy.py::test_the_engine_is_sealed
        tests/server/test_catalogue_limits.py
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from dpsql.post.sealed_process import PATIENCE, Failed, Full, Late, Many, Process
from dpsql.server.catalogue.contents import World, rows_in
from dpsql.server.catalogue.errors import CatalogueError
from dpsql.server.catalogue.functions import macros_of, maps_of
from dpsql.server.catalogue.reference import relations

SECONDS = 2.0
MEMORY = 200_000_000
"""Bytes that a statement may take in the process beside the tables, and that its rows may take here."""

MAX_ROWS = 50_000
_SETTINGS = [
    "SET memory_limit = '200MB'",
    "SET max_temp_directory_size = '0KB'",
    "SET integer_division = true",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
]
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
    """An engine with the catalogue of one analyst, for one statement at a time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._made: set[str] = set()
        self._process = Process()
        try:
            self._process.open(_SETTINGS, MEMORY)
            for schema in ("pg_catalog", "information_schema"):
                self._process.load(f"CREATE SCHEMA {schema_of(schema)}")
            for name, (keys, values) in maps_of(world).items():
                kinds = ("UINTEGER" if isinstance(each[0], int) else "VARCHAR" for each in (keys, values))
                made = ", ".join(f"${at}::{kind}[]" for at, kind in enumerate(kinds, 1))
                self._process.load(f"SET VARIABLE {name} = map({made})", [keys, values])
            self._process.load(";".join(macros_of(world)))
            self._process.load(f"SET VARIABLE pid = {os.getpid()}")
        except (Failed, Full, Late):
            self.end()
            raise CatalogueError("the process of the catalogue does not start now") from None

    @property
    def usable(self) -> bool:
        """Whether the next statement may have this engine: it has ended, or keeps memory, after a limit."""
        return self._process.usable and not self._process.worn

    def kill(self) -> None:
        """Kill the process; a thread that waits for rows gets an error."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process, when nothing runs, and forget it."""
        self._process.end()

    def run(self, sql: str, reads: Iterable[str]) -> tuple[list[tuple[str, str]], list[tuple[object, ...]]]:
        """Return the columns and rows of one SELECT over the relations that it reads."""
        self._process.patience = PATIENCE * SECONDS
        try:
            for name in sorted(set(reads) - self._made):
                self._make(name)
            self._process.load("BEGIN TRANSACTION READ ONLY")  # a WITH may hold a DELETE
            try:
                rows = self._process.run(sql, SECONDS, MEMORY, MAX_ROWS)
                columns = self._process.columns(SECONDS)
            finally:
                if self._process.usable:
                    self._process.load("ROLLBACK")
        except Late:
            raise CatalogueError(f"reading the catalogue took longer than {SECONDS:g} seconds") from None
        except Full:
            raise CatalogueError(f"this takes more than {MEMORY // 10**6} MB of memory") from None
        except Many:
            raise CatalogueError(f"this reads more than {MAX_ROWS:,} rows of the catalogue") from None
        except Failed as error:
            raise CatalogueError(f"the catalogue cannot answer this: {_first_line(error)}") from None
        return columns, rows

    def _make(self, name: str) -> None:
        """Create a catalogue table with its rows; most are never read."""
        schema, _, table = name.partition(".")
        full = f'{schema_of(schema)}."{table}"'
        columns = {each: engine_type(kind) for each, kind in relations()[name].columns.items()}
        named = ", ".join(f'"{each}" {kind}' for each, kind in columns.items())
        self._process.load(f"CREATE TABLE {full} ({named})")
        if rows := rows_in(self.world, name):
            values = ", ".join(f"unnest(${at}::{kind}[])" for at, kind in enumerate(columns.values(), 1))
            by_column = [list(column) for column in zip(*rows, strict=True)]
            self._process.load(f"INSERT INTO {full} SELECT {values}", by_column)
        self._made.add(name)


def engine_type(kind: str) -> str:
    """Return the type in which the engine holds a type of PostgreSQL."""
    is_array = kind[0] == "_" and kind != "_pg_statistic"
    return f"{engine_type(kind[1:])}[]" if is_array else _TYPES.get(kind, "VARCHAR")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:200]

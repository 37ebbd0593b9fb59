"""DuckDB: a database file opened read-only, locked down, and asked for aggregates.

The configuration is the second wall (the closed language is the first): no external access, no
extensions, no Python objects, no change of settings. What DuckDB says when something fails may quote
data, so its words never leave this file.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.driver import duckdb
from dpsql.engines.legal import legal_sql
from dpsql.engines.names import TEXTED, fetched, quote, table_sql, text
from dpsql.engines.spill import spill_folder
from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import Column, Interval, Kind, Value, type_named
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable, Key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpsql.ir.plan import Planned
    from dpsql.ir.survey import ExactCodes, PlannedSurvey
    from dpsql.ir.table import ExactTable

NAME = "duckdb"

_IDENTITY = slice(124, 140)  # the identifier in the file's main header, drawn when the file was made


STEADY = (
    # calls functions with a column's least and greatest value at planning time, whatever CASE guards them,
    # and fails with them: epoch_ms(seen) would tell whether anybody is at the end of time
    "disabled_optimizers = 'statistics_propagation'",
    # gathers small chunks behind a join or a filter, and fails where a joined column is a dictionary in one
    # chunk and none, or another, in the next: CASE WHEN age < 30 THEN place END does that, or not, by the
    # rows there are. (What two joins do alike, no setting prevents: see dpsql/engines/sql.py)
    "enable_caching_operators = false",
)
"""Without these, DuckDB 2.0 fails on some rows and not on others: whether a query fails must not tell."""

_OPENING = threading.Lock()


def lock_down(connection: duckdb.DuckDBPyConnection, timezone: str, paths: Sequence[Path] = ()) -> None:
    """The same walls for every connection to the data; the first one sets them, and nobody lifts them.

    Nothing but ``paths`` can be read afterwards (and the spill folder).
    """
    asked = "SELECT current_setting('lock_configuration'), current_setting('TimeZone')"
    [(locked, zone)] = connection.execute(asked).fetchall()
    if locked:
        if zone != timezone:
            connection.close()
            raise refuse(
                "D602",
                f"the database is open in this process with the time zone {zone}",
                help="close the other connection first, or use one policy",
            )
        return
    connection.execute("SET enable_progress_bar = false")  # of each connection; a REPL has it on
    for setting in (
        f"TimeZone = '{timezone}'",
        "python_enable_replacements = false",
        f"allowed_paths = [{', '.join(text(str(path)) for path in paths)}]",
        "enable_external_access = false",
        *STEADY,
        "lock_configuration = true",
    ):
        connection.execute(f"SET GLOBAL {setting}")


def configuration(threads: int | None = None) -> dict[str, str | bool | int | float | list[str]]:
    """What must be said when an engine starts."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": spill_folder(),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # a failure within DuckDB fails one statement; else it would fail all that follow, on any connection
        "disable_database_invalidation": "true",
    }
    return config if threads is None else config | {"threads": threads}


@dataclass(frozen=True, slots=True)
class _State:
    """Which file stands at a path: its place on the disk, its size, its time, its headers, its log."""

    place: tuple[int, int]
    size: int
    time: int
    header: bytes
    log: tuple[int, ...]


_LIVE: dict[str, list[_State]] = {}
"""The files that this process has open, by their resolved paths."""


def _state_of(path: Path) -> _State:
    with path.open("rb") as file:
        header, stat = file.read(3 * 4096), os.fstat(file.fileno())
    wal = path.with_name(path.name + ".wal")
    log = (wal.stat().st_size, wal.stat().st_mtime_ns) if wal.exists() else ()
    return _State((stat.st_dev, stat.st_ino), stat.st_size, stat.st_mtime_ns, header, log)


class DuckDB:
    """One open database file."""

    def __init__(self, path: Path, timezone: str = "UTC", threads: int | None = None) -> None:
        self._path = path
        self._lock = threading.RLock()
        try:
            with _OPENING:
                self._state = _state_of(path)
                self._connection = duckdb.connect(str(path), read_only=True, config=configuration(threads))
                lock_down(self._connection, timezone)
                self._same_file()
        except (duckdb.Error, OSError) as error:
            raise self._unopened(error) from None

    def _same_file(self) -> None:
        """DuckDB keeps one instance of a path in a process: it must be the file that is there now."""
        self._place = str(self._path.resolve())
        others = _LIVE.setdefault(self._place, [])
        if _state_of(self._path) != self._state or any(each != self._state for each in others):
            self._connection.close()
            raise refuse(
                "D602",
                f"{self._path.name} was replaced while it was open",
                help="close the other connections to it, then open it again",
            )
        others.append(self._state)

    def _unopened(self, error: Exception) -> Exception:
        name = self._path.name
        if isinstance(error, FileNotFoundError) or not self._path.exists():
            return refuse("D602", f"there is no database {name}", help="check the path")
        if isinstance(error, IsADirectoryError):
            return refuse("D602", f"{name} is a folder", help="name a DuckDB file")
        if isinstance(error, PermissionError):
            return refuse("D602", f"{name} may not be read", help="check who may read it, and its folder")
        if any(each in str(error).casefold() for each in ("conflicting lock", "different configuration")):
            return refuse(
                "D602",
                f"{name} is in use by another process or connection that writes",
                help="close it there first; dpsql opens databases read-only",
            )
        return refuse(
            "D602",
            f"{name} cannot be opened as a DuckDB database",
            help="name a DuckDB file, a .parquet or .csv file, or a folder of them",
        )

    # ---- what is there -----------------------------------------------------------------------------

    def describe(self) -> Catalogue:
        with self._reading():
            tables = self._all(
                "SELECT schema_name, table_name, sql FROM duckdb_tables() "
                "WHERE NOT internal AND database_name = current_database() ORDER BY 1, 2"
            )
            unique = self._all(
                "SELECT schema_name, table_name, constraint_column_names FROM duckdb_constraints() "
                "WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND database_name = current_database()"
            )
            columns = [  # duckdb_columns() would make and bind every view of the system's own
                self._all(f"DESCRIBE {quote(str(schema))}.{quote(str(table))}") for schema, table, _ in tables
            ]
        found = []
        for (schema, table, sql), described in zip(tables, columns, strict=True):
            collations = _collations(str(sql))
            found.append(
                FoundTable(
                    str(table) if schema == "main" else f"{schema}.{table}",
                    tuple(
                        FoundColumn(str(name), str(kind), null == "YES", collations.get(str(name)))
                        for name, kind, null, *_ in described
                    ),
                    tuple(_names(u[2]) for u in unique if (u[0], u[1]) == (schema, table)),
                )
            )
        return Catalogue(tuple(found))

    def misread(self) -> tuple[str, ...]:
        return ()

    def version(self) -> str:
        return hashlib.sha256(repr(self._state).encode()).hexdigest()

    def identity(self) -> str:
        own = self._state.header[_IDENTITY]
        if any(own):
            return "duckdb:" + own.hex()
        return "duckdb:path:" + hashlib.sha256(os.fsencode(self._path.resolve())).hexdigest()

    def size(self, table: str) -> int:
        with self._reading():
            return int(str(self._all(f"SELECT count(*) FROM {table_sql(table)}")[0][0]))

    def values(self, table: str, column: str) -> tuple[Value, ...]:
        with self._reading():
            name = quote(column)
            described = self._all(f"DESCRIBE SELECT {name} FROM {table_sql(table)}")
            kind = type_named(str(described[0][1])).kind
            shown = f"CAST({name} AS VARCHAR)" if kind in TEXTED else name
            rows = self._all(
                f"SELECT DISTINCT {shown} FROM {table_sql(table)} WHERE {name} IS NOT NULL ORDER BY 1"
            )
        return tuple(fetched(row[0], kind) for row in rows)

    def ranges(self, table: str) -> dict[str, Interval]:
        with self._reading():
            described = self._all(f"DESCRIBE {table_sql(table)}")
            names = [str(each[0]) for each in described if type_named(str(each[1])).numeric]
            if not names:
                return {}
            ends = ", ".join(f"min({quote(name)}), max({quote(name)})" for name in names)
            row = self._all(f"SELECT {ends} FROM {table_sql(table)}")[0]
        found = {}
        for i, name in enumerate(names):
            low, high = row[2 * i], row[2 * i + 1]
            if isinstance(low, int | float | Decimal) and isinstance(high, int | float | Decimal):
                ends_of = [end if isinstance(end, int) else float(end) for end in (low, high)]
                if all(math.isfinite(end) for end in ends_of):
                    found[name] = Interval(*ends_of)
        return found

    def is_key(self, key: Key) -> bool:
        with self._reading():
            listed = ", ".join(quote(column) for column in key.columns)
            present = " AND ".join(f"{quote(column)} IS NOT NULL" for column in key.columns)
            rows = self._all(
                f"SELECT 1 FROM {table_sql(key.table)} WHERE {present} "
                f"GROUP BY {listed} HAVING count(*) > 1 LIMIT 1"
            )
        return not rows

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        legal = [f"bool_and({each})" for each in map(legal_sql, columns) if each is not None]
        if not legal:
            return True
        with self._reading():
            [said] = self._all(f"SELECT {', '.join(legal)} FROM {table_sql(table)}")
        return False not in said

    def rows(self, table: str) -> tuple[list[str], list[tuple[object, ...]]]:
        with self._reading():
            described = self._all(f"DESCRIBE {table_sql(table)}")
            types = [str(each[1]) for each in described]
            listed = ", ".join(
                f"CAST({quote(str(each[0]))} AS VARCHAR)"
                if type_named(str(each[1])).kind in TEXTED | {Kind.OPAQUE, Kind.INTERVAL}
                else quote(str(each[0]))
                for each in described
            )
            return types, self._all(f"SELECT {listed} FROM {table_sql(table)}")

    # ---- private rows ------------------------------------------------------------------------------

    # What prints and reads measures loads with the first of them, not with the database.

    def measure_sql(self, planned: Planned) -> str:
        from dpsql.engines.measured import measured_sql

        return measured_sql(planned)

    def measure(self, planned: Planned) -> ExactTable:
        from dpsql.engines.measured import measured

        with self._reading():
            return measured(planned, self._all, self._arrays)

    def codes_sql(self, planned: PlannedSurvey) -> str:
        from dpsql.engines.codes import codes_sql

        return codes_sql(planned)

    def codes(self, planned: PlannedSurvey) -> ExactCodes:
        from dpsql.engines.codes import coded

        with self._reading():
            return coded(planned, self._arrays)

    # ---- housekeeping ------------------------------------------------------------------------------

    def _all(self, sql: str) -> list[tuple[object, ...]]:
        return self._connection.execute(sql).fetchall()

    def _arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        return self._connection.execute(sql).fetchnumpy()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """One statement at a time, and none of DuckDB's words outside: they may quote data."""
        with self._lock:
            self.unchanged()
            try:
                yield
            except duckdb.InterruptException:
                raise interrupted() from None
            except Exception as error:
                self.unchanged()
                raise _failed(error) from None
            self.unchanged()

    def unchanged(self) -> None:
        """A database file stays what it was: DuckDB has it open, and keeps others from writing."""

    def interrupt(self) -> None:
        with suppress(duckdb.ConnectionException):  # closed meanwhile
            self._connection.interrupt()

    def close(self) -> None:
        with self._lock, _OPENING:
            self._connection.close()
            if self._state in _LIVE.get(self._place, ()):
                _LIVE[self._place].remove(self._state)


def _failed(error: Exception) -> DatabaseError:
    """What became of a query, in our words: the driver's own may hold data, of whatever kind they are."""
    again = "ask the same query again: it is completed without paying twice"
    full = isinstance(error, duckdb.IOException) and "could not write" in str(error).casefold()
    if full or isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return refuse(
            "D601",
            "there is too little room for this query",
            label="neither the memory nor the disk held it; what was debited stays debited",
            help=f"make room in {tempfile.gettempdir()}, or let TMPDIR name a larger disk; open again, then "
            + again,
        )
    return refuse(
        "D601",
        "the engine failed on this query",
        label="what was debited stays debited; the engine's own words may hold data",
        help=again,
    )


def _names(listed: object) -> tuple[str, ...]:
    assert isinstance(listed, list)
    return tuple(str(name) for name in listed)


def _collations(sql: str) -> dict[str, str]:
    """Collated columns of a CREATE TABLE as the catalogue prints it."""
    if "COLLATE" not in sql.upper():
        return {}
    from sqlglot import exp, parse_one  # few tables have any

    tree = parse_one(sql, read="duckdb")
    found = {}
    for column in tree.find_all(exp.ColumnDef):
        for constraint in column.find_all(exp.CollateColumnConstraint, exp.Collate):
            found[column.name] = constraint.name or "collated"
    return found

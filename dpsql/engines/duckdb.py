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
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.driver import connect, duckdb
from dpsql.engines.create_table import ColumnDefinition, column_definitions
from dpsql.engines.identifiers import TEXTED, fetched, quote, table_sql, text
from dpsql.engines.open_files import changed, hold, inherited, let_go
from dpsql.engines.spill import spill_folder
from dpsql.engines.value_checks import legal_sql
from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import Column, Interval, Kind, Value, type_named
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable, Key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpsql.ir.export import ExactExport, ExportPlan
    from dpsql.ir.plan import MeasurePlan
    from dpsql.ir.table import ExactTable

NAME = "duckdb"

_BESIDE = "the database beside an engine that was inherited"
"""What a file is called in an engine that was not opened with it."""


def steady(without: Sequence[str] = ()) -> tuple[str, ...]:
    """Settings without which DuckDB 2.0 fails on some rows and not on others, which must not tell of them.

    Plans are made ``without`` some more optimizers.
    """
    return (
        # calls functions with a column's least and greatest value at planning time, whatever CASE guards
        # them, and fails with them: epoch_ms(seen) would tell whether anybody is at the end of time
        f"disabled_optimizers = '{','.join(('statistics_propagation', *without))}'",
        # gathers small chunks behind a join or a filter, and fails where a joined column is a dictionary in
        # one chunk and none, or another, in the next: CASE WHEN age < 30 THEN place END does that, or not, by
        # the rows there are. (what two joins do alike, no setting prevents: see relation_sql.py)
        "enable_caching_operators = false",
    )


def lock_down(
    connection: duckdb.DuckDBPyConnection,
    timezone: str,
    paths: Sequence[Path] = (),
    without: Sequence[str] = (),
) -> None:
    """The same walls for every connection to the data; the first one sets them, and nobody lifts them.

    Nothing but ``paths`` can be read afterwards (and the spill folder), and plans are made ``without`` some
    optimizers.
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
        *steady(without),
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


def _connected(path: Path, threads: int | None) -> duckdb.DuckDBPyConnection:
    """A connection to the one engine that this process has for a file."""
    if not inherited(path):
        return connect(str(path), configuration(threads), read_only=True)
    made = connect(":memory:", configuration(threads))  # DuckDB would hand out the one from before the fork
    try:
        made.execute(f"ATTACH {text(str(path))} AS {quote(_BESIDE)} (READ_ONLY)")
        made.execute(f"USE {quote(_BESIDE)}")
    except BaseException:
        made.close()
        raise
    return made


class DuckDB:
    """One open database file."""

    _read: dict[str, tuple[ColumnDefinition, ...]] | None = None

    def __init__(self, path: Path, timezone: str = "UTC", threads: int | None = None) -> None:
        self._path = path
        self._lock = threading.RLock()
        try:
            self._file = hold(path, self)
        except OSError as error:
            raise self._unopened(error) from None
        try:
            self._open(timezone, threads)
        except BaseException as error:
            in_use = isinstance(error, duckdb.Error) and _used_here(error)
            let_go(self._file, self, in_use=in_use)
            if isinstance(error, duckdb.Error | OSError):
                raise self._unopened(error) from None
            raise

    def _open(self, timezone: str, threads: int | None) -> None:
        with self._file.opening:
            self._connection = _connected(self._file.path, threads)
            try:
                lock_down(self._connection, timezone)
                self._same_file()
            except BaseException:
                self._connection.close()
                raise

    def _unopened(self, error: Exception) -> Exception:
        name = self._path.name
        if isinstance(error, FileNotFoundError) or not self._path.exists():
            return refuse("D602", f"there is no database {name}", help="check the path")
        if isinstance(error, IsADirectoryError):
            return refuse("D602", f"{name} is a folder", help="name a DuckDB file")
        if isinstance(error, PermissionError):
            return refuse("D602", f"{name} may not be read", help="check who may read it, and its folder")
        if "conflicting lock" in str(error).casefold() or _used_here(error):
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
                "SELECT schema_name, table_name FROM duckdb_tables() "
                "WHERE NOT internal AND database_name = current_database() ORDER BY 1, 2"
            )
            unique = self._all(
                "SELECT schema_name, table_name, constraint_column_names FROM duckdb_constraints() "
                "WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND database_name = current_database()"
            )
            columns = [
                self._described(f"{quote(str(schema))}.{quote(str(table))}") for schema, table in tables
            ]
        found = []
        for (schema, table), described in zip(tables, columns, strict=True):
            name = str(table) if schema == "main" else f"{schema}.{table}"
            written = {each.name: each for each in reversed(self._written.get(name, ()))}
            stands = [
                FoundColumn(column, kind, nullable, _collation(written.get(column), kind))
                for column, kind, nullable in described
            ]
            unstable = tuple(
                each.name for each in stands if each.name in written and not written[each.name].stable
            )
            found.append(
                FoundTable(
                    name,
                    tuple(each for each in stands if each.name not in unstable),
                    tuple(_names(u[2]) for u in unique if (u[0], u[1]) == (schema, table)),
                    unstable=unstable,
                )
            )
        return Catalogue(tuple(found))

    @property
    def _written(self) -> dict[str, tuple[ColumnDefinition, ...]]:
        """The columns of tables that say more of them than names and types; few do.

        Not a ``cached_property``: Python 3.11 has one lock for all engines there, and a fork copies it taken.
        """
        if self._read is None:
            self._read = self._written_columns()
        return self._read

    def _written_columns(self) -> dict[str, tuple[ColumnDefinition, ...]]:
        with self._reading():
            tables = self._all(
                "SELECT schema_name, table_name, sql FROM duckdb_tables() "
                "WHERE NOT internal AND database_name = current_database() "
                "AND (sql ILIKE '%COLLATE%' OR sql ILIKE '%GENERATED%')"
            )
            if not tables:
                return {}
            own = "SELECT lower(function_name) FROM duckdb_functions() WHERE"
            shadowed = bool(self._all(f"{own} NOT internal INTERSECT {own} internal LIMIT 1"))
        return {
            str(table) if schema == "main" else f"{schema}.{table}": column_definitions(str(sql), shadowed)
            for schema, table, sql in tables
        }

    def _described(self, table: str) -> list[tuple[str, str, bool]]:
        """Name, type and whether NULL may be there, of each column.

        DESCRIBE would bind what columns are generated by, which fails here for a sequence's next value;
        duckdb_columns() would make and bind every view of the system's own.
        """
        rows = self._all(f'SELECT name, type, "notnull" FROM pragma_table_info({text(table)})')
        return [(str(name), str(kind), not filled) for name, kind, filled in rows]

    def _stable(self, table: str) -> list[tuple[str, str]]:
        """Names and types of the columns that read the same each time."""
        unstable = {each.name for each in self._written.get(table, ()) if not each.stable}
        return [(name, kind) for name, kind, _ in self._described(table_sql(table)) if name not in unstable]

    def misread(self) -> tuple[str, ...]:
        return ()

    def version(self) -> str:
        return hashlib.sha256(repr(self._file.state).encode()).hexdigest()

    def reading(self) -> str:
        return hashlib.sha256(repr((self.version(), duckdb.__version__)).encode()).hexdigest()

    def identity(self) -> str:
        own = self._file.state.identity
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
            names = [name for name, kind in self._stable(table) if type_named(kind).numeric]
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
        generated = {each.name for each in self._written.get(table, ()) if each.generated}
        legal = [f"bool_and({each})" for each in map(legal_sql, columns) if each is not None]
        # an UPDATE of what a column is generated from does not look whether that can be done
        legal += [
            f"bool_and(TRY(hash({quote(each.name)})) IS NOT NULL)"
            for each in columns
            if each.name in generated
        ]
        if not legal:
            return True
        with self._reading():
            [said] = self._all(f"SELECT {', '.join(legal)} FROM {table_sql(table)}")
        return False not in said

    def rows(self, table: str) -> tuple[list[str], list[tuple[object, ...]]]:
        with self._reading():
            described = self._stable(table)
            listed = ", ".join(
                f"CAST({quote(name)} AS VARCHAR)"
                if type_named(kind).kind in TEXTED | {Kind.OPAQUE, Kind.INTERVAL}
                else quote(name)
                for name, kind in described
            )
            return [kind for _, kind in described], self._all(f"SELECT {listed} FROM {table_sql(table)}")

    # ---- private rows ------------------------------------------------------------------------------

    # What prints and reads measures loads with the first of them, not with the database.

    def measure_sql(self, planned: MeasurePlan) -> str:
        from dpsql.engines.exact_tables import measured_sql

        return measured_sql(planned)

    def measure(self, planned: MeasurePlan) -> ExactTable:
        from dpsql.engines.exact_tables import measured

        with self._reading():
            return measured(planned, self._all, self._arrays)

    def export_sql(self, planned: ExportPlan) -> str:
        from dpsql.engines.export_sql import export_sql

        return export_sql(planned)

    def exact_export(self, planned: ExportPlan) -> ExactExport:
        from dpsql.engines.export_sql import coded

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
                if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
                    raise KeyboardInterrupt from None  # DuckDB's words for a signal's handler that raised
                self.unchanged()
                raise _failed(error) from None
            self.unchanged()

    def unchanged(self) -> None:
        """DuckDB's lock keeps other engines from writing, but not a copy over the file."""
        spill_folder()
        self._same_file()

    def _same_file(self) -> None:
        if not self._file.stands():
            raise changed(self._path)

    def interrupt(self) -> None:
        with suppress(duckdb.ConnectionException):  # closed meanwhile
            self._connection.interrupt()

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            let_go(self._file, self)


def _used_here(error: Exception) -> bool:
    """Whether another engine of this very process, which is not ours, has the file open."""
    said = str(error).casefold()
    return "different configuration" in said or "unique file handle conflict" in said


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


def _collation(written: ColumnDefinition | None, kind: str) -> str | None:
    """That of a text; a number that is generated from one has none."""
    return written.collation if written is not None and kind == "VARCHAR" else None

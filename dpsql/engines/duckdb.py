"""The DuckDB engine: open a database file read-only, lock the connection down, compute aggregates.

The configuration is the second line of defence (the closed language is the first): no external access, no
extensions, no Python objects, no change of settings. DuckDB's error messages may quote data, so they never
leave this file.
"""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.driver import beside, connect, duckdb
from dpsql.engines.contents import hashed
from dpsql.engines.create_table import ColumnDefinition, column_definitions
from dpsql.engines.database_names import named_by_header
from dpsql.engines.declared_values import strays_sql
from dpsql.engines.identifiers import TEXTED, fetched, quote, table_sql, text
from dpsql.engines.open_files import Held, changed, hold, is_aside, let_go
from dpsql.engines.public_columns import PublicColumns, public_columns_of, public_columns_sql
from dpsql.engines.rows_of_units import Misfits, misfits_of, misfits_sql
from dpsql.engines.spill import spill_folder
from dpsql.engines.value_checks import legal_sql
from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import Column, Kind, Value, decimal_size, type_named
from dpsql.ir.relation import Columns
from dpsql.policy.catalogue import Catalogue, ForeignKey, FoundColumn, FoundTable, FoundView, Key, KnownTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpsql.engines import Texts
    from dpsql.engines.contents import Contents
    from dpsql.engines.fast_sums import FastSums
    from dpsql.engines.statistics_engine import StatisticsEngine
    from dpsql.engines.stored_groups import GroupStore
    from dpsql.ir.export import ExactExport, ExportPlan
    from dpsql.ir.plan import MeasurePlan
    from dpsql.ir.table import ExactTable
    from dpsql.ir.unit_blocks import UnitBlocks, UnitHolder
    from dpsql.ir.votes import Examples, VotePlan

NAME = "duckdb"

_WORD = r'(?:"(?:[^"]|"")*"|\w+)'
_NAMED = rf"(?: (\({_WORD}(?:, {_WORD})*\)))?"
_VIEW = re.compile(rf"CREATE VIEW (?:{_WORD}\.)*{_WORD}{_NAMED} AS (.*?);?", re.DOTALL)
"""How DuckDB writes a view, with the names of its columns where it has some."""

_BESIDE = "the database beside an engine that was opened before"
"""The name of an attached file in an engine that was opened without it."""


STATISTICS = "statistics_propagation"
"""The optimizer that calls functions on the minimum and maximum of a column at planning time.

It does so even if a CASE guards them, and fails if they fail: epoch_ms(seen) would reveal whether a row holds
the last timestamp.
"""

SHARING = "common_subexpressions"
"""The optimizer that computes equal expressions once.

It takes four minutes to plan 5,000 sums. The second engine keeps it, and gets no measure of so many.
"""

PARTIAL = "partial_aggregate_pushdown"
"""The optimizer that adds up rows before they are joined.

It puts all that is computed below an aggregate over a join into one list, where an expression is computed as
often as it is read: two hundred times in a slope. The second engine has ``SHARING``, which undoes that.
"""

SIMPLIFYING = "outer_join_simplification"
"""The optimizer that makes an anti-join of a LEFT JOIN whose rows without a match alone are kept.

It forgets that other conditions read the columns of that side, NULL in all those rows, and fails: WHERE
w.ward IS NULL AND coalesce(w.beds, v.cost) > 3. A LEFT JOIN that is an inner one is found without it.
"""

WITHOUT = STATISTICS, SHARING, PARTIAL, SIMPLIFYING
"""The optimizers that the first engine does without."""

_MANY = 200
"""Sums of one measure that the second engine plans."""


def steady(without: Sequence[str] = WITHOUT) -> tuple[str, ...]:
    """Return settings without which DuckDB 2.0 fails on some rows only: a failure would reveal them.

    ``without`` names the optimizers to disable, those among them that only take time.
    """
    return (
        f"disabled_optimizers = '{','.join(without)}'",
        # Caching operators merge small chunks after a join or a filter, and fail if a joined column has a
        # dictionary in one chunk and another one, or none, in the next: CASE WHEN age < 30 THEN place END
        # does that or not, depending on the rows. (No setting prevents the same failure of two joins: see
        # relation_sql.py)
        "enable_caching_operators = false",
    )


def lock_down(
    connection: duckdb.DuckDBPyConnection,
    timezone: str,
    paths: Sequence[Path] = (),
    without: Sequence[str] = WITHOUT,
) -> None:
    """Lock down the engine: the first connection sets the configuration, and nothing can change it later.

    Afterwards only ``paths`` and the spill folder can be read. ``without`` names optimizers to disable.
    """
    query = "SELECT current_setting('lock_configuration'), current_setting('TimeZone')"
    [(locked, zone)] = connection.execute(query).fetchall()
    if locked:
        if zone != timezone:
            connection.close()
            raise refuse(
                "D602",
                f"the database is open in this process with the time zone {zone}",
                help="close the other connection first, or use one policy",
            )
        return
    connection.execute("SET enable_progress_bar = false")  # set per connection; on by default in a REPL
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
    """Return the settings that must be given when an engine starts."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": spill_folder(),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # an internal error fails one statement; by default all later statements on any connection fail too
        "disable_database_invalidation": "true",
        # of all memory; a file may have two engines
        "memory_limit": "40%",
    }
    return config if threads is None else config | {"threads": threads}


def _connect(file: Held, threads: int | None) -> duckdb.DuckDBPyConnection:
    """Connect to the engine that this process has for a file."""
    if not is_aside(file):
        return connect(str(file.path), configuration(threads), read_only=True)
    # by the file's path, DuckDB would return the engine from before the fork, or of the data before
    if file.aside is None:
        file.aside = _attached(file, threads)
    connection = beside(file.aside)
    try:
        connection.execute(f"USE {quote(_BESIDE)}")
    except BaseException:  # Ctrl-C too: closed, and raised again
        connection.close()
        raise
    return connection


def _attached(file: Held, threads: int | None) -> duckdb.DuckDBPyConnection:
    """Start an engine that has the file attached."""
    engine = connect(":memory:", configuration(threads))
    try:
        engine.execute(f"ATTACH {text(str(file.path))} AS {quote(_BESIDE)} (READ_ONLY)")
    except BaseException:  # Ctrl-C too: closed, and raised again
        engine.close()
        raise
    return engine


_ARRAYS = frozenset(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE VARCHAR".split()
)
"""Types whose values are the same in an array of numbers, or of texts."""

_UNITS = 18
"""The most digits of decimals whose units always fit 64 bits."""


def _in_array(column: str, kind: str) -> str:
    """Print a column as it stands in an array: decimals that fit 64 bits are whole numbers of their units."""
    if kind in _ARRAYS:
        return column
    if type_named(kind).kind is Kind.DECIMAL:
        width, scale = decimal_size(type_named(kind))
        if width <= _UNITS:
            wide = f"CAST({column} AS DECIMAL(19,{scale}))"  # DuckDB multiplies up to 18 digits in 64 bits
            return f"CAST({wide} * {10**scale} AS BIGINT)"
    return f"CAST({column} AS VARCHAR)"


class DuckDB:
    """One open database file."""

    reader = f"duckdb {duckdb.__version__}"
    _known_definitions: dict[str, tuple[ColumnDefinition, ...]] | None = None
    _sums: FastSums | None = None
    _groups: GroupStore | None = None
    _second: StatisticsEngine | None = None
    _failed: StatisticsEngine | None = None
    """A second engine that failed on a measure: then there is no other."""
    _threads: int | None = None
    _alone = True
    """Whether there is no second engine: what is attached or replaced here is not there, or one failed."""

    def __init__(self, path: Path, timezone: str = "UTC", threads: int | None = None) -> None:
        self._path = path
        self._timezone = timezone
        self._lock = threading.RLock()
        try:
            self._file = hold(path, self)
        except OSError as error:
            raise self._open_error(error) from None
        try:
            self._open(timezone, threads)
        except BaseException as error:  # Ctrl-C too: let go, and raised again
            in_use = isinstance(error, duckdb.Error) and _used_in_process(error)
            let_go(self._file, self, in_use=in_use)
            if isinstance(error, duckdb.Error | OSError):
                raise self._open_error(error) from None
            raise

    def _open(self, timezone: str, threads: int | None) -> None:
        with self._file.opening:
            self._connection = _connect(self._file, threads)
            try:
                lock_down(self._connection, timezone)
                self._same_file()
            except BaseException:  # Ctrl-C too: closed, and raised again
                self._connection.close()
                raise
        self._threads, self._alone = threads, False

    def _open_error(self, error: Exception) -> Exception:
        name = self._path.name
        if isinstance(error, FileNotFoundError) or not self._path.exists():
            return refuse("D602", f"there is no database {name}", help="check the path")
        if isinstance(error, IsADirectoryError):
            return refuse("D602", f"{name} is a folder", help="name a DuckDB file")
        if isinstance(error, PermissionError):
            return refuse("D602", f"{name} may not be read", help="check who may read it, and its folder")
        if "conflicting lock" in str(error).casefold() or _used_in_process(error):
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

    # ---- catalogue ---------------------------------------------------------------------------------

    def describe(self) -> Catalogue:
        with self._reading():
            found = self._all(
                "SELECT schema_name, table_name, schema_name <> 'main' AND lower(schema_name) IN "
                "(lower(current_database()), 'temp', 'system') FROM duckdb_tables() "
                "WHERE NOT internal AND database_name = current_database() ORDER BY 1, 2"
            )
            tables = [(schema, table) for schema, table, ambiguous in found if not ambiguous]
            unique = self._all(
                "SELECT schema_name, table_name, constraint_column_names FROM duckdb_constraints() "
                "WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND database_name = current_database()"
            )
            checks = self._all(
                "SELECT schema_name, table_name, expression FROM duckdb_constraints() "
                "WHERE constraint_type = 'CHECK' AND database_name = current_database()"
            )
            foreign = self._all(
                "SELECT schema_name, table_name, constraint_column_names, referenced_table, "
                "referenced_column_names FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY' "
                "AND database_name = current_database()"
            )
            columns = [
                self._column_info(f"{quote(str(schema))}.{quote(str(table))}") for schema, table in tables
            ]
        found_tables = []
        for (schema, table), described in zip(tables, columns, strict=True):
            name = _name(schema, table)
            definitions = {column.name: column for column in reversed(self._definitions.get(name, ()))}
            found_columns = [
                FoundColumn(column, kind, nullable, _collation(definitions.get(column), kind))
                for column, kind, nullable in described
            ]
            unstable = tuple(
                column.name
                for column in found_columns
                if column.name in definitions and not definitions[column.name].stable
            )
            found_tables.append(
                FoundTable(
                    name,
                    tuple(column for column in found_columns if column.name not in unstable),
                    tuple(_names(u[2]) for u in unique if (u[0], u[1]) == (schema, table)),
                    unstable=unstable,
                    checks=tuple(str(c[2]) for c in checks if (c[0], c[1]) == (schema, table)),
                    foreign=tuple(
                        ForeignKey(_columns(columns), _name(schema, there), _columns(keys))
                        for where, name_there, columns, there, keys in foreign
                        if (where, name_there) == (schema, table)
                    ),
                )
            )
        return Catalogue(
            tuple(found_tables), tuple(f"{schema}.{table}" for schema, table, ambiguous in found if ambiguous)
        )

    @property
    def _definitions(self) -> dict[str, tuple[ColumnDefinition, ...]]:
        """Column definitions of the tables that have collations or generated columns.

        Not a ``cached_property``: in Python 3.11 it has one lock for all engines, which a fork may copy while
        it is locked.
        """
        if self._known_definitions is None:
            self._known_definitions = self._read_definitions()
        return self._known_definitions

    def _read_definitions(self) -> dict[str, tuple[ColumnDefinition, ...]]:
        with self._reading():
            tables = self._all(
                "SELECT schema_name, table_name, sql FROM duckdb_tables() "
                "WHERE NOT internal AND database_name = current_database() "
                "AND (sql ILIKE '%COLLATE%' OR sql ILIKE '%GENERATED%')"
            )
            if not tables:
                return {}
            functions = "SELECT lower(function_name) FROM duckdb_functions() WHERE"
            shadowed = bool(self._all(f"{functions} NOT internal INTERSECT {functions} internal LIMIT 1"))
        return {_name(schema, table): column_definitions(str(sql), shadowed) for schema, table, sql in tables}

    def _column_info(self, table: str) -> list[tuple[str, str, bool]]:
        """Return name, type and nullability of each column.

        DESCRIBE would bind the expressions of generated columns, which fails here for a sequence's next
        value; duckdb_columns() would create and bind every system view.
        """
        rows = self._all(f'SELECT name, type, "notnull" FROM pragma_table_info({text(table)})')
        return [(str(name), str(kind), not filled) for name, kind, filled in rows]

    def _stable_columns(self, table: str) -> list[tuple[str, str]]:
        """Return names and types of the columns that have the same value whenever they are read."""
        unstable = {
            definition.name for definition in self._definitions.get(table, ()) if not definition.stable
        }
        return [(name, kind) for name, kind, _ in self._column_info(table_sql(table)) if name not in unstable]

    def views(self) -> tuple[FoundView, ...]:
        """Those of the main schema, in the order in which they may use each other."""
        with self._reading():
            found = self._all(
                "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' "
                "AND database_name = current_database() ORDER BY view_oid"
            )
        parts = [(str(name), _VIEW.fullmatch(str(sql))) for name, sql in found]
        return tuple(FoundView(name, _query(part[1], part[2])) for name, part in parts if part is not None)

    def misread(self) -> tuple[str, ...]:
        return ()

    def version(self, contents: Contents, tables: Collection[str] | None = None) -> str:
        """The bytes of the whole file and of its log, and the time zone, for any tables."""
        with self._lock:
            self.unchanged()
            try:
                digest = contents.digest(self._file.contents())
            except OSError as error:
                raise self._open_error(error) from None
            self.unchanged()
        return hashed((digest, self._timezone))

    def identity(self) -> str:
        return named_by_header(self._file.state.identity, self._path)

    def size(self, table: str) -> int:
        with self._reading():
            return int(str(self._all(f"SELECT count(*) FROM {table_sql(table)}")[0][0]))

    def combinations(self, table: str, columns: Sequence[str]) -> tuple[tuple[Value, ...], ...]:
        with self._reading():
            names = [quote(column) for column in columns]
            described = self._all(f"DESCRIBE SELECT {', '.join(names)} FROM {table_sql(table)}")
            kinds = [type_named(str(description[1])).kind for description in described]
            shown = [
                f"CAST({name} AS VARCHAR)" if kind in TEXTED else name
                for name, kind in zip(names, kinds, strict=True)
            ]
            rows = self._all(f"SELECT DISTINCT {', '.join(shown)} FROM {table_sql(table)} ORDER BY ALL")
        return tuple(
            tuple(value if value is None else fetched(value, kinds[i]) for i, value in enumerate(row))
            for row in rows
        )

    def public_columns(self, table: str, rows: int) -> PublicColumns:
        with self._reading():
            types = {name: type_named(kind) for name, kind in self._stable_columns(table)}
            if not types:
                return PublicColumns({}, frozenset())
            [row] = self._all(public_columns_sql(types, table_sql(table), rows))
        return public_columns_of(types, row)

    def is_key(self, key: Key) -> bool:
        with self._reading():
            listed = ", ".join(quote(column) for column in key.columns)
            present = " AND ".join(f"{quote(column)} IS NOT NULL" for column in key.columns)
            rows = self._all(
                f"SELECT 1 FROM {table_sql(key.table)} WHERE {present} "
                f"GROUP BY {listed} HAVING count(*) > 1 LIMIT 1"
            )
        return not rows

    def units(
        self, holders: Sequence[UnitHolder], blocks: UnitBlocks, take: Callable[[Sequence[Texts]], None]
    ) -> None:
        from dpsql.engines.units_sql import CHUNK, units_sql  # of few policies

        with self._reading():
            found = self._connection.execute(units_sql(holders, blocks, table_sql))
            while rows := found.fetchmany(CHUNK):
                take(rows)

    def is_spelled_alike(self, table: str, columns: Sequence[str]) -> bool:
        with self._reading():
            texts = [f"CAST({quote(column)} AS VARCHAR)" for column in columns]
            present = " AND ".join(f"{quote(column)} IS NOT NULL" for column in columns)
            read = ", ".join(f"{text} AS s{place}" for place, text in enumerate(texts))
            by = ", ".join(f"lower(trim(s{place}))" for place in range(len(texts)))
            spelled = f"SELECT DISTINCT {read} FROM {table_sql(table)} WHERE {present}"
            return bool(self._all(f"SELECT 1 FROM ({spelled}) GROUP BY {by} HAVING count(*) > 1 LIMIT 1"))

    def strays(self, table: str, columns: Sequence[Column]) -> dict[str, int]:
        names, shares = strays_sql(columns)
        if not names:
            return {}
        with self._reading():
            [found] = self._all(f"SELECT {shares} FROM {table_sql(table)}")
        return {name: share for name, share in zip(names, found, strict=True) if isinstance(share, int)}

    def misfits(self, table: KnownTable, holder: KnownTable | None) -> Misfits:
        with self._reading():
            [shares] = self._all(misfits_sql(table, holder, table_sql))
        return misfits_of(shares)

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        generated = {column.name for column in self._definitions.get(table, ()) if column.generated}
        conditions = [f"bool_and({legal})" for legal in map(legal_sql, columns) if legal is not None]
        # an UPDATE of a column does not check whether the columns generated from it can be computed
        conditions += [
            f"bool_and(TRY(hash({quote(column.name)})) IS NOT NULL)"
            for column in columns
            if column.name in generated
        ]
        if not conditions:
            return True
        with self._reading():
            [results] = self._all(f"SELECT {', '.join(conditions)} FROM {table_sql(table)}")
        return False not in results

    def rows(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[tuple[object, ...]]]:
        with self._reading():
            kinds = dict(self._stable_columns(table))
            described = [(name, kinds[name]) for name in columns]
            listed = ", ".join(
                f"CAST({quote(name)} AS VARCHAR)"
                if type_named(kind).kind in TEXTED | {Kind.OPAQUE, Kind.INTERVAL, Kind.DECIMAL}
                else quote(name)
                for name, kind in described
            )
            return [kind for _, kind in described], self._all(f"SELECT {listed} FROM {table_sql(table)}")

    def public_arrays(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[NDArray[Any]]]:
        with self._reading():
            kinds = dict(self._stable_columns(table))
            listed = ", ".join(
                f"{_in_array(quote(name), kinds[name])} AS c{place}" for place, name in enumerate(columns)
            )
            arrays = self._arrays(f"SELECT {listed} FROM {table_sql(table)}")
        return [kinds[name] for name in columns], [*arrays.values()]

    # ---- private rows ------------------------------------------------------------------------------

    # The modules that print and run measures are imported with the first measure, not with the database.

    def measure_sql(self, planned: MeasurePlan) -> str:
        from dpsql.engines.exact_tables import measured_sql

        return measured_sql(planned)

    def measure(self, planned: MeasurePlan) -> ExactTable:
        from dpsql.engines.exact_tables import measured
        from dpsql.engines.fast_sums import FastSums
        from dpsql.engines.stored_groups import GroupStore

        with self._reading():
            if self._sums is None:
                self._sums = FastSums(self._ask, left_out=self._slow_to_read())
            sums = self._sums
            if not self._alone and sums.is_large(planned):
                found = self._by_statistics(planned)
                if found is not None:
                    return found
            if self._groups is None:
                self._groups = GroupStore(self._all, self._arrays, self._ask)
            store = self._groups if sums.many_groups(planned) else None
            with sums.held(planned):
                return measured(
                    planned, self._all, self._arrays, sums.statement, store, special_of=sums.special
                )

    def _by_statistics(self, planned: MeasurePlan) -> ExactTable | None:
        """Measure on the second engine, if every call of the measure is one that it may plan."""
        from dpsql.facts.known_calls import known_calls

        if len(planned.measure.statistics) > _MANY or not known_calls(planned.measure):
            return None
        try:
            self._second = self._second or self._opened_beside()
        except duckdb.Error:  # the file is read by the first engine alone
            self._alone = True
            return None
        found = self._second.measure(planned)
        if found is None:
            # groups that it keeps may still be asked for
            self._failed, self._second = self._second, None
            self._alone = True
        return found

    def _opened_beside(self) -> StatisticsEngine:
        """Open the second engine, which all connections to this file share."""
        from dpsql.engines.statistics_engine import StatisticsEngine

        with self._file.opening:
            if self._file.informed is None:
                engine = _attached(self._file, self._threads)
                try:
                    lock_down(engine, self._timezone, without=(SIMPLIFYING,))
                except BaseException:  # Ctrl-C too: closed, and raised again
                    engine.close()
                    raise
                self._file.informed = engine
            second = StatisticsEngine(self._file.informed, quote(_BESIDE), reading=self._reading)
        self.unchanged()
        return second

    def _close_second(self) -> None:
        engines, self._second, self._failed = (self._second, self._failed), None, None
        for engine in engines:
            if engine is not None:
                engine.close()

    def _slow_to_read(self) -> frozenset[str]:
        """Return the tables of which a pass takes longer than any sum."""
        return frozenset()

    def forget(self) -> None:
        """Forget what is known of the private rows: those who replace tables by views say so."""
        with self._reading():
            if self._sums is not None:
                self._sums.forget()
            self._close_second()

    def export_sql(self, planned: ExportPlan) -> str:
        from dpsql.engines.export_sql import export_sql

        return export_sql(planned)

    def exact_export(self, planned: ExportPlan) -> ExactExport:
        from dpsql.engines.export_sql import coded

        with self._reading():
            return coded(planned, self._arrays)

    def examples_sql(self, planned: VotePlan) -> str:
        from dpsql.engines.examples_sql import examples_sql

        return examples_sql(planned)

    def examples(self, planned: VotePlan) -> Examples:
        from dpsql.engines.examples_sql import fetched

        with self._reading():
            return fetched(planned, self._all)

    # ---- housekeeping ------------------------------------------------------------------------------

    def _all(self, sql: str) -> list[tuple[object, ...]]:
        return self._connection.execute(sql).fetchall()

    def _ask(self, sql: str) -> list[tuple[object, ...]]:
        with self._reading():
            return self._all(sql)

    def _arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        return self._connection.execute(sql).fetchnumpy()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Run one statement at a time, and replace DuckDB's error messages: they may quote data."""
        with self._lock:
            self.unchanged()
            try:
                yield
            except duckdb.InterruptException:
                raise interrupted() from None
            except DatabaseError:  # of a statement within this one: it says all
                raise
            except Exception as error:  # whatever DuckDB raises: its message may hold data
                if isinstance(error, RuntimeError) and str(error) == "Query interrupted":
                    raise KeyboardInterrupt from None  # DuckDB's error if a signal handler raised
                self.unchanged()
                raise _query_error(error) from None
            self.unchanged()

    def unchanged(self) -> None:
        """Raise D602 if the file changed: DuckDB's lock does not prevent a copy over the file."""
        spill_folder()
        self._same_file()

    def _same_file(self) -> None:
        if not self._file.stands():
            raise changed(self._path)

    def interrupt(self) -> None:
        with suppress(duckdb.ConnectionException):  # closed meanwhile
            self._connection.interrupt()
        second = self._second
        if second is not None:
            with suppress(duckdb.ConnectionException):  # closed meanwhile
                second.interrupt()

    def close(self) -> None:
        with self._lock:
            self._close_second()
            self._connection.close()
            let_go(self._file, self)


def _used_in_process(error: Exception) -> bool:
    """Whether another engine of this process, not opened by dpsql, has the file open."""
    message = str(error).casefold()
    return "different configuration" in message or "unique file handle conflict" in message


def _name(schema: object, table: object) -> str:
    return str(table) if schema == "main" else f"{schema}.{table}"


def _query_error(error: Exception) -> DatabaseError:
    """Return an error without the driver's message, which may contain data."""
    again = "ask the same query again: it is completed without paying twice"
    full = isinstance(error, duckdb.IOException) and "could not write" in str(error).casefold()
    if full or isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return refuse(
            "D601",
            "there is too little room for this query",
            label="memory and disk are both too small; what was debited stays debited",
            help=f"make room in {tempfile.gettempdir()}, or let TMPDIR name a larger disk; open again, then "
            + again,
        )
    return refuse(
        "D601",
        "the engine failed on this query",
        label="what was debited stays debited; the engine's message is not shown, as it may contain data",
        help=again,
    )


def _query(columns: str | None, sql: str) -> str:
    """Return the query of a view, whose columns may have names of their own."""
    return sql if columns is None else f"SELECT * FROM ({sql}) AS renamed {columns}"


def _names(names: object) -> tuple[str, ...]:
    assert isinstance(names, list)
    return tuple(str(name) for name in names)


def _columns(names: object) -> Columns:
    found = _names(names)
    return found[0] if len(found) == 1 else found


def _collation(definition: ColumnDefinition | None, kind: str) -> str | None:
    """Return the collation of a text column; None for other types."""
    return definition.collation if definition is not None and kind == "VARCHAR" else None

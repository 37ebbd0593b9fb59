"""The PostgreSQL engine: each reading is one snapshot, of the version of the data that was opened.

    LOCK TABLE ... IN ACCESS SHARE MODE      nobody replaces a table's file from here on
    SELECT states                            the snapshot: the same versions as at opening, or D602
    SELECT sums                              in the same snapshot
    ROLLBACK

Claim   what a reading returns is of the version that ``version`` names.
Proof   The transaction is REPEATABLE READ and READ ONLY; its snapshot is taken by the first SELECT, after the
        locks, so that TRUNCATE and ALTER TABLE, which snapshots do not bind, come wholly before or after.
        Versions and rows are read in one snapshot (versions.py).
Test    tests/privacy/test_postgres_versions.py

The driver's and the server's messages may quote data: they never leave this file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from dpsql.engines.contents import hashed
from dpsql.engines.declared_values import strays_sql
from dpsql.engines.identifiers import TEXTED, fetched, quote
from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.dialect import Postgres as Dialect
from dpsql.engines.postgres.dialect import refused
from dpsql.engines.postgres.relations import Relation, relations
from dpsql.engines.postgres.temporary_tables import AsWritten, InSession
from dpsql.engines.postgres.texts import MOST_BYTES
from dpsql.engines.postgres.url import PostgresUrl
from dpsql.engines.postgres.versions import State, states
from dpsql.engines.postgres.vetted import check_measure
from dpsql.engines.postgres.walls import check_rights, check_session, identity
from dpsql.engines.public_columns import PublicColumns, public_columns_of, public_columns_sql
from dpsql.engines.rows_of_units import Misfits, misfits_of, misfits_sql
from dpsql.engines.units_sql import CHUNK, units_sql
from dpsql.engines.vetted_rows import before_its_rows
from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import Column, Kind, Type, Value, type_named
from dpsql.policy.catalogue import Catalogue, FoundView, Key, KnownTable
from dpsql.policy.model import Policy
from dpsql.policy.names import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

    from dpsql.detail_kinds import Rows
    from dpsql.engines import Texts
    from dpsql.engines.batch_groups import BatchStore
    from dpsql.engines.contents import Contents
    from dpsql.engines.fast_sums import FastSums
    from dpsql.engines.special_units import Limits
    from dpsql.ir.export import ExactExport, ExportPlan
    from dpsql.ir.plan import MeasurePlan
    from dpsql.ir.table import ExactTable
    from dpsql.ir.unit_blocks import UnitBlocks, UnitHolder
    from dpsql.ir.votes import Examples, VotePlan

T = TypeVar("T")

_AGAIN = "ask the same query again: it is completed without paying twice"

_OWN_TABLES = """
SELECT has_database_privilege(current_database(), 'TEMPORARY') AND NOT pg_catalog.pg_is_in_recovery()
"""

_FIRST = "CAST('4713-01-01 BC' AS timestamp)"
_LAST = "CAST('294246-12-31 23:59:59' AS timestamp)"
"""Moments that DuckDB, which finishes answers, holds too."""


class PostgresEngine:
    """One database of a server, as a role reads it."""

    reader = "postgresql"

    def __init__(self, url: PostgresUrl, policy: Policy | None = None, limits: Limits | None = None) -> None:
        self._url = url
        self._timezone = "UTC" if policy is None else policy.timezone
        self._wanted = None if policy is None else {fold(rule.name) for rule in policy.tables}
        self._zones: frozenset[str] | None = None
        self._sums: FastSums | None = None
        self._groups: BatchStore | None = None
        self._limits = limits
        self._lock = threading.RLock()
        self._connection = self._connected()
        try:
            self._open()
        except BaseException:  # Ctrl-C too: closed, and raised again
            self._connection.close()
            raise

    def _connected(self) -> Connection[Any]:
        psycopg = _driver()
        try:
            connected: Connection[Any] = psycopg.connect(
                autocommit=True, prepare_threshold=None, **self._url.words()
            )
            return connected
        except psycopg.Error:
            raise refuse(
                "D602",
                f"the database {self._url} cannot be reached",
                label="the driver's message is not shown",
                help=f"try the same with psql; a password belongs into ~/.pgpass: psql '{self._url}'",
            ) from None

    def _open(self) -> None:
        """Check the server, the role and the tables, and note which version they hold."""
        with self._translated():
            number = check_session(self._catalogue, self._timezone)
            self.reader = f"postgresql {number // 10_000}.{number % 10_000}"
            self._identity = identity(self._catalogue)
            found = self._found()
            self._relations = {each.called: each for each in found if each.unread is None}
            if self._wanted is not None:
                self._check(found)
            self._states, again = self._in_snapshot(lambda: (self._present(), self._found()))
            if again != found:
                raise self._changed()
        if self._wanted is not None:
            for each in self._relations.values():
                if each.oid not in self._states:
                    raise refuse(
                        "D602",
                        f"nothing says when {each.called} changes",
                        label="an answer belongs to one version of the data",
                        help="let the owner run track_changes.sql, again if it was an older dpsql's, then "
                        f"SELECT dpsql.track('{each.place}'), and let this role read: "
                        "GRANT USAGE ON SCHEMA dpsql; GRANT SELECT ON dpsql.versions",
                    )

    def _found(self) -> tuple[Relation, ...]:
        found = relations(self._catalogue)
        return tuple(each for each in found if self._wanted is None or fold(each.called) in self._wanted)

    def _check(self, found: Sequence[Relation]) -> None:
        for each in found:
            if each.unread is not None:
                raise refuse(
                    "D602",
                    f"{each.called} is {each.unread}",
                    label="nobody knows here when its rows change",
                    help="name a plain table in the policy, to which the rows are copied",
                )
        check_rights(self._catalogue, [each.oid for each in found])

    # ---- catalogue ---------------------------------------------------------------------------------

    def describe(self) -> Catalogue:
        return Catalogue(tuple(each.found for each in self._relations.values()))

    def views(self) -> tuple[FoundView, ...]:
        return ()

    def misread(self) -> tuple[str, ...]:
        return ()

    def version(self, contents: Contents, tables: Collection[str] | None = None) -> str:
        """The states of the tables, and the time zone, in which moments become days."""
        named = None if tables is None else {fold(name) for name in tables}
        chosen = sorted(name for name in self._relations if named is None or fold(name) in named)
        self.unchanged()
        held = [(name, self._states.get(self._relations[name].oid)) for name in chosen]
        return hashed((self._identity, held, self._timezone))

    def identity(self) -> str:
        return self._identity

    # ---- public rows, and checks -------------------------------------------------------------------

    def size(self, table: str) -> int:
        return int(str(self._ask(f"SELECT count(*) FROM {self._rows(table)}")[0][0]))

    def combinations(self, table: str, columns: Sequence[str]) -> tuple[tuple[Value, ...], ...]:
        types = self._types(table)
        kinds = [types[column].kind for column in columns]
        listed = ", ".join(_sent(column, types[column]) for column in columns)
        places = ", ".join(str(place + 1) for place in range(len(columns)))
        rows = self._ask(f"SELECT DISTINCT {listed} FROM {self._rows(table)} ORDER BY {places}")
        return tuple(
            tuple(_read(value, kind) for value, kind in zip(row, kinds, strict=True)) for row in rows
        )

    def public_columns(self, table: str, rows: int) -> PublicColumns:
        types = self._types(table)
        if not types:
            return PublicColumns({}, frozenset())
        [row] = self._ask(public_columns_sql(types, self._rows(table), rows))
        return public_columns_of(types, row)

    def is_key(self, key: Key) -> bool:
        listed = ", ".join(map(quote, key.columns))
        present = " AND ".join(f"{quote(column)} IS NOT NULL" for column in key.columns)
        read = f"SELECT 1 FROM {self._rows(key.table)} WHERE {present} GROUP BY {listed}"
        return not self._ask(f"{read} HAVING count(*) > 1 LIMIT 1")

    def units(
        self, holders: Sequence[UnitHolder], blocks: UnitBlocks, take: Callable[[Sequence[Texts]], None]
    ) -> None:
        sql = units_sql(holders, blocks, self._rows)

        def read() -> None:
            self._checked("SELECT 1")
            with self._connection.cursor(name="dpsql_units") as cursor:
                cursor.execute(sql.encode())
                while rows := cursor.fetchmany(CHUNK):
                    take(rows)

        with self._translated():
            self._in_snapshot(read)

    def is_spelled_alike(self, table: str, columns: Sequence[str]) -> bool:
        texts = ", ".join(f"CAST({quote(column)} AS text) AS s{at}" for at, column in enumerate(columns))
        present = " AND ".join(f"{quote(column)} IS NOT NULL" for column in columns)
        by = ", ".join(f"lower(trim(s{at}))" for at in range(len(columns)))
        spelled = f"(SELECT DISTINCT {texts} FROM {self._rows(table)} WHERE {present}) AS s"
        return bool(self._ask(f"SELECT 1 FROM {spelled} GROUP BY {by} HAVING count(*) > 1 LIMIT 1"))

    def strays(self, table: str, columns: Sequence[Column]) -> dict[str, int]:
        names, shares = strays_sql(columns)
        if not names:
            return {}
        [found] = self._ask(f"SELECT {shares} FROM {self._rows(table)}")
        return {name: share for name, share in zip(names, found, strict=True) if isinstance(share, int)}

    def misfits(self, table: KnownTable, holder: KnownTable | None) -> Misfits:
        [shares] = self._ask(misfits_sql(table, holder, self._selected))
        return misfits_of(shares)

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        """No numeric is NaN, no text too long, no moment later than DuckDB's last, which finishes answers."""
        types = self._types(table)
        conditions = [
            condition
            for column in columns
            if (condition := _legal(quote(column.name), types[column.name])) is not None
        ]
        if not conditions:
            return True
        legal = ", ".join(f"bool_and({condition})" for condition in conditions)
        [row] = self._ask(f"SELECT {legal} FROM {self._rows(table)}")
        return False not in row

    def rows(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[tuple[object, ...]]]:
        every = self._types(table)
        types = {name: every[name] for name in columns}
        listed = ", ".join(map(_sent, types.keys(), types.values()))
        rows = self._ask(f"SELECT {listed} FROM {self._rows(table)}")
        kinds = [each.kind for each in types.values()]
        plain = [tuple(map(_plain, row, kinds)) for row in rows]
        return [each.sql for each in types.values()], plain

    def public_arrays(self, table: str, columns: Sequence[str]) -> None:
        return None

    # ---- private rows ------------------------------------------------------------------------------

    def measure_sql(self, planned: MeasurePlan) -> str:
        """Print a measure, and let the server parse it: what it does not know is refused before a debit.

        Rows of an earlier stage are not there yet: it is parsed with none, in their types.
        """
        for sql in self._printed(before_its_rows(planned)):
            self._parse(sql)
        return ";\n".join(self._printed(planned))

    def measure(self, planned: MeasurePlan) -> ExactTable:
        from dpsql.engines.batch_groups import has_private_groups
        from dpsql.engines.exact_tables import measured

        kinds = [column.fact.type.kind for column in planned.keys]

        def rows_of(sql: str) -> list[tuple[Any, ...]]:
            width = len(kinds)
            return [(*map(_key, row, kinds), *map(_whole, row[width:])) for row in self._ask(sql)]

        with self._lock, self._refusing():
            check_measure(planned)
            sums = self._fast_sums()
            store = self._batch_store() if has_private_groups(planned) else None
            return measured(planned, rows_of, self._arrays, sums.statement, store, sums.dialect)

    def _batch_store(self) -> BatchStore:
        from dpsql.engines.batch_groups import BatchStore

        if self._groups is None:
            self._groups = BatchStore(self._in_batches, _key, self._dialect())
        return self._groups

    def _in_batches(self, sql: str, take: Callable[[Rows], None]) -> None:
        """Run one statement in a snapshot of the version that was opened, and hand its rows over."""

        def read() -> None:
            self._checked("SELECT 1")
            with self._connection.cursor(name="dpsql_groups") as cursor:
                cursor.execute(sql.encode())
                while rows := cursor.fetchmany(CHUNK):
                    take(rows)

        with self._translated():
            self._in_snapshot(read)

    def _fast_sums(self) -> FastSums:
        """Return what chooses the statements of this connection; what it found ends with the connection."""
        from dpsql.engines.fast_sums import FastSums
        from dpsql.engines.special_units import Limits

        with self._translated():  # connects again
            if self._sums is None:
                [(writes,)] = self._catalogue(_OWN_TABLES, ())
                tables = InSession(self._define, self._fill) if writes else AsWritten()
                limits = self._limits or Limits(copied=0, long=0)
                self._sums = FastSums(self._ask, limits, few=0, dialect=self._dialect(), tables=tables)
            return self._sums

    def _define(self, sql: str) -> None:
        """Run a statement that makes or drops a temporary table, and reads no row."""
        with self._translated():
            self._execute("BEGIN READ WRITE")
            try:
                self._execute(sql)
                self._execute("COMMIT")
            finally:
                self._end()

    def _fill(self, sql: str) -> None:
        """Fill a temporary table in a snapshot of the version that was opened."""

        def filled() -> None:
            self._checked(sql)
            self._execute("COMMIT")

        with self._translated():
            self._in_snapshot(filled)

    def _printed(self, planned: MeasurePlan) -> list[str]:
        from dpsql.engines.exact_tables import statements_of

        with self._refusing():
            check_measure(planned)
            return statements_of(planned, self._dialect())

    def _dialect(self) -> Dialect:
        tables = {name: relation.select() for name, relation in self._relations.items()}
        return Dialect(tables, self._known_zones)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except NotVetted as error:
            raise refused(error.what) from None

    def _arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """Fetch whole numbers without NULL as arrays, by the names of their columns."""
        import numpy as np

        def read() -> dict[str, NDArray[Any]]:
            self._checked("SELECT 1")
            with self._connection.cursor(name="dpsql_arrays") as cursor:
                cursor.execute(sql.encode())
                names = [column.name for column in cursor.description or ()]
                parts = [np.empty((0, len(names)), dtype=np.int64)]
                while rows := cursor.fetchmany(CHUNK):
                    parts.append(np.array(rows, dtype=np.int64))
                return dict(zip(names, np.concatenate(parts).T, strict=True))

        with self._translated():
            return self._in_snapshot(read)

    def export_sql(self, planned: ExportPlan) -> str:
        raise refused("an export")

    def exact_export(self, planned: ExportPlan) -> ExactExport:
        raise refused("an export")

    def examples_sql(self, planned: VotePlan) -> str:
        raise refused("a vote")

    def examples(self, planned: VotePlan) -> Examples:
        raise refused("a vote")

    def _known_zones(self) -> frozenset[str]:
        if self._zones is None:
            with self._translated():
                found = self._catalogue("SELECT name FROM pg_catalog.pg_timezone_names", ())
            self._zones = frozenset(str(name) for (name,) in found)
        return self._zones

    def _parse(self, sql: str) -> None:
        """Let the server parse a statement; it plans nothing and reads no row."""
        psycopg = _driver()
        with self._translated():
            try:
                self._execute(
                    f"DEALLOCATE ALL; PREPARE dpsql_parsed AS {sql}"
                )  # an earlier one is still there
            except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
                raise self._changed() from None
            except (psycopg.ProgrammingError, psycopg.NotSupportedError):
                raise refused("this combination of types") from None

    # ---- readings ----------------------------------------------------------------------------------

    def _rows(self, table: str) -> str:
        return f"{self._selected(table)} AS t"

    def _selected(self, table: str) -> str:
        return f"({self._relations[self._spelled(table)].select()})"

    def _types(self, table: str) -> dict[str, Type]:
        columns = self._relations[self._spelled(table)].columns
        return {column.name: type_named(column.sql) for column in columns}

    def _spelled(self, table: str) -> str:
        return next(name for name in self._relations if fold(name) == fold(table))

    def _ask(self, sql: str) -> list[tuple[object, ...]]:
        """Run one statement in a snapshot of the version that was opened, and fetch its rows."""
        with self._translated():
            return self._in_snapshot(lambda: self._checked(sql))

    def _checked(self, sql: str) -> list[tuple[object, ...]]:
        if self._present() != self._states:
            raise self._changed()
        return self._execute(sql)

    def _in_snapshot(self, read: Callable[[], T]) -> T:
        """Run a reading between locks and the end of its transaction."""
        self._execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            if self._relations:
                places = ", ".join(f"ONLY {each.place}" for each in self._relations.values())
                self._execute(f"LOCK TABLE {places} IN ACCESS SHARE MODE")
            return read()
        finally:
            self._end()

    def _end(self) -> None:
        """End the transaction; a connection that cannot is closed, and the next reading opens another."""
        try:
            self._execute("ROLLBACK")
        except Exception:  # lost, or in the middle of something that was interrupted
            self._connection.close()

    def _present(self) -> dict[int, State]:
        return states(self._catalogue, [each.oid for each in self._relations.values()])

    def _catalogue(self, sql: str, parameters: Sequence[object]) -> list[tuple[object, ...]]:
        """Run a statement on the system's catalogue, with parameters."""
        return _fetched(self._connection, sql, parameters)

    def _execute(self, sql: str) -> list[tuple[object, ...]]:
        """Run a statement as it is printed."""
        return _fetched(self._connection, sql)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Replace the server's messages, and connect again if the connection is lost.

        One that is left within a transaction or a statement, by Ctrl-C at any moment, is closed. None is
        entered within another.
        """
        psycopg = _driver()
        with self._lock:
            try:
                if not self._is_idle():
                    self._let_go()
                    self._connect_again()
                yield
            except DatabaseError:
                raise
            except psycopg.errors.QueryCanceled:
                raise interrupted() from None
            except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
                raise self._changed() from None
            except (psycopg.Error, ValueError, TypeError):
                raise _failed() from None
            finally:
                if not self._is_idle():
                    self._let_go()

    def _is_idle(self) -> bool:
        """Whether the connection is open, and neither in a transaction nor in a statement."""
        status = self._connection.info.transaction_status
        return status == type(status).IDLE

    def _let_go(self) -> None:
        """Close the connection, and end what it was asked last; the next reading opens another."""
        self.interrupt()
        self._connection.close()

    def _connect_again(self) -> None:
        """Open another connection, which is this engine's once it has passed all checks."""
        connection = self._connected()
        ask = partial(_fetched, connection)
        try:
            check_session(ask, self._timezone)
            check_rights(ask, [each.oid for each in self._relations.values()])
            if identity(ask) != self._identity:
                raise self._changed()
        except BaseException:  # Ctrl-C too: closed, and raised again
            connection.close()
            raise
        self._sums = None
        self._connection = connection

    def _changed(self) -> DatabaseError:
        return refuse(
            "D602",
            f"{self._url.name} has changed since it was opened",
            label="what was debited stays debited; an answer needs one version of the data",
            help="open it again",
        )

    def unchanged(self) -> None:
        self._ask("SELECT 1")

    def interrupt(self) -> None:
        with suppress(Exception):  # closed meanwhile
            self._connection.cancel()

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            if self._groups is not None:
                self._groups.close()


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise refuse(
            "D602",
            "PostgreSQL's driver is not installed",
            help="pip install 'dpsql[postgres]'",
        ) from None
    return psycopg


def _fetched(
    connection: Connection[Any], sql: str, parameters: Sequence[object] | None = None
) -> list[tuple[object, ...]]:
    """Run a statement, and fetch its rows, if it is one that has some."""
    cursor = connection.execute(sql.encode(), parameters)
    return cursor.fetchall() if cursor.description is not None else []


def _failed() -> DatabaseError:
    """Return an error without the server's message, which may contain data."""
    return refuse(
        "D601",
        "the server failed on this query",
        label="what was debited stays debited; the server's message is not shown, as it may contain data",
        help=_AGAIN,
    )


def _sent(column: str, type: Type) -> str:
    """Print a column as it is fetched: moments as text, all digits of a float4."""
    name = quote(column)
    if type.kind in TEXTED:
        return f"CAST({name} AS text)"
    return f"CAST({name} AS float8)" if type.kind is Kind.FLOAT else name


def _read(value: object, kind: Kind) -> Value:
    return fetched(_plain(value, kind), kind)


def _plain(value: object, kind: Kind) -> object:
    """Return a fetched value as DuckDB spells it: a moment before our era is 0044-03-15 (BC)."""
    if kind in TEXTED and isinstance(value, str) and value.endswith(" BC"):
        return f"{value[:-3]} (BC)"
    return value


def _key(value: object, kind: Kind) -> object:
    return _whole(value) if kind is Kind.INTEGER and value is not None else _plain(value, kind)


def _whole(number: object) -> int:
    """Return a whole number, which is a Decimal where it is fetched as a numeric."""
    assert isinstance(number, int | Decimal)
    return int(number)


def _legal(name: str, type: Type) -> str | None:
    match type.kind:
        case Kind.DECIMAL:
            return f"{name} <> 'NaN'"
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            moment = name if type.kind is Kind.TIMESTAMP else f"{name} AT TIME ZONE 'UTC'"
            return f"{moment} BETWEEN {_FIRST} AND {_LAST} OR NOT isfinite({name})"
        case Kind.TEXT:
            return f"octet_length({name}) <= {MOST_BYTES}"
        case _:
            return None

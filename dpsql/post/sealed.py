"""SQL over released and public tables, in a DuckDB that holds nothing else.

Whatever runs here is post-processing: it is free, unlimited and ordinary SQL. The engine is sealed (no
files, no settings, no extensions), runs on one thread so that the same tables always give the same
answer in the same order, and forgets the released tables after each query.
"""

from __future__ import annotations

import datetime
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dpsql.driver import duckdb
from dpsql.errors import interrupted, refuse
from dpsql.ir.column import DOUBLE, Kind, Type, type_named

if TYPE_CHECKING:  # a session opens before what makes these has loaded
    from dpsql.aggregates import Floats
    from dpsql.ir.measure import Measure, Post
    from dpsql.post.finished import Finished

PublicRows = Callable[[str], tuple[list[str], list[str], list[tuple[object, ...]]]]
"""A public table: its columns' names, their types, its rows."""

_PATIENCE = 5.0
_REMEMBERED = 256  # statements whose output types are known
_NATIVE = frozenset((Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT))
_AWARE = "TIMESTAMP WITH TIME ZONE"


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Sealed:
    """The engine for everything above the release point."""

    def __init__(self, public: PublicRows, timezone: str = "UTC") -> None:
        self._public, self._loaded, self._timezone = public, set[str](), timezone
        self._checked: dict[str, list[str]] = {}
        self._lock = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = duckdb.connect(
                ":memory:",
                config={
                    "threads": 1,
                    "autoinstall_known_extensions": "false",
                    "autoload_known_extensions": "false",
                    "disable_database_invalidation": "true",  # a failure is one statement's
                },
            )
            for setting in (
                f"SET TimeZone = '{self._timezone}'",
                "SET enable_progress_bar = false",
                "SET temp_directory = ''",
                # fails where a joined column's chunks are dictionaries or not by turns, as a CASE makes them
                "SET enable_caching_operators = false",
                "SET python_enable_replacements = false",
                "SET enable_external_access = false",
                "SET lock_configuration = true",
            ):
                self._connection.execute(setting)
        return self._connection

    # ---- before anything is paid -------------------------------------------------------------------

    def check(self, sql: str, public: Sequence[str], measures: Sequence[Measure]) -> list[str]:
        """The output types of SQL over released tables, or a refusal: bound over empty ones, not run."""
        from dpsql.facts.released import released_columns

        tables = [(each.name, released_columns(each)) for each in measures]
        asked = repr((sql, tables))
        with self._lock, _stoppable():
            if asked not in self._checked:
                for table in public:
                    self._load_table(table)
                names = self._create(measures)
                try:
                    described = self._open().execute(f"DESCRIBE {sql}").fetchall()
                except duckdb.InterruptException:
                    raise
                except duckdb.Error as error:
                    raise _unbound(error) from None
                finally:
                    self._drop(names)
                self._checked[asked] = [str(each[1]) for each in described]
                if len(self._checked) > _REMEMBERED:
                    del self._checked[next(iter(self._checked))]
            return self._checked[asked]

    def public(self, sql: str, tables: Sequence[str], most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Types and rows of SQL over public tables alone (one row more than ``most``, if there are more).

        Values travel as text where Python has no plain number for them. It is stopped after a while:
        how long public rows take says nothing of private ones.
        """
        with self._lock, _stoppable():
            for table in tables:
                self._load_table(table)
            late = threading.Event()

            def too_long() -> None:
                late.set()
                self.interrupt()

            stop = threading.Timer(_PATIENCE, too_long)
            stop.start()
            try:
                described = self._open().execute(f"DESCRIBE {sql}").fetchall()
                types = [str(each[1]) for each in described]
                return types, self._open().execute(f"{_texted(sql, types)} LIMIT {most + 1}").fetchall()
            except duckdb.InterruptException:
                if not late.is_set():
                    raise
                raise refuse(
                    "D252",
                    f"the public part of this query takes longer than {_PATIENCE:g} seconds",
                    help="put its result into a public table",
                ) from None
            except duckdb.Error as error:
                raise _unbound(error) from None
            finally:
                stop.cancel()

    # ---- after release -----------------------------------------------------------------------------

    def run(
        self,
        post: Post,
        measures: Sequence[Measure],
        tables: Sequence[list[Finished]],
        types: Sequence[str],
        texted: bool = False,
    ) -> list[tuple[Any, ...]]:
        """The rows of SQL over released tables; ``texted`` as they are handed down to private rows."""
        with self._lock, _stoppable():
            for table in post.tables:
                self._load_table(table)
            names = self._create(measures)
            try:
                for measure, columns in zip(measures, tables, strict=True):
                    self._fill(measure.name, columns, measure.intervals)
                sql = _texted(post.sql, types) if texted else _fetchable(post.sql, types)
                rows = self._open().execute(sql).fetchall()
            except duckdb.InterruptException:
                raise
            except duckdb.Error:
                raise refuse(
                    "D601",
                    "the released tables could not be processed as asked",
                    label="what was debited stays debited",
                    help="a cast or a division over noisy numbers fails? TRY(...) or NULLIF makes it NULL",
                ) from None
            finally:
                self._drop(names)
        if texted:
            return rows
        return [tuple(_aware(value, sql) for value, sql in zip(row, types, strict=True)) for row in rows]

    def _create(self, measures: Sequence[Measure]) -> list[str]:
        from dpsql.facts.released import released_columns

        names = []
        for measure in measures:
            columns = released_columns(measure) or [("nothing", DOUBLE)]
            listed = ", ".join(f"{quote(name)} {_spelled(kind)}" for name, kind in columns)
            self._open().execute(f"CREATE OR REPLACE TEMP TABLE {quote(measure.name)} ({listed})")
            names.append(measure.name)
        return names

    def _drop(self, names: list[str]) -> None:
        for name in names:
            self._open().execute(f"DROP TABLE IF EXISTS {quote(name)}")

    def _fill(self, name: str, columns: list[Finished], intervals: bool) -> None:
        types: list[str] = []
        lists: list[list[object]] = []
        for column in columns:
            types.append(_spelled(column.type))
            lists.append([_sent(value, types[-1]) for value in column.values])
            if column.margins is not None:
                types.append("DOUBLE")
                lists.append(_or_null(column.margins, len(column.values)))
                if intervals:
                    types += ["DOUBLE", "DOUBLE"]
                    lists += [_or_null(each, len(column.values)) for each in (column.low, column.high)]
        if not lists:
            self._open().execute(f"INSERT INTO {quote(name)} VALUES (NULL)")
            return
        self._insert(name, types, lists)

    def _insert(self, name: str, types: list[str], lists: list[list[object]]) -> None:
        listed = ", ".join(f"unnest(TRY_CAST(? AS {each}[]))" for each in types)
        self._open().execute(f"INSERT INTO {quote(name)} SELECT {listed}", lists)

    def _load_table(self, table: str) -> None:
        """A public table is copied in once, under the name it has in the policy."""
        if table in self._loaded:
            return
        names, types, rows = self._public(table)
        listed = ", ".join(f"{quote(n)} {_spelled_name(t)}" for n, t in zip(names, types, strict=True))
        self._open().execute(f"CREATE OR REPLACE TABLE {quote(table)} ({listed})")
        if rows:
            columns: list[list[object]] = [list(each) for each in zip(*rows, strict=True)]
            self._insert(table, [_spelled_name(each) for each in types], columns)
        self._loaded.add(table)

    def interrupt(self) -> None:
        if (connection := self._connection) is not None:
            with suppress(duckdb.ConnectionException):  # closed meanwhile
                connection.interrupt()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
                self._loaded.clear()


@contextmanager
def _stoppable() -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException:
        raise interrupted() from None


def _spelled(type: Type) -> str:
    return _spelled_name(type.sql)


def _spelled_name(sql: str) -> str:
    """A type as a column of a released table; an enum's values are text there."""
    return "VARCHAR" if sql.startswith("ENUM(") or sql == '"NULL"' else sql


def _or_null(numbers: Floats | None, size: int) -> list[object]:
    """NaN is NULL."""
    if numbers is None:
        return [None] * size
    return [None if number != number else number for number in numbers.tolist()]


def _sent(value: object, type: str) -> object:
    """Dates travel as text, which DuckDB reads back whatever their year; and what no HUGEINT holds."""
    plain = isinstance(value, bool | int | float | str) and type != "UHUGEINT"
    return value if value is None or plain else str(value)


def _fetchable(sql: str, types: Sequence[str]) -> str:
    """Timestamps with a time zone leave as UTC: the driver would need another package for them."""
    if _AWARE not in types:
        return sql
    names = [f"c{i}" for i in range(len(types))]
    listed = ", ".join(
        f"timezone('UTC', {name})" if each == _AWARE else name
        for name, each in zip(names, types, strict=True)
    )
    return f"SELECT {listed} FROM ({sql}) AS t({', '.join(names)})"


def _texted(sql: str, types: Sequence[str]) -> str:
    """Values that Python has no plain number for travel as text."""
    names = [f"c{i}" for i in range(len(types))]
    listed = ", ".join(
        name if type_named(kind).kind in _NATIVE else f"CAST({name} AS VARCHAR)"
        for name, kind in zip(names, types, strict=True)
    )
    return f"SELECT {listed} FROM ({sql}) AS t({', '.join(names)})"


def _aware(value: Any, type: str) -> Any:
    if type == _AWARE and isinstance(value, datetime.datetime):
        return value.replace(tzinfo=datetime.UTC)
    return value


_MISSING = re.compile(
    r'''Referenced\ column\ "(?P<column>.+?)"\ (was\ )?not\ found
    |   Referenced\ table\ "(?P<table>.+?)"\ not\ found
    |   Column\ "(?P<behind>.+?)"\ (does\ not\ exist|referenced\ that\ exists\ in\ the\ SELECT\ clause)
    |   does\ not\ have\ a\ column\ named\ "(?P<own>.+?)"''',
    re.X,
)


def _unbound(error: duckdb.Error) -> Exception:
    """DuckDB's reason for not binding SQL over empty tables: it speaks of names and types only."""
    said = str(error).split("\n")[0]
    _, _, reason = said.partition(": ")
    missing = _MISSING.search(reason)
    if missing is not None:
        if missing["table"]:
            help_ = "name what stands behind FROM, by its alias if it has one"
            return refuse("D202", f"there is no table {missing['table']} here", help=help_)
        name = missing["column"] or missing["behind"] or missing["own"]
        help_ = "nothing that stands behind FROM has it: check its spelling"
        return refuse("D202", f"there is no column {name} here", help=help_)
    return refuse(
        "D205",
        "what stands above the aggregates does not fit together",
        label=(reason or said)[:200],
        help="check the types and names in the select list, HAVING and ORDER BY",
    )

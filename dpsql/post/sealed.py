"""SQL over released and public tables, in a DuckDB that holds nothing else.

Everything that runs here is post-processing: ordinary SQL, free, within the owner's limits. The engine is
sealed: it is a separate process without files, settings or extensions. It runs on one thread, so that the
same tables always give the same answer in the same order; on several where large public tables are read and
the order is the same all the same (any_order.py). It drops the released tables after each query.
What only picks columns of one released table needs no engine (projection.py); the process starts without it.
"""

from __future__ import annotations

import datetime
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import BIGINT, DOUBLE, Type, decimal_size, sealed_name, type_named, without_members
from dpsql.ir.finished import Decimals, Finished
from dpsql.ir.measure import REPLICA_ID, REPLICA_NUMBER, REPLICAS, replicas_of
from dpsql.policy.model import LimitsRule
from dpsql.policy.names import fold, perhaps
from dpsql.policy.toml_spelling import memory_text
from dpsql.post.held_tables import MOST as FEW
from dpsql.post.held_tables import Held, holding, quote
from dpsql.post.projection import NATIVE, or_null, picked_columns, picked_rows, types_of
from dpsql.post.sealed_process import (
    PATIENCE,
    Failed,
    Full,
    Late,
    Many,
    Process,
    does_not_start,
    left,
    size_of,
    taken,
)

if TYPE_CHECKING:  # a session opens before what makes these has loaded
    import numpy as np
    from numpy.typing import NDArray

    from dpsql.ir.measure import Measure, Post
    from dpsql.post.replicas import Replica


class PublicTables(Protocol):
    """What reads public tables."""

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns of a public table."""
        ...

    def rows(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[tuple[object, ...]]]:
        """Return the types and the values of columns of a public table."""
        ...

    def size(self, table: str) -> int:
        """Return the number of rows of a public table."""
        ...

    def arrays(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[NDArray[Any]]] | None:
        """Return the same as arrays of numbers or texts, masked where NULL; None if there are only rows."""
        ...


_REMEMBERED = 256  # statements whose output types are known, or that were tried
_LONGEST = 20_000  # characters of a statement that was tried, with its made-up values
_AWARE = "TIMESTAMP WITH TIME ZONE"
SETTINGS = (
    "SET enable_progress_bar = false",
    "SET temp_directory = ''",
    # fails where a joined column's chunks are dictionaries or not by turns, as a CASE makes them
    "SET enable_caching_operators = false",
    # one calls functions on the ends of a column's values when it plans, and fails where they fail; the other
    # forgets columns of an outer join
    "SET disabled_optimizers = 'statistics_propagation,outer_join_simplification'",
    "SET python_enable_replacements = false",
    "SET pandas_analyze_sample = 0",  # objects of arrays are texts, whatever the first ones are
    # the members of an ENUM are told to nobody who does not see them as values
    "CREATE MACRO typeof(x) AS regexp_replace(system.main.typeof(x), "
    r"'ENUM\((?:''(?:[^'']|'''')*''(?:, )?)*\)', 'ENUM', 'g')",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_AT_ONCE = 20_000  # rows that are sent with one statement
_AS_LISTS = 20_000  # drawings of a number up to which none is sent as an array
_TOGETHER = 100_000  # the same of arrays that are there
_SENT = {type(None), bool, int, float, str}  # values that are sent as they are
_ROW_GROUP = 122_880  # rows of a table that DuckDB reads on one thread
_OF_THREAD = 2**28  # bytes of memory that each thread must have
_SCALES = 18  # digits after the point of decimals that are sent as whole numbers: with 19 before it, 37 of 38
_TRIES = 5  # processes that may be found unfit, one after the other
_HANDED_DOWN = 64 * 2**20
"""Largest size in bytes of the rows that are handed down to SQL over private rows."""


class Sealed:
    """The engine for all SQL above the release point."""

    def __init__(self, public: PublicTables, timezone: str, limits: LimitsRule) -> None:
        self._public, self._limits = public, limits
        self._settings = [f"SET TimeZone = '{timezone}'", *SETTINGS]
        self._seconds, self._patience = limits.seconds, PATIENCE * limits.seconds  # that are left
        self._checked: dict[str, list[str]] = {}
        self._tried: dict[str, tuple[int, int] | None] = {}
        self._lock, self._moment = threading.RLock(), threading.RLock()
        self._process: Process | None = None
        # the columns of public tables that are there, and their types; None before there is a database
        self._loaded: dict[str, dict[str, str]] | None = None
        self._first: dict[str, list[str]] = {}  # the columns that were there first
        self._busy, self._stopped = False, False

    def start(self) -> None:
        """Start the process in the background, if there is none."""
        with self._lock:
            if self._process is None or not self._process.usable:
                if self._process is not None:
                    self._process.end()
                self._process, self._loaded = taken(), None

    def begin(self) -> None:
        """Reset the time limit: a new query starts, or a query has been paid for."""
        self._seconds, self._patience = self._limits.seconds, PATIENCE * self._limits.seconds
        if self._process is not None:
            self._process.patience = self._patience

    def _open(self) -> Process:
        """Return a process with a database; replace idle processes that have ended or use much memory."""
        for _ in range(_TRIES):
            self.start()
            assert self._process is not None
            if self._loaded is not None:
                return self._process
            try:
                self._process.open(self._settings, self._limits.memory, PATIENCE * self._limits.seconds)
            except (Full, Late):
                if self._stopped:
                    raise
            else:
                if not self._process.worn:
                    self._loaded = {}
                    continue
            self._process.end()
        raise does_not_start()

    @contextmanager
    def _working(self, subject: str, paid: bool = False) -> Iterator[None]:
        """Hold the lock, and turn exceeded limits and interrupts into refusals."""
        with self._lock:
            with self._moment:
                self._busy, self._stopped = True, False
            try:
                yield
            except Late:
                raise _beyond(subject, f"longer than {self._limits.seconds:g} seconds", paid) from None
            except Full:
                if self._stopped:
                    raise interrupted() from None
                size = memory_text(self._limits.memory)
                raise _beyond(subject, f"more than {size} of memory", paid) from None
            except Many:
                raise _beyond("this answer", f"more than {self._limits.rows:,} rows", paid) from None
            finally:
                with self._moment:
                    self._busy = False
                    if self._process is not None and (self._stopped or self._process.worn):
                        self._process.end()

    def _all(
        self,
        sql: str,
        memory: int | None = None,
        rows: int | None = None,
        threads: int = 1,
        lists: list[list[object]] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Return the rows of SQL, within the remaining time; ``lists`` are its parameters."""
        process = self._open()
        if self._seconds <= 0 or self._patience <= 0:
            raise Late
        try:
            most = memory or self._limits.memory
            return process.run(sql, self._seconds, most, rows, threads, lists, self._patience)
        finally:
            self._seconds -= process.took
            self._patience -= process.waited

    # ---- before anything is paid -------------------------------------------------------------------

    def check(self, sql: str, public: Sequence[str], measures: Sequence[Measure]) -> list[str]:
        """Return the output types of SQL over released tables, or refuse: it is bound over empty tables."""
        picked = picked_columns(sql, measures)
        if picked is not None:
            return types_of(picked)
        from dpsql.facts.released_columns import released_columns

        tables = [(measure.name, released_columns(measure)) for measure in measures]
        asked = repr((sql, tables))
        with self._working("planning what stands above the release"):
            if asked not in self._checked:
                self._load_tables(public, sql)
                names = self._create(measures)
                try:
                    described = self._all(f"DESCRIBE {sql}")
                except Failed as error:
                    raise _unbound(error) from None
                finally:
                    self._drop(names)
                self._checked[asked] = [str(row[1]) for row in described]
                if len(self._checked) > _REMEMBERED:
                    del self._checked[next(iter(self._checked))]
            return self._checked[asked]

    def public(self, sql: str, tables: Sequence[str], most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return types and rows of SQL over public tables alone; at most ``most`` + 1 rows.

        Values without a native Python type are returned as text.
        """
        with self._working("the public part of this query"):
            self._load_tables(tables, sql)
            try:
                types = [str(row[1]) for row in self._all(f"DESCRIBE {sql}")]
                return types, self._all(f"{_texted(sql, types)} LIMIT {most + 1}", self._handed_down)
            except Failed as error:
                raise _unbound(error) from None

    @property
    def _handed_down(self) -> int:
        return min(_HANDED_DOWN, self._limits.memory)

    # ---- after release -----------------------------------------------------------------------------

    def wake(self, post: Post, measures: Sequence[Measure]) -> None:
        """Let the process bind the SQL that it will run, while noise is drawn and stored.

        It changes nothing, and nothing waits for it: neither another thread's statement, nor a process that
        is not there.
        """
        if len(post.sql) > _LONGEST or picked_columns(post.sql, measures) is not None:
            return
        held = holding(post.sql, [*map(_empty, measures)])
        if held is None or not self._lock.acquire(blocking=False):
            return
        try:
            if self._process is not None and self._loaded is not None and self._process.usable:
                with suppress(Full, Late):  # it has ended: the next statement starts another
                    self._process.wake(*held, self._seconds, self._patience)
        finally:
            self._lock.release()

    def run(
        self,
        post: Post,
        measures: Sequence[Measure],
        tables: Sequence[list[Finished]],
        types: Sequence[str],
        texted: bool = False,
        replicas: Sequence[list[Replica]] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Return the rows of SQL over released tables; ``texted``: in the form for later stages.

        After the outputs come the half-widths of those that are computed, over ``replicas`` of the tables.
        """
        picked = picked_rows(post, measures, tables, texted)
        if picked is not None and (texted or len(picked) <= self._limits.rows):
            return [row[: len(types)] for row in picked] if texted else picked
        with self._working("post-processing what was released", paid=True):
            try:
                rows = None if replicas is None else self._replicated(post, measures, tables, types, replicas)
                if rows is None:
                    # with replicas there are tables, unless these take too long: no row may depend on that
                    hold = post.replicated is None
                    rows = self._rows(post, measures, tables, types, texted, may_hold=hold)
                    if post.replicated is not None:
                        rows = [row + (None,) * len(post.replicated.places) for row in rows]
            except Failed:
                raise refuse(
                    "D601",
                    "the released tables could not be processed as asked",
                    label="what was debited stays debited",
                    help="a cast or a division over noisy numbers fails? TRY(...) or NULLIF makes it NULL",
                ) from None
        if texted or _AWARE not in types:
            return rows
        widths = ["DOUBLE"] * (len(rows[0]) - len(types) if rows else 0)
        return [
            tuple(_aware(value, sql) for value, sql in zip(row, [*types, *widths], strict=True))
            for row in rows
        ]

    def _replicated(
        self,
        post: Post,
        measures: Sequence[Measure],
        tables: Sequence[list[Finished]],
        types: Sequence[str],
        replicas: Sequence[list[Replica]],
    ) -> list[tuple[Any, ...]] | None:
        """Return the rows, each with its half-widths; None if they cannot be had within half of the time.

        Then the rows alone have all of it, as in their trial: what passed there is not late once it is paid.
        """
        assert post.replicated is not None
        whole = self._seconds, self._patience
        self._seconds, self._patience = (seconds / 2 for seconds in whole)
        made: list[str] = []
        try:
            self._load_tables(post.tables, post.sql)
            made = self._create(measures, numbered=True)
            for measure, columns, drawn in zip(measures, tables, replicas, strict=True):
                self._fill(measure.name, columns, measure.intervals, numbered=True)
                made += self._fill_replicas(measure, drawn, len(columns[0].values) if columns else 1)
            rows = self._all(_with_id(post.replicated.shown, types), rows=self._limits.rows)
            widths = {row[0]: row[1:] for row in self._all(post.replicated.half_widths)}
        except (Failed, Late, Full):
            if self._stopped:
                raise
            return None
        finally:
            self._seconds, self._patience = whole
            self._drop(made)
        none = (None,) * len(post.replicated.places)
        return [(*row[:-1], *widths.get(row[-1], none)) for row in rows]

    def _fill_replicas(self, measure: Measure, drawn: list[Replica], rows: int) -> list[str]:
        """Create the table of all replicas of a released table; return the names of what was made."""
        from dpsql.facts.released_columns import released_columns

        every, types = replicas_of(measure.name), dict(released_columns(measure))
        table, number, row = quote(measure.name), quote(REPLICA_NUMBER), quote(REPLICA_ID)
        named = [(quote(replica.name), _spelled(types[replica.name])) for replica in drawn]
        again = ", ".join(f"TRY_CAST(d.{name} AS {kind}) AS {name}" for name, kind in named)
        drawings = [replica.numbers.ravel() for replica in drawn]
        many = f"{every} drawn" if drawn and rows * REPLICAS > _AS_LISTS else ""
        values = [] if many else [list[object](numbers.tolist()) for numbers in drawings]
        listed = "".join(f", unnest(?) AS {name}" for name, _ in named)
        if many:
            self._send_drawings(many, [name for name, _ in named], drawings)
        source = quote(many) if many else f"(SELECT unnest(range({rows * REPLICAS})) AS i{listed})"
        self._open().load(
            f"CREATE OR REPLACE TEMP TABLE {quote(every)} AS "
            f"SELECT t.*{f' REPLACE ({again})' if again else ''}, 1 + i % {REPLICAS} AS {number} "
            f"FROM {table} AS t JOIN {source} AS d ON t.{row} = i // {REPLICAS} "
            f"UNION ALL SELECT *, 0 FROM {table}",
            values,
        )
        return [every, many] if many else [every]

    def _send_drawings(self, table: str, names: list[str], drawings: list[NDArray[np.float64]]) -> None:
        """Send numbers as arrays into a new table, each with its place; what arrives as NULL was NaN."""
        import numpy as np

        columns = "".join(f", {name} DOUBLE" for name in names)
        self._open().load(f"CREATE OR REPLACE TEMP TABLE {quote(table)} (i BIGINT{columns})", wait=False)
        casts = [("", ""), *[("coalesce(", ", 'nan'::DOUBLE)")] * len(names)]
        places = np.arange(len(drawings[0]))
        self._open().load_arrays(f"temp.{quote(table)}", casts, [places, *drawings], wait=False)

    def tried(
        self, post: Post, measures: Sequence[Measure], tables: Sequence[list[Finished]], types: Sequence[str]
    ) -> tuple[int, int] | None:
        """Return the rows and bytes of the SQL over these made-up tables; None if it fails."""
        made = [[(each.name, each.type, each.values) for each in table] for table in tables]
        asked = repr((post.sql, types, [measure.name for measure in measures], made))
        with self._working("planning what stands above the release"):
            if asked in self._tried:
                return self._tried[asked]
            try:
                rows = self._rows(post, measures, tables, types, texted=False)
            except Failed:
                size = None
            else:
                size = len(rows), size_of(rows)
            if len(asked) <= _LONGEST:
                self._tried[asked] = size
                if len(self._tried) > _REMEMBERED:
                    del self._tried[next(iter(self._tried))]
            return size

    def exceeds(self, rows: int, size: int = 0) -> bool:
        """Whether the owner allows an answer less than that."""
        return rows > self._limits.rows or size > self._limits.memory

    def _rows(
        self,
        post: Post,
        measures: Sequence[Measure],
        tables: Sequence[list[Finished]],
        types: Sequence[str],
        texted: bool,
        spread: bool = True,
        may_hold: bool = True,
    ) -> list[tuple[Any, ...]]:
        self._load_tables(post.tables, post.sql)
        sql, threads = (post.sql, 1) if texted else self._spread(post, measures, types)
        threads = threads if spread else 1
        sql = (_texted if texted else _fetchable)(sql, types)
        memory, rows = (self._handed_down, None) if texted else (None, self._limits.rows)
        few = all(columns and len(columns[0].values) <= FEW for columns in tables)
        held = holding(sql, [*map(_held, measures, tables)]) if may_hold and few and threads == 1 else None
        if held is not None:
            return self._all(held[0], memory, rows, lists=held[1])
        names = self._create(measures)
        try:
            for measure, columns in zip(measures, tables, strict=True):
                self._fill(measure.name, columns, measure.intervals)
            return self._all(sql, memory, rows, threads)
        except (Full, Failed):  # one thread needs less memory, and fails alike each time
            if threads == 1 or self._stopped:
                raise
        finally:
            self._drop(names)
        return self._rows(post, measures, tables, types, texted, spread=False, may_hold=may_hold)

    def _spread(self, post: Post, measures: Sequence[Measure], types: Sequence[str]) -> tuple[str, int]:
        """Return SQL and the threads that it may run on: one, unless it reads many rows and has one order.

        It has that order whatever the threads, and wherever it runs.
        """
        large = any(self._public.size(table) > _ROW_GROUP for table in post.tables)
        if not large or post.replicated is not None:
            return post.sql, 1
        from dpsql.post.any_order import in_one_order

        assert self._loaded is not None
        columns = (column for table in post.tables for column in self._loaded[table].items())
        ordered = in_one_order(post.sql, types, columns, bool(measures))
        threads = max(1, min(_cores(), self._limits.memory // _OF_THREAD))
        return (post.sql, 1) if ordered is None else (ordered, threads)

    def _create(self, measures: Sequence[Measure], numbered: bool = False) -> list[str]:
        """Create the released tables; ``numbered``: with the number of each row."""
        from dpsql.facts.released_columns import released_columns

        names = []
        for measure in measures:
            columns = released_columns(measure) or [("nothing", DOUBLE)]
            columns = [*columns, *([(REPLICA_ID, BIGINT)] if numbered else [])]
            listed = ", ".join(f"{quote(name)} {_spelled(kind)}" for name, kind in columns)
            table = f"CREATE OR REPLACE TEMP TABLE {quote(measure.name)} ({listed})"
            self._open().load(table, wait=False)
            names.append(measure.name)
        return names

    def _drop(self, names: list[str]) -> None:
        """Drop released tables, unless the process has ended."""
        if names and self._process is not None and self._process.usable:
            dropped = "; ".join(f"DROP TABLE IF EXISTS {quote(name)}" for name in names)
            self._process.load(dropped, wait=False)

    def _fill(self, name: str, columns: list[Finished], intervals: bool, numbered: bool = False) -> None:
        types, lists = _sent_columns(columns, intervals)
        if not lists:
            nothing = f"INSERT INTO {quote(name)} VALUES (NULL{', 0' if numbered else ''})"
            self._open().load(nothing, wait=False)
            return
        if numbered:
            types.append("BIGINT")
            lists.append(list(range(len(lists[0]))))
        self._insert(f"temp.{quote(name)}", types, lists, wait=False)

    def _insert(
        self, table: str, types: list[str], lists: Sequence[Sequence[object]], *, wait: bool = True
    ) -> None:
        """Insert rows, given column by column, into a table that is named with its schema."""
        listed = ", ".join(f"unnest(TRY_CAST(? AS {kind}[]))" for kind in types)
        for start in range(0, len(lists[0]), _AT_ONCE):
            some = [values[start : start + _AT_ONCE] for values in lists]
            if len(some[0]) > FEW:
                casts = [_cast(values, kind) for values, kind in zip(some, types, strict=True)]
                self._open().load_arrays(table, casts, [array_of(values) for values in some], wait=wait)
            else:
                self._open().load(f"INSERT INTO {table} SELECT {listed}", [*map(_as_list, some)], wait=wait)

    def _load_tables(self, tables: Sequence[str], sql: str) -> None:
        """Copy what SQL can read of public tables into the engine once, under their names in the policy."""
        if tables:
            from dpsql.post.columns_mentioned import columns_mentioned

            mentioned = columns_mentioned(sql)
            for table in tables:
                self._load_table(table, mentioned)

    def _load_table(self, table: str, mentioned: frozenset[str] | None) -> None:
        process = self._open()
        assert self._loaded is not None
        every, there = self._public.columns(table), self._loaded.get(table)
        wanted = [name for name in every if mentioned is None or fold(name) in mentioned]
        if there is not None and there.keys() >= {*wanted}:
            return
        wanted = wanted or every[:1]
        if there is not None:
            # the third copy is the last: what copies take must not grow with every column that is asked for
            last = there.keys() > {*self._first[table]}
            wanted = [name for name in every if last or name in there or name in wanted]
        found = self._public.arrays(table, wanted) if self._public.size(table) > FEW else None
        kinds, rows = self._public.rows(table, wanted) if found is None else (found[0], [])
        arrays = [] if found is None else found[1]
        types = [sealed_name(kind) for kind in kinds]
        listed = ", ".join(f"{quote(name)} {kind}" for name, kind in zip(wanted, types, strict=True))
        process.load(f"CREATE OR REPLACE TABLE {quote(table)} ({listed})")
        into = f"main.{quote(table)}"
        for start in range(0, len(rows), _AT_ONCE):
            some = zip(*rows[start : start + _AT_ONCE], strict=True)
            sent = [_all_sent(column, kind) for column, kind in zip(some, types, strict=True)]
            self._insert(into, types, sent)
        for start in range(0, len(arrays[0]) if arrays else 0, _TOGETHER):
            casts = [_cast(array, kind) for array, kind in zip(arrays, types, strict=True)]
            process.load_arrays(into, casts, [_or_none(array[start : start + _TOGETHER]) for array in arrays])
        self._loaded[table] = dict(zip(wanted, kinds, strict=True))
        if there is None:
            self._first[table] = wanted

    # ---- its end -----------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop the running statement. May be called from any thread or a signal handler."""
        with self._moment:
            if self._busy and self._process is not None:
                self._stopped = True
                self._process.kill()

    def close(self) -> None:
        with self._lock:
            if self._busy:  # this is a signal's handler, and who waits below it gives the process up
                self.interrupt()
            elif self._process is not None:
                left(self._process)
                self._process = None


def _held(measure: Measure, columns: list[Finished]) -> Held:
    _, lists = _sent_columns(columns, measure.intervals)
    return Held(measure.name, _named(measure), tuple(map(_as_list, lists)))


def _empty(measure: Measure) -> Held:
    named = _named(measure)
    return Held(measure.name, named, ([],) * len(named))


def _named(measure: Measure) -> tuple[tuple[str, str], ...]:
    from dpsql.facts.released_columns import released_columns

    return tuple((name, _spelled(kind)) for name, kind in released_columns(measure))


def _sent_columns(columns: list[Finished], intervals: bool) -> tuple[list[str], list[Sequence[object]]]:
    """Return the types and values of a released table's columns, each with those of its half-widths."""
    types: list[str] = []
    lists: list[Sequence[object]] = []
    for column in columns:
        types.append(_spelled(column.type))
        lists.append(_all_sent(column.values, types[-1]))
        if column.margins is not None:
            types.append("DOUBLE")
            lists.append(or_null(column.margins, len(column.values)))
            if intervals:
                types += ["DOUBLE", "DOUBLE"]
                lists += [or_null(ends, len(column.values)) for ends in (column.low, column.high)]
    return types, lists


def _as_list(values: Sequence[object]) -> list[object]:
    return [*map(_written, values)] if isinstance(values, Decimals) else [*values]


def _cores() -> int:
    """Return the number of processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if allowed is None else len(allowed(0))


def _beyond(subject: str, more: str, paid: bool) -> DatabaseError:
    return refuse(
        "D604",
        f"{subject} takes {more}",
        label="what was debited stays debited" if paid else "the owner's [limits] say so",
        help="make texts and lists shorter, ranges and joins smaller, or keep fewer rows: LIMIT",
    )


def array_of(column: Sequence[object]) -> NDArray[Any]:
    """Return the values of a column as an array: numbers and booleans as such, others as text, or None."""
    import numpy as np

    if isinstance(column, Decimals):
        return column.units
    kinds = {*map(type, column)}
    if kinds == {int}:
        with suppress(OverflowError):  # beyond 64 bits they go as text
            return np.array(column, np.int64)
    if kinds == {bool}:
        return np.array(column, bool)
    if kinds == {float}:
        numbers = np.array(column, np.float64)
        if not np.isnan(numbers).any():  # which would be read as NULL
            return numbers
    array = np.empty(len(column), object)
    array[:] = [value if value is None or isinstance(value, str) else _written(value) for value in column]
    return array


def _or_none(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as they are, unless one is NULL or NaN; all else as text, or None."""
    import numpy as np

    missing, values = np.ma.getmaskarray(column), np.ma.getdata(column)
    numbers = values.dtype != object
    if numbers and not missing.any() and not (values.dtype.kind == "f" and np.isnan(values).any()):
        return values
    texts = values.astype(str).astype(object) if numbers else values.copy()
    texts[missing] = None
    return texts


def _written(value: object) -> str:
    """Return a value as text that a cast reads as the same value: to DECIMAL(7,7), 1E-7 would be NULL."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _spelled(type: Type) -> str:
    return sealed_name(type.sql)


def _cast(values: Sequence[object] | NDArray[Any], kind: str) -> tuple[str, str]:
    """Return the SQL before and after the name of a column of an array that makes it one of this type.

    Decimals may be there as whole numbers of their units.
    """
    scale = values.scale if isinstance(values, Decimals) else 0
    if kind.startswith("DECIMAL(") and getattr(getattr(values, "dtype", None), "kind", "") == "i":
        scale = decimal_size(type_named(kind))[1]
    if not scale:
        return "TRY_CAST(", f" AS {kind})"
    digit = f"0.{'1':0>{scale}}"  # a literal of this scale
    return "TRY_CAST(CAST(", f" AS DECIMAL(19,0)) * {digit} AS {kind})"


def _all_sent(values: Sequence[object], kind: str) -> Sequence[object]:
    """Convert the values of a column for the process."""
    if isinstance(values, Decimals) and values.scale <= _SCALES:
        return values
    kinds = {*map(type, values)}
    if kinds == {Decimal}:
        return list(map(_written, values))
    return list(values) if kind != "UHUGEINT" and kinds <= _SENT else [_sent(value, kind) for value in values]


def _sent(value: object, type: str) -> object:
    """Convert a value for the process; dates (any year) and UHUGEINT values become text."""
    plain = isinstance(value, bool | int | float | str) and type != "UHUGEINT"
    return value if value is None or plain else _written(value)


def _fetchable(sql: str, types: Sequence[str]) -> str:
    """Wrap SQL so that timestamps with a time zone are in UTC: else the driver needs another package."""
    if _AWARE not in types:
        return sql
    names = [f"c{i}" for i in range(len(types))]
    listed = ", ".join(
        f"timezone('UTC', {name})" if kind == _AWARE else name
        for name, kind in zip(names, types, strict=True)
    )
    return f"SELECT {listed} FROM ({sql}) AS t({', '.join(names)})"


def _with_id(sql: str, types: Sequence[str]) -> str:
    """Wrap SQL with an id as its last output: the id as text, timestamps as in an answer."""
    names = [f"c{i}" for i in range(len(types))]
    listed = ", ".join(
        f"timezone('UTC', {name})" if kind == _AWARE else name
        for name, kind in zip(names, types, strict=True)
    )
    return f"SELECT {listed}, CAST(id AS VARCHAR) FROM ({sql}) AS t({', '.join(names)}, id)"


def _texted(sql: str, types: Sequence[str]) -> str:
    """Wrap SQL so that values without a native Python type are cast to text."""
    names = [f"c{i}" for i in range(len(types))]
    listed = ", ".join(
        name if type_named(kind).kind in NATIVE else f"CAST({name} AS VARCHAR)"
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


_CANDIDATE = re.compile(r'(?:^Candidate bindings: .*?|, )"(?:[^".]+\.)?([^".]+)"', re.M)


def _unbound(error: Failed) -> Exception:
    """Convert DuckDB's binder error over empty tables to a refusal: it shows names and types only."""
    message = without_members(str(error)).split("\n")[0]
    _, _, reason = message.partition(": ")
    missing = _MISSING.search(reason)
    if missing is not None:
        if missing["table"]:
            help_ = "name a table of FROM, by its alias if it has one"
            return refuse("D202", f"there is no table {missing['table']} here", help=help_)
        name = missing["column"] or missing["behind"] or missing["own"]
        help_ = perhaps(name, _CANDIDATE.findall(str(error))) or "no table of FROM has it: check its spelling"
        return refuse("D202", f"there is no column {name} here", help=help_)
    return refuse(
        "D205",
        "the SQL over the released aggregates has a wrong name or type",
        label=(reason or message)[:200],
        help="check the types and names in the select list, HAVING and ORDER BY",
    )

"""The Spark engine: a folder's parquet files, of which Spark computes the exact sums of measures.

    files, names, versions, public rows     as in the engine for folders (folder.py), which this one is
    SELECT sums                             one job of Spark, over the same files in the same state

Claim   what a measure returns is of the version that ``version`` names.
Proof   Files are compared with their states at opening before and after each job, as for any folder, by this
        process and by the machines of a server (access.py); Spark gets their paths one by one, with the
        columns and types that were found at opening, and fails where a file is missing or has others. An
        option of the session's own keeps it from reading what somebody else has cached of the same files.
Test    tests/privacy/test_spark.py, tests/privacy/test_spark_connect.py

Spark's messages may quote data: they never leave this file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.engines.folder import Folder
from dpsql.engines.identifiers import quote, table_sql
from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.access import access_to
from dpsql.engines.spark.address import SparkAddress
from dpsql.engines.spark.cached_rows import CachedRows
from dpsql.engines.spark.casts import type_sql
from dpsql.engines.spark.dialect import Spark as Dialect
from dpsql.engines.spark.dialect import backquoted, refused
from dpsql.engines.spark.seen_files import address_of, own_option, unseen
from dpsql.engines.spark.texts import MOST_BYTES
from dpsql.engines.spark.types import is_stored
from dpsql.engines.spark.vetted import check_measure
from dpsql.engines.units_sql import CHUNK
from dpsql.engines.vetted_rows import before_its_rows
from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import Column, Kind, Type, type_named
from dpsql.policy.model import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpsql.detail_kinds import Rows
    from dpsql.engines.batch_groups import BatchStore
    from dpsql.engines.fast_sums import FastSums
    from dpsql.engines.special_units import Limits
    from dpsql.ir.export import ExactExport, ExportPlan
    from dpsql.ir.plan import MeasurePlan
    from dpsql.ir.table import ExactTable
    from dpsql.ir.votes import Examples, VotePlan

_ZONES = "SELECT java_method('java.time.ZoneId', 'getAvailableZoneIds')"
_FIRST, _LAST = "0001-01-01", "9999-12-31"
"""The days of Spark's calendar: moments outside are NULL."""


class SparkEngine(Folder):
    """A folder's tables; their exact sums are Spark's."""

    reader = "spark"

    def __init__(
        self, address: SparkAddress, policy: Policy | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(address.path, policy)
        self._limits = limits
        self._stopped = self._busy = False
        self._zones: frozenset[str] | None = None
        self._sent: BatchStore | None = None
        self._found: FastSums | None = None
        try:
            for table in self._tables:
                if table.csv is not None:
                    raise refuse(
                        "D602",
                        f"{table.name} is in csv files, which Spark does not read here",
                        help="write them as parquet files",
                    )
            names = {table.name: [*map(address_of, self._paths[table.name])] for table in self._tables}
            self._spark = access_to(address)
        except BaseException:  # Ctrl-C too: closed, and raised again
            super().close()
            raise
        try:
            self._session = self._spark.session
            self.reader = f"spark {self._session.version}"
            self._selects = self._named_for_spark(names)
        except BaseException:  # Ctrl-C too: closed, and raised again
            self.close()
            raise

    def _named_for_spark(self, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Let Spark find the files of each table; return the SELECTs that read them."""
        try:
            self._spark.unchanged(self._states)
            return {
                table.name: self._select(place, names[table.name]) for place, table in enumerate(self._tables)
            }
        except DatabaseError:
            raise
        except Exception:  # whatever Spark raises: it finds no such files
            raise unseen() from None

    def _select(self, place: int, paths: Sequence[str]) -> str:
        """Name a table's files for Spark; return the SELECT of the columns that are read."""
        table = self._tables[place]
        types = {
            column.name: type_named(column.sql)
            for column in table.columns
            if is_stored(type_named(column.sql)) and not {"`", '"'} & {*column.name}
        }
        schema = ", ".join(f"`{name}` {type_sql(of_column)}" for name, of_column in types.items())
        rows = self._session.read.schema(schema).option(*own_option()).parquet(*paths)
        rows.createOrReplaceTempView(f"dpsql_{place}")
        listed = ", ".join(
            f"{_read(quote(name), of_column)} AS {quote(name)}" for name, of_column in types.items()
        )
        return f"SELECT {listed or 'NULL AS nothing'} FROM dpsql_{place}"

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        """Also, no text is too long for a row of many."""
        short = [
            f"bool_and(strlen({quote(column.name)}) <= {MOST_BYTES})"
            for column in columns
            if column.fact.type.sql == "VARCHAR"
        ]
        if not super().is_readable(table, columns):
            return False
        return not short or False not in self._ask(f"SELECT {', '.join(short)} FROM {table_sql(table)}")[0]

    # ---- measures ----------------------------------------------------------------------------------

    def measure_sql(self, planned: MeasurePlan) -> str:
        """Print a measure, and let Spark analyze it: what it does not know is refused before a debit.

        Rows of an earlier stage are not there yet: it is analyzed with none, in their types.
        """
        self._spark.check()
        for sql in self._printed(before_its_rows(planned)):
            self._analyze(sql)
        return ";\n".join(self._printed(planned))

    def measure(self, planned: MeasurePlan) -> ExactTable:
        from dpsql.engines.batch_groups import has_private_groups
        from dpsql.engines.exact_tables import measured

        kinds = [column.fact.type.kind for column in planned.keys]

        def rows_of(sql: str) -> list[tuple[Any, ...]]:
            width = len(kinds)
            return [(*map(_key, row, kinds), *map(_whole, row[width:])) for row in self._collected(sql)]

        with self._lock, self._refusing():
            check_measure(planned)
            store = self._batch_store() if has_private_groups(planned) else None
            return measured(planned, rows_of, self._fetched_arrays, self._statement, store, self._dialect())

    def _statement(self, planned: MeasurePlan) -> str:
        """Choose the statement of a measure's sums; what that needs is found by Spark first."""
        with self._silent():
            return self._fast_sums().statement(planned)

    def _fast_sums(self) -> FastSums:
        """Return what chooses the statements of this session; what it found ends with the session."""
        from dpsql.engines.arithmetic import in_halves, in_longs
        from dpsql.engines.fast_sums import FastSums
        from dpsql.engines.special_units import Limits

        if self._found is None:
            limits, tables = self._limits or Limits(copied=0, long=0), CachedRows(self._session, backquoted)
            self._found = FastSums(
                self._collected,
                limits,
                few=0,
                dialect=self._dialect(),
                tables=tables,
                narrow=in_longs,
                beyond=in_halves,
            )
        return self._found

    def _batch_store(self) -> BatchStore:
        from dpsql.engines.batch_groups import BatchStore

        if self._sent is None:
            self._sent = BatchStore(self._in_batches, _key, self._dialect())
        return self._sent

    def _printed(self, planned: MeasurePlan) -> list[str]:
        from dpsql.engines.exact_tables import statements_of

        with self._refusing():
            check_measure(planned)
            return statements_of(planned, self._dialect())

    def _dialect(self) -> Dialect:
        return Dialect(self._selects, self._known_zones)

    def _known_zones(self) -> frozenset[str]:
        if self._zones is None:
            with self._silent():
                [[known]] = self._session.sql(_ZONES).collect()
            self._zones = frozenset(known.strip("[]").split(", "))
        return self._zones

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except NotVetted as error:
            raise refused(error.what) from None

    def export_sql(self, planned: ExportPlan) -> str:
        raise refused("an export")

    def exact_export(self, planned: ExportPlan) -> ExactExport:
        raise refused("an export")

    def examples_sql(self, planned: VotePlan) -> str:
        raise refused("a vote")

    def examples(self, planned: VotePlan) -> Examples:
        raise refused("a vote")

    # ---- jobs --------------------------------------------------------------------------------------

    def _analyze(self, sql: str) -> None:
        """Let Spark find names and types in a statement; it reads no row."""
        from pyspark.errors import AnalysisException, ParseException

        with self._silent():
            try:
                self._session.sql(backquoted(sql))
            except (AnalysisException, ParseException):
                raise refused("this combination of types") from None

    def _collected(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement, and fetch its rows."""
        with self._job():
            return [tuple(row) for row in self._session.sql(backquoted(sql)).collect()]

    def _in_batches(self, sql: str, take: Callable[[Rows], None]) -> None:
        """Run one statement, and hand its rows over, part by part."""
        from dpsql.engines.batch_groups import batches_of

        with self._job():
            batches_of(map(tuple, self._session.sql(backquoted(sql)).toLocalIterator()), CHUNK, take)

    @contextmanager
    def _job(self) -> Iterator[None]:
        """Run jobs over files that are as they were found, before and after them."""
        self.unchanged()
        with self._silent():
            self._spark.check()
            self._stopped, self._busy = False, True
            try:
                with self._spark.job():
                    self._spark.unchanged(self._states)
                    yield
                    self._spark.unchanged(self._states)
            finally:
                self._busy = False
        self.unchanged()

    def _fetched_arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """Fetch whole numbers without NULL as arrays, by the names of their columns."""
        import numpy as np

        with self._job():
            frame = self._session.sql(backquoted(sql))
            names, fetched = frame.columns, frame.collect()
        rows = np.array([tuple(row) for row in fetched], dtype=np.int64).reshape(-1, len(names))
        return dict(zip(names, rows.T, strict=True))

    @contextmanager
    def _silent(self) -> Iterator[None]:
        """Replace Spark's messages."""
        try:
            yield
        except DatabaseError:
            raise
        except Exception:  # whatever Spark raises: its message may hold data
            if self._stopped:
                raise interrupted() from None
            raise refuse(
                "D601",
                "Spark failed on this query",
                label="what was debited stays debited; Spark's message is not shown, as it may contain data",
                help="ask the same query again: it is completed without paying twice",
            ) from None

    def close(self) -> None:
        super().close()
        if self._found is not None:
            with suppress(Exception):  # Spark has ended
                self._found.forget()
        if self._sent is not None:
            self._sent.close()
        self._spark.close()

    def interrupt(self) -> None:
        """Cancel the job that runs, or the one that is about to be handed to Spark."""
        self._stopped = True
        threading.Thread(target=self._cancel, daemon=True).start()
        super().interrupt()

    def _cancel(self) -> None:
        while self._busy:
            with suppress(Exception):  # closed meanwhile
                self._spark.cancel()
            time.sleep(0.1)


def _read(name: str, of_column: Type) -> str:
    """Print a column as it is read: a moment outside of the calendar is NULL."""
    if of_column.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        last = _LAST if of_column.kind is Kind.DATE else f"{_LAST} 23:59:59.999999"
        ends = f"CAST('{_FIRST}' AS {type_sql(of_column)}) AND CAST('{last}' AS {type_sql(of_column)})"
        return f"CASE WHEN {name} BETWEEN {ends} THEN {name} END"
    return name


def _key(value: object, kind: Kind) -> object:
    return _whole(value) if kind is Kind.INTEGER and value is not None else value


def _whole(number: object) -> int:
    """Return a whole number, which is a Decimal where it is fetched as one."""
    assert isinstance(number, int | Decimal)
    return int(number)

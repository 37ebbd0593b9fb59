"""The private groups of an exact table that another engine sends in batches: as DuckDB's own are kept.

    a server's cursor, Spark's partitions    a batch at a time    sums as arrays, keys in a table of DuckDB's

Claim   memory holds a batch, and 8 bytes for each sum; no number of groups is an error.
Proof   A batch is put away before the next one is asked for. Its keys go to a temporary table in an engine of
        its own, which spills to the folder of this process (spill.py); its sums are clamped to 64 bits by the
        engine that sends them, as in exact_tables.py.
Test    tests/unit/test_batch_groups.py, tests/privacy/test_postgres.py, tests/privacy/test_spark.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from dpsql.detail_kinds import Rows
from dpsql.driver import connect, duckdb
from dpsql.engines.dialect import Dialect
from dpsql.engines.duckdb import configuration
from dpsql.engines.identifiers import TEXTED
from dpsql.engines.measure_sql import TOTAL
from dpsql.engines.stored_groups import Group, StoredGroups, new_name
from dpsql.errors import refuse
from dpsql.ir.column import BIGINT, Kind, Type
from dpsql.ir.plan import MeasurePlan, Threshold
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batches: TypeAlias = "Callable[[str, Callable[[Rows], None]], None]"
"""Runs a SELECT, and hands over its rows, a batch at a time."""


def has_private_groups(planned: MeasurePlan) -> bool:
    """Whether rows decide how many groups there are, and sums are all that is released of each."""
    private = isinstance(planned.rule, Threshold) and planned.rule.listed is None
    return private and bool(planned.keys) and not planned.details and bool(planned.measure.statistics)


@dataclass(slots=True)
class BatchStore:
    """The groups that one engine sent. ``batches`` runs a statement of this dialect within a measure.

    ``read`` returns a key of this kind as DuckDB spells it.
    """

    batches: Batches
    read: Callable[[object, Kind], object]
    dialect: Dialect
    _connection: duckdb.DuckDBPyConnection | None = None
    _dropped: list[str] = field(default_factory=list)

    def stored(
        self, sql: str, planned: MeasurePlan, group: Callable[[Sequence[object]], Group]
    ) -> tuple[StoredGroups, NDArray[np.int64]]:
        """Run the statement of a measure's sums, and return its groups and their sums."""
        while self._dropped:
            dropped = self._dropped[-1]
            self._run(f"DROP TABLE IF EXISTS {dropped}")
            self._dropped.remove(dropped)
        name, width = new_name(), len(planned.keys)
        kinds = [column.fact.type.kind for column in planned.keys]
        types = [_stored_type(column.fact.type) for column in planned.keys]
        columns = ", ".join(f"k{i} {of_key}" for i, of_key in enumerate(types))
        values = ", ".join(f"CAST(unnest(CAST(? AS {_sent_type(each)}[])) AS {each})" for each in types)
        sums = [np.empty((0, len(planned.measure.statistics)), np.int64)]

        def put_away(rows: Rows) -> None:
            keys = [[_sent(self.read(row[i], kind)) for row in rows] for i, kind in enumerate(kinds)]
            self._run(f"INSERT INTO {name} SELECT {values}", keys)
            sums.append(np.array([row[width:] for row in rows], dtype=np.int64))

        try:
            self._run(f"CREATE TEMP TABLE {name} ({columns})")
            self.batches(self._within_64_bits(sql, planned), put_away)
            table = np.concatenate(sums)
        except BaseException:  # Ctrl-C too: nothing names the table yet; raised again
            self._dropped.append(name)
            raise
        listed = ", ".join(f"k{i}" for i in range(width))
        return StoredGroups(name, listed, len(table), self._run, group, self._dropped), table

    def _within_64_bits(self, sql: str, planned: MeasurePlan) -> str:
        low, high = (self.dialect.wide(str(end)) for end in (-TOTAL, TOTAL))
        sums = (
            f"CAST(greatest(least(total{i}, {high}), {low}) AS {self.dialect.type(BIGINT)}) AS total{i}"
            for i in range(len(planned.measure.statistics))
        )
        keys = (f"k{i}" for i in range(len(planned.keys)))
        return f"SELECT {', '.join([*keys, *sums])} FROM {self.dialect.subquery(sql)}"

    def _run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; the message of one that fails may quote keys, and is not shown."""
        try:
            if self._connection is None:
                connection = connect(":memory:", configuration(threads=1))
                connection.execute("SET enable_external_access = false")
                self._connection = connection
            return self._connection.execute(sql, values).fetchall()
        except duckdb.Error:
            raise refuse(
                "D601",
                "the groups of this query cannot be kept",
                label="what was debited stays debited",
                help="see that TMPDIR has room, and ask the same query again: it costs nothing",
            ) from None
        except RuntimeError as error:
            if str(error) != "Query interrupted":
                raise
            raise KeyboardInterrupt from None  # DuckDB's error if a signal handler raised

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def batches_of(rows: Iterator[tuple[Any, ...]], size: int, take: Callable[[Rows], None]) -> None:
    """Hand over rows, so many at a time."""
    batch: list[tuple[Any, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            take(batch)
            batch = []
    if batch:
        take(batch)


def _stored_type(type: Type) -> str:
    if type.kind in TEXTED or type.kind is Kind.TEXT:
        return "VARCHAR"
    return "DOUBLE" if type.kind is Kind.FLOAT else type.sql


def _sent_type(stored: str) -> str:
    return "VARCHAR" if stored.startswith("DECIMAL") else stored


def _sent(key: object) -> object:
    return f"{key:f}" if isinstance(key, Decimal) else key

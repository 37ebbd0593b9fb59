"""Groups that another engine sends in batches: kept as they are, a batch at a time, and never quoted."""

from __future__ import annotations

import datetime
import math
import tracemalloc
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from dpsql.detail_kinds import Rows
from dpsql.engines.batch_groups import BatchStore, batches_of
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.identifiers import fetched
from dpsql.errors import OperationalError
from dpsql.ir.column import ANYTHING, Fact, Kind, type_named

TYPES = ("VARCHAR", "BIGINT", "HUGEINT", "DECIMAL(8,2)", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP")
ROWS: list[tuple[Any, ...]] = [
    (
        "a\0b",
        1,
        2**100,
        Decimal("-0.05"),
        math.inf,
        True,
        "2024-02-29",
        "0044-03-15 (BC) 00:00:00",
        7,
        -(2**62),
    ),
    (None, None, None, None, None, None, None, None, 0, 1),
    ("'; --", -(2**63), -1, Decimal("999999.99"), 0.5, False, "infinity", "2024-01-01 00:00:00.5", 2, 3),
]


class Key:
    def __init__(self, sql: str) -> None:
        self.fact = Fact(type_named(sql), ANYTHING, nullable=True)


class Sums:
    statistics = (1, 2)


class Planned:
    """What is read of a plan."""

    measure = Sums()

    def __init__(self, types: tuple[str, ...]) -> None:
        self.keys = [Key(sql) for sql in types]


def store(rows: Callable[[], Iterator[tuple[Any, ...]]], size: int) -> BatchStore:
    def send(sql: str, take: Callable[[Rows], None]) -> None:
        batches_of(rows(), size, take)

    return BatchStore(send, lambda key, kind: key, DUCKDB)


def groups(kinds: list[Kind]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda row: tuple(fetched(row[i], kind) for i, kind in enumerate(kinds))


@pytest.mark.parametrize("size", [1, 2, 100])
def test_groups_are_those_that_were_sent(size: int) -> None:
    planned: Any = Planned(TYPES)
    group = groups([key.fact.type.kind for key in planned.keys])
    found, sums = store(lambda: iter(ROWS), size).stored("SELECT", planned, group)
    assert list(found) == [group(row) for row in ROWS]
    assert sums.tolist() == [list(row[-2:]) for row in ROWS]
    assert found.taken([0, 2]) == [group(ROWS[0]), group(ROWS[2])]
    assert found[0][6] == datetime.date(2024, 2, 29)
    assert "a" not in repr(found)


def test_no_groups_are_no_error() -> None:
    planned: Any = Planned(("VARCHAR",))
    found, sums = store(lambda: iter(()), 10).stored("SELECT", planned, groups([Kind.TEXT]))
    assert (len(found), sums.shape) == (0, (0, 2))


def test_memory_holds_a_batch() -> None:
    """200,000 groups would take 40 MB as Python's objects; a batch of them takes 1, and their sums 3.2."""
    planned: Any = Planned(("VARCHAR", "BIGINT"))

    def rows() -> Iterator[tuple[Any, ...]]:
        return ((f"a key of many letters {n}", n + 10**9, n, n) for n in range(200_000))

    sent = store(rows, 1_000)
    tracemalloc.start()
    found, _ = sent.stored("SELECT", planned, groups([Kind.TEXT, Kind.INTEGER]))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 200_000
    assert most < 15e6


def test_a_key_that_cannot_be_kept_is_not_quoted() -> None:
    planned: Any = Planned(("DECIMAL(3,2)",))
    sent = store(lambda: iter([(Decimal("123456.78"), 1, 1)]), 10)
    with pytest.raises(OperationalError) as caught:
        sent.stored("SELECT", planned, groups([Kind.DECIMAL]))
    assert caught.value.code == "D601"
    assert "123456" not in f"{caught.value!r} {caught.value.__cause__!r}"


class Hits:
    """A connection that fails at statements that start so, as DuckDB does where a signal's handler raised."""

    def __init__(self, connection: Any, start: str) -> None:
        self._connection, self._start = connection, start

    def execute(self, sql: str, values: Any = ()) -> Any:
        if sql.startswith(self._start):
            raise RuntimeError("Query interrupted")
        return self._connection.execute(sql, values)


def tables(sent: BatchStore) -> set[str]:
    return {name for (name,) in sent._run("SELECT table_name FROM duckdb_tables()")}


@pytest.mark.parametrize("start", ["DROP", "CREATE", "INSERT"])
def test_ctrl_c_stays_ctrl_c_and_leaves_no_table(start: str) -> None:
    planned: Any = Planned(("VARCHAR",))
    sent = store(lambda: iter([("a", 1, 1)]), 10)
    kept, _ = sent.stored("SELECT", planned, groups([Kind.TEXT]))
    del kept
    connection = sent._connection
    sent._connection = Hits(connection, start)  # type: ignore[assignment]  # restored below
    with pytest.raises(KeyboardInterrupt):
        sent.stored("SELECT", planned, groups([Kind.TEXT]))
    sent._connection = connection  # as it was
    again, _ = sent.stored("SELECT", planned, groups([Kind.TEXT]))
    assert list(again) == [("a",)]
    assert len(tables(sent)) == 1

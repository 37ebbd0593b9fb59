"""Which neighbours may differ from the whole database in a measure, and which cannot.

    a measure of refunds       differs on the neighbours whose unit had refunds; on all others it is the same

Claim   Where a neighbour has the rows of the whole, in the same order, in every table that a measure's SQL
        names, its exact table is that of the whole: nothing moves.
Proof   The SQL is printed from the plan alone, so it is one text for both. It names what it reads: a view
        counts as a table here, with the rows that it shows, and there are no macros, which could read others
        (``rows_of`` looks). DuckDB computes from one text and the same rows the same result.
Test    test_cases.py::test_sensitivity measures the whole on one such neighbour of each case too, and wants
        equal tables.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import duckdb

from dpsql.engines.dialect import Dialect
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.identifiers import quote
from dpsql.engines.measure_sql import measure_sql
from dpsql.ir.plan import MeasurePlan
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A database without one unit, and the quoted names of the tables in which it differs from the whole."""

    name: str
    engine: DuckDB
    unlike: frozenset[str]


class Copy(DuckDB):
    """A database that is asked what its likes are asked too, so that DuckDB parses each text once."""

    def _all(self, sql: str) -> list[tuple[object, ...]]:
        return self._connection.execute(_parsed(sql)).fetchall()

    def _arrays(self, sql: str) -> dict[str, Any]:
        return self._connection.execute(_parsed(sql)).fetchnumpy()


@lru_cache(maxsize=64)
def _parsed(sql: str) -> duckdb.Statement:
    """Return the one statement of a text; every connection binds and plans it by itself."""
    [statement] = duckdb.extract_statements(sql)
    return statement


class FreshCopy(Copy):
    """A copy that measures no plan before and after an error is planted: its text is printed once, too."""

    def _open(self, timezone: str, threads: int | None) -> None:
        super()._open(timezone, threads)
        self._sums = FastSums(self._ask, plain=_PRINTED)


class _Printed:
    """The statements of the latest measures. A measure is known by its identity, and kept for as long."""

    def __init__(self) -> None:
        self._latest: OrderedDict[tuple[int, bool], tuple[MeasurePlan, str]] = OrderedDict()

    def __call__(self, planned: MeasurePlan, few: bool, dialect: Dialect) -> str:
        key = id(planned), few
        if key not in self._latest:
            self._latest[key] = planned, measure_sql(planned, few, dialect)
            if len(self._latest) > 64:
                self._latest.popitem(last=False)
        return self._latest[key][1]


_PRINTED = _Printed()


Tables = dict[str, object]
"""A digest of the rows of every table and view, in their order, under its quoted name with its schema."""


def rows_of(engine: DuckDB) -> Tables:
    own = "WHERE NOT internal AND database_name = current_database()"
    assert engine._all("SELECT 1 FROM duckdb_functions() WHERE NOT internal") == []
    found = engine._all(
        f"SELECT schema_name, table_name FROM duckdb_tables() {own} "
        f"UNION ALL SELECT schema_name, view_name FROM duckdb_views() {own} ORDER BY ALL"
    )
    names = [f"{quote(str(schema))}.{quote(str(table))}" for schema, table in found]
    digest = "md5(string_agg(CAST(t AS VARCHAR), chr(10)))"
    [digests] = engine._all("SELECT " + ", ".join(f"(SELECT {digest} FROM {name} AS t)" for name in names))
    return dict(zip(names, digests, strict=True))


def neighbour(name: str, engine: DuckDB, whole: Tables) -> Neighbour:
    theirs = rows_of(engine)
    assert theirs.keys() == whole.keys()
    differ = (table for table in whole if whole[table] != theirs[table])
    return Neighbour(name, engine, frozenset(table.partition(".")[2] for table in differ))


def apart(
    planned: MeasurePlan, whole: DuckDB, neighbours: Sequence[Neighbour]
) -> tuple[list[Neighbour], list[Neighbour]]:
    """Return the neighbours that may differ in a measure, and one of those that cannot, by the SQL's hash."""
    sql = whole.measure_sql(planned)
    may = [each for each in neighbours if any(table in sql for table in each.unlike)]
    cannot = [each for each in neighbours if each not in may]
    return may, [cannot[zlib.crc32(sql.encode()) % len(cannot)]] if cannot else []

"""The catalogue with found bounds: they say where a scale starts, and promise nothing.

visits.cost in [0, 1024]      as if the owner had written range = [0, 1024]
calls: 12 rows per unit       as if the owner had written rows_per_unit = 12
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.ir.bound import Bound, MissingBound
from dpsql.ir.column import Column, Fact, Interval
from dpsql.policy.catalogue import Known, KnownTable


def with_bounds(known: Known, bounds: Iterable[Bound]) -> Known:
    """Return the catalogue with the found bounds as ranges and rows per unit."""
    listed = [(bound.missing, bound) for bound in bounds if isinstance(bound.missing, MissingBound)]
    return replace(known, tables=tuple(_with_bounds_of(table, listed) for table in known.tables))


def _with_bounds_of(table: KnownTable, bounds: list[tuple[MissingBound, Bound]]) -> KnownTable:
    by_column = {missing.column: bound for missing, bound in bounds if missing.table == table.name}
    if not by_column:
        return table
    columns = tuple(_with_range(column, by_column.get(column.name)) for column in table.columns)
    rows = int(by_column[""].high) if "" in by_column else table.rows
    return replace(table, columns=columns, rows=rows, found=frozenset(by_column))


def _with_range(column: Column, bound: Bound | None) -> Column:
    if bound is None:
        return column
    fact = column.fact
    return Column(column.name, Fact(fact.type, Interval(bound.low, bound.high), fact.nullable))

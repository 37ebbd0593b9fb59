"""The catalogue with bounds that nobody declared: found privately, they say where the scale starts, no more.

visits.cost in [0, 1024]      as if the owner had written range = [0, 1024]
calls: 12 rows per unit       as if the owner had written rows_per_unit = 12
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.ir.bound import Bound
from dpsql.ir.column import Column, Fact, Interval
from dpsql.policy.catalogue import Known, KnownTable


def with_bounds(known: Known, bounds: Iterable[Bound]) -> Known:
    """What exists for an analyst, the found bounds among what is known of it."""
    listed = tuple(bounds)
    return replace(known, tables=tuple(_with(table, listed) for table in known.tables))


def _with(table: KnownTable, bounds: tuple[Bound, ...]) -> KnownTable:
    own = {each.missing.column: each for each in bounds if each.missing.table == table.name}
    if not own:
        return table
    columns = tuple(_ranged(column, own.get(column.name)) for column in table.columns)
    rows = int(own[""].high) if "" in own else table.rows
    return replace(table, columns=columns, rows=rows, found=frozenset(own))


def _ranged(column: Column, bound: Bound | None) -> Column:
    if bound is None:
        return column
    fact = column.fact
    return Column(column.name, Fact(fact.type, Interval(bound.low, bound.high), fact.nullable))

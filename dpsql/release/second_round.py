"""Private keys in two rounds: rows of the keys that round 1 releases are removed before round 2.

    round 1   a patient with 100 drugs gives each a tenth of a vote; the 84 common drugs are released
    round 2   the patient gives each of the other 16 a quarter of a vote

Claim   both rounds together cost the sum of the costs of their noises and thresholds.
Proof   Round 2 selects its rows by the output of round 1. It is a mechanism that depends on an earlier
        answer, so adaptive composition applies. A released key that is not recognised in the rows (its type
        has no constants) is only measured again.
        (DP-SIPS, Swanberg et al. 2023, has three rounds of 1 : 3 : 9; here two of 1 : 9 found more.)
Test    tests/privacy/test_keys_alone.py
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace

from dpsql.ir.column import Column, Fact, Kind, Value
from dpsql.ir.group_order import rank
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Join, JoinKind, Materialized, ScanColumn
from dpsql.ir.scalar import Call, Ref, Scalar
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.release.groups import plain

Round = Callable[[MeasurePlan], ReleasedTable]
"""Measure and release a planned measure."""


def in_rounds(planned: MeasurePlan, release_round: Round) -> ReleasedTable:
    """Release a measure, in two rounds if it has a second one."""
    first = release_round(planned)
    if planned.again is None:
        return first
    return _merge(first, release_round(without(planned.again, first.groups)))


def without(planned: MeasurePlan, groups: Sequence[tuple[Value, ...]]) -> MeasurePlan:
    """Return the measure over the rows that are in none of these groups."""
    if not groups:
        return planned
    m = planned.measure
    columns = tuple(_column(f"found {i}", column) for i, column in enumerate(planned.keys))
    rows = tuple(tuple(_constant(value) for value in group) for group in groups)
    condition: Scalar | None = None
    for key, column in zip(m.keys, columns, strict=True):
        same = Call("is_not_distinct_from", (key.scalar, Ref(column.name)))
        condition = same if condition is None else Call("and", (condition, same))
    relation = Join(JoinKind.ANTI, m.relation, Materialized(columns, rows), condition)
    return replace(planned, measure=replace(m, relation=relation))


def _column(name: str, key: Column) -> ScanColumn:
    key_type = key.fact.type
    return ScanColumn(name, "VARCHAR" if key_type.kind is Kind.TEXT else key_type.sql, Fact(key_type))


def _constant(value: Value) -> Value:
    return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else _dated(value)


def _dated(value: Value) -> Value:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _merge(first: ReleasedTable, second: ReleasedTable) -> ReleasedTable:
    known = {plain(group) for group in first.groups}
    new = [i for i, group in enumerate(second.groups) if plain(group) not in known]
    groups = [*first.groups, *(second.groups[i] for i in new)]
    sums = np.concatenate((first.sums, second.sums[new]))
    order = sorted(range(len(groups)), key=lambda i: tuple(rank(value) for value in groups[i]))
    return ReleasedTable([groups[i] for i in order], sums[order])

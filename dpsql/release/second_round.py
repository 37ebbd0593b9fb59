"""Keys that are sought twice: those found first leave every unit, whose vote then counts for the others.

    round 1   a patient with 100 drugs gives each a tenth of a vote; the 84 that all know are found
    round 2   the patient gives each of the other 16 a quarter of a vote

Claim   both rounds together cost what their noises and thresholds cost, added up.
Proof   the rows of round 2 are chosen by what round 1 released, so it is a mechanism of its own, which
        depends on an earlier answer: composition is adaptive. Should a found key not be recognised in the
        rows (by a type that no constant has), it is only sought again.
        (DP-SIPS, Swanberg et al. 2023, has three rounds of 1 : 3 : 9; here two of 1 : 9 found more.)
Test    tests/privacy/test_keys_alone.py
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpsql.ir.column import Column, Fact, Kind, Value
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Join, JoinKind, Materialized, ScanColumn
from dpsql.ir.scalar import Call, Ref, Scalar
from dpsql.ir.table import ReleasedTable
from dpsql.release.groups import plain
from dpsql.release.release import rank

Round = Callable[[MeasurePlan], ReleasedTable]
"""Measures, and releases."""


def in_rounds(each: MeasurePlan, one: Round) -> ReleasedTable:
    """What a measure releases; if it has a second round, both."""
    first = one(each)
    if each.again is None:
        return first
    return _together(first, one(without(each.again, first.groups)))


def without(each: MeasurePlan, found: list[tuple[Value, ...]]) -> MeasurePlan:
    """The measure of the rows that are in none of these groups."""
    if not found:
        return each
    m = each.measure
    columns = tuple(_column(f"found {i}", column) for i, column in enumerate(each.keys))
    rows = tuple(tuple(_constant(value) for value in group) for group in found)
    condition: Scalar | None = None
    for key, column in zip(m.keys, columns, strict=True):
        same = Call("is_not_distinct_from", (key.scalar, Ref(column.name)))
        condition = same if condition is None else Call("and", (condition, same))
    relation = Join(JoinKind.ANTI, m.relation, Materialized(columns, rows), condition)
    return replace(each, measure=replace(m, relation=relation))


def _column(name: str, key: Column) -> ScanColumn:
    own = key.fact.type
    return ScanColumn(name, "VARCHAR" if own.kind is Kind.TEXT else own.sql, Fact(own))


def _constant(value: Value) -> Value:
    return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else _dated(value)


def _dated(value: Value) -> Value:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _together(first: ReleasedTable, second: ReleasedTable) -> ReleasedTable:
    known = {plain(group) for group in first.groups}
    new = [i for i, group in enumerate(second.groups) if plain(group) not in known]
    groups = first.groups + [second.groups[i] for i in new]
    sums = np.concatenate((first.sums, second.sums[new]))
    order = sorted(range(len(groups)), key=lambda i: tuple(rank(value) for value in groups[i]))
    return ReleasedTable([groups[i] for i in order], sums[order])

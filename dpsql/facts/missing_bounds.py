"""Bounds that a query needs and the policy does not declare.

SUM(score)                  score has no range
SUM(n), n a COUNT of calls  nothing says how many calls one unit has

A query is analysed to its end, so that all missing bounds are reported together: each missing bound is
replaced by a stand-in value in the relation. A relation with stand-ins is only analysed; it never becomes a
plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from dpsql.errors import Error
from dpsql.facts.origin import origins_of
from dpsql.ir.bound import Missing, MissingBound, NeededBounds
from dpsql.ir.column import ANYTHING, Column, Fact, Interval, Kind, type_range
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Materialized,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
    scans,
)
from dpsql.ir.scalar import Scalar
from dpsql.policy.catalogue import Known, KnownTable

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)

_STAND_IN = 2**30
"""End of a stand-in range. Any finite range would do, since only finiteness is looked at, but for two limits.

It contains usual constants, so that a condition such as x > 1000000 leaves a part of it; and its width is at
most the 2**32 places of ``aggregates/placed.py``, or a variance of whole numbers would seem to lack more.
"""


def needed_bounds(
    relation: Relation, scalars: Iterable[Scalar], known: Known, refusal: Error
) -> NeededBounds:
    """Return the missing bounds of these scalars: ranges of their columns, else row counts of the tables.

    Raise ``refusal`` where neither would help.
    """
    read = frozenset(origin for scalar in scalars for origin in origins_of(relation, scalar))
    boundless = {
        (scanned.table, column.source)
        for scanned in scans(relation)
        for column in scanned.columns
        if (scanned.table, column.source) in read and _has_no_range(column.fact)
    }
    ranges = frozenset(
        MissingBound(table.name, column.name)
        for table in known.tables
        for column in _unbounded(table)
        if (table.name, column.name) in boundless
    )
    bounds = ranges or uncounted(relation)
    if not bounds:
        raise refusal
    return NeededBounds(tuple(sorted(bounds)), refusal)


def with_stand_ins(relation: Relation, bounds: Collection[Missing]) -> Relation:
    """Return the relation with stand-ins for these bounds: a finite range, one row per unit."""
    match relation:
        case Scan(table, columns, owner=owner):
            columns = tuple(
                replace(column, fact=_with_stand_in(column.fact))
                if (table, column.source) in bounds
                else column
                for column in columns
            )
            if owner is not None and MissingBound(table, "") in bounds:
                owner = replace(owner, rows=1)
            return replace(relation, columns=columns, owner=owner)
        case Materialized() | StageInput():
            return relation
        case Filter() | Project() | Aggregate() | Window():
            return replace(relation, input=with_stand_ins(relation.input, bounds))
        case Join() | Union():
            return replace(
                relation,
                left=with_stand_ins(relation.left, bounds),
                right=with_stand_ins(relation.right, bounds),
            )
        case _:
            assert_never(relation)


def _with_stand_in(fact: Fact) -> Fact:
    widest = type_range(fact.type)
    low, high = max(-_STAND_IN, widest.low), min(_STAND_IN, widest.high)
    return Fact(fact.type, Interval(low, high), fact.nullable)


def all_missing_bounds(known: Known) -> tuple[MissingBound, ...]:
    """Return every bound that the policy leaves out and a query may need."""
    private = [table for table in known.tables if not table.public]
    uncounted = [MissingBound(table.name, "") for table in private if table.rows is None]
    unbounded = (MissingBound(table.name, column.name) for table in private for column in _unbounded(table))
    return (*uncounted, *unbounded)


def _unbounded(table: KnownTable) -> Iterator[Column]:
    """Yield a private table's numeric columns without a range; the unit and small integers need none."""
    for column in () if table.public else table.columns:
        if column.name not in table.unit_columns and _has_no_range(column.fact):
            yield column


def ranged_by_type(known: Known) -> Iterator[tuple[KnownTable, Column]]:
    """Yield the private columns of small integers whose only range is that of their type."""
    for table in known.tables:
        for column in () if table.public else table.columns:
            plain = column.fact.type.kind is Kind.INTEGER and column.fact.domain == ANYTHING
            if plain and column.name not in table.unit_columns and not _has_no_range(column.fact):
                yield table, column


def _has_no_range(fact: Fact) -> bool:
    if fact.type.kind not in _NUMBERS or fact.domain != ANYTHING:
        return False
    return fact.type.kind is not Kind.INTEGER or type_range(fact.type).high >= 2**16


def uncounted(relation: Relation) -> frozenset[MissingBound]:
    """Return the private tables without a number of rows per unit."""
    owners = ((scan.table, scan.owner) for scan in scans(relation))
    return frozenset(
        MissingBound(table, "") for table, owner in owners if owner is not None and owner.rows is None
    )

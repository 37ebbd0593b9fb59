"""Bounds that a query needs and the policy does not declare.

SUM(score)                  score has no range
SUM(n), n a COUNT of calls  nothing says how many calls one unit has

A query is analysed to its end, so that all missing bounds are reported together: each missing bound is
replaced by a stand-in value in the relation. A relation with stand-ins is only analysed; it never becomes a
plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import assert_never

from dpsql.errors import Error
from dpsql.facts.origin import origins_of
from dpsql.ir.bound import Missing, MissingBound, NeededBounds
from dpsql.ir.column import ANYTHING, Fact, Interval, Kind, type_range
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
        if _has_no_range(column.fact)
    }
    undeclared = (bound for table in known.tables for bound in _unbounded(table))
    ranges = frozenset(bound for bound in undeclared if (bound.table, bound.column) in read & boundless)
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
    return (*uncounted, *(bound for table in private for bound in _unbounded(table)))


def _unbounded(table: KnownTable) -> list[MissingBound]:
    """Return a private table's numeric columns without a range; the unit and small integers need none."""
    if table.public:
        return []
    unit = table.unit_column if not table.links else None
    columns = (column for column in table.columns if column.name != unit)
    return [MissingBound(table.name, column.name) for column in columns if _has_no_range(column.fact)]


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


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Return the tables of the policy that a relation reads."""
    match relation:
        case Scan():
            return (relation,)
        case Materialized() | StageInput():
            return ()
        case Filter() | Project() | Aggregate() | Window():
            return scans(relation.input)
        case Join() | Union():
            return scans(relation.left) + scans(relation.right)
        case _:
            assert_never(relation)

"""What the owner could have declared, and did not, that a query now needs.

SUM(score)                  score has no range
SUM(n), n a COUNT of calls  nothing says how many calls one unit has

A query is looked at to its end, so that all it needs is known at once: where a bound is missing, a stand-in
takes its place in the relation. What is made on stand-ins is only looked at, and never becomes a plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import assert_never

from dpsql.errors import Error
from dpsql.facts.origin import origins_of
from dpsql.ir.bound import MissingBound, NeededBounds
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

_STAND_IN = 2**40
"""The end of a range that is only looked at: far enough for constants to lie within."""


def needed_bounds(
    relation: Relation, scalars: Iterable[Scalar], known: Known, refusal: Error
) -> NeededBounds:
    """What would bound these scalars: the ranges of their columns, or else the rows of the tables.

    Raises the refusal where nothing would: then no range of a column helps.
    """
    read = frozenset(origin for each in scalars for origin in origins_of(relation, each))
    boundless = {
        (scanned.table, column.source)
        for scanned in scans(relation)
        for column in scanned.columns
        if _boundless(column.fact)
    }
    listed = (each for table in known.tables for each in _open(table))
    ranges = frozenset(each for each in listed if (each.table, each.column) in read & boundless)
    bounds = ranges or uncounted(relation)
    if not bounds:
        raise refusal
    return NeededBounds(tuple(sorted(bounds)), refusal)


def with_stand_ins(relation: Relation, bounds: Collection[MissingBound]) -> Relation:
    """The relation as if these bounds were there: some finite range, some number of rows."""
    match relation:
        case Scan(table, columns, owner=owner):
            columns = tuple(
                replace(each, fact=_stood_in(each.fact)) if (table, each.source) in bounds else each
                for each in columns
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


def _stood_in(fact: Fact) -> Fact:
    whole = type_range(fact.type)
    low, high = max(-_STAND_IN, whole.low), min(_STAND_IN, whole.high)
    return Fact(fact.type, Interval(low, high), fact.nullable)


def all_missing_bounds(known: Known) -> tuple[MissingBound, ...]:
    """Everything that the policy leaves out and a query may need."""
    private = [table for table in known.tables if not table.public]
    uncounted = [MissingBound(table.name, "") for table in private if table.rows is None]
    return (*uncounted, *(each for table in private for each in _open(table)))


def _open(table: KnownTable) -> list[MissingBound]:
    """The numbers of a private table that nothing bounds, the unit aside; a type may bound some."""
    if table.public:
        return []
    unit = table.unit_column if not table.links else None
    columns = (each for each in table.columns if each.name != unit)
    return [MissingBound(table.name, each.name) for each in columns if _boundless(each.fact)]


def _boundless(fact: Fact) -> bool:
    if fact.type.kind not in _NUMBERS or fact.domain != ANYTHING:
        return False
    return fact.type.kind is not Kind.INTEGER or type_range(fact.type).high >= 2**16


def uncounted(relation: Relation) -> frozenset[MissingBound]:
    """The tables of which nothing says how many rows one unit has."""
    owners = ((each.table, each.owner) for each in scans(relation))
    return frozenset(
        MissingBound(table, "") for table, owner in owners if owner is not None and owner.rows is None
    )


def scans(relation: Relation) -> tuple[Scan, ...]:
    """The tables of the policy that a relation reads."""
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

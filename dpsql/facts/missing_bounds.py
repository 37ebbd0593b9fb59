"""What the owner could have declared, and did not, that a query now needs.

SUM(score)                  score has no range
SUM(n), n a COUNT of calls  nothing says how many calls one unit has
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from dpsql.facts.origin import origins_of
from dpsql.ir.bound import MissingBound
from dpsql.ir.column import ANYTHING, Fact, Kind, type_range
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


def missing_bounds_of(relation: Relation, scalar: Scalar, known: Known) -> frozenset[MissingBound]:
    """What would bound a scalar, perhaps: the ranges of its columns, or else the rows of its tables."""
    read = origins_of(relation, scalar)
    open_ones = (each for table in known.tables for each in _open(table))
    return frozenset(each for each in open_ones if (each.table, each.column) in read) or uncounted(relation)


def missing_bounds_of_all(
    relation: Relation, scalars: Iterable[Scalar], known: Known
) -> frozenset[MissingBound]:
    """The same of several scalars, of which one lacks a bound at least: ranges first."""
    found = frozenset(each for scalar in scalars for each in missing_bounds_of(relation, scalar, known))
    return frozenset(each for each in found if each.column) or found


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

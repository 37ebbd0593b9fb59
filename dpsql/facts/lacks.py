"""What the owner could have declared, and did not, that a query now needs.

SUM(score)                  score has no range
SUM(n), n a COUNT of calls  nothing says how many calls one unit has
"""

from __future__ import annotations

from typing import assert_never

from dpsql.facts.origin import origins_of
from dpsql.ir.bound import Lack
from dpsql.ir.column import ANYTHING, Fact, Kind, type_range
from dpsql.ir.relation import Aggregate, Awaited, Filter, Given, Join, Project, Relation, Scan, Union, Window
from dpsql.ir.scalar import Scalar
from dpsql.policy.catalogue import Known

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


def lacks_of(relation: Relation, scalar: Scalar, known: Known) -> frozenset[Lack]:
    """What would bound a scalar, perhaps: the ranges of its columns, or else the rows of its tables."""
    found = set()
    for name, column in origins_of(relation, scalar):
        table = known.table(name)
        if table is None or table.public:
            continue
        if any(each.name == column and _open(each.fact) for each in table.columns):
            found.add(Lack(table.name, column))
    return frozenset(found) or uncounted(relation)


def _open(fact: Fact) -> bool:
    """Whether nothing bounds these numbers; a small whole number is bounded by its type."""
    if fact.type.kind not in _NUMBERS or fact.domain != ANYTHING:
        return False
    return fact.type.kind is not Kind.INTEGER or type_range(fact.type).high >= 2**16


def uncounted(relation: Relation) -> frozenset[Lack]:
    """The tables of which nothing says how many rows one unit has."""
    owners = ((each.table, each.owner) for each in scans(relation))
    return frozenset(Lack(table, "") for table, owner in owners if owner is not None and owner.rows is None)


def scans(relation: Relation) -> tuple[Scan, ...]:
    """The tables of the policy that a relation reads."""
    match relation:
        case Scan():
            return (relation,)
        case Given() | Awaited():
            return ()
        case Filter() | Project() | Aggregate() | Window():
            return scans(relation.input)
        case Join() | Union():
            return scans(relation.left) + scans(relation.right)
        case _:
            assert_never(relation)

"""Ties: joins on columns that tell the unit, where the query did not ask that the units be equal.

    orders o JOIN refunds r ON o.order_id = r.order_id     the engine added o.patient_id = r.patient_id

Claim   pairs that the added equality leaves out, if there are any, are of one of the joins listed here.
Proof   A join without a row in the list has the equality in its own text, or both sides reach their unit from
        the same row: the columns that are equal hold the same unique key (of visits, for two rows of
        treatments that reach their unit along visit_id), all columns of it if there are several, and a row of
        that key has one unit. Or all columns of a unit of several are equal.
Test    tests/unit/test_ties.py

The list is made of declarations and the query: whether a pair was left out depends on the data.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.types import types_of
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
    names_of,
    scans,
)
from dpsql.ir.scalar import Call, Ref, conjuncts
from dpsql.lazy_dataclass import dataclass

_Key = tuple[str, frozenset[str]]
"""A table, and columns that are unique in it together."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A column of a scanned table."""

    scan: Scan
    column: str

    def __str__(self) -> str:
        return f"{self.scan.table}.{self.column}"

    @property
    def keys(self) -> dict[_Key, str]:
        """The unique keys that it is a column of: its own table's, and the next on the path to the unit."""
        names = {column.name: column.source for column in self.scan.columns}
        own = (frozenset(names[name] for name in key) for key in self.scan.keys)
        found = {(self.scan.table, key): self.column for key in own if self.column in key}
        for link in () if self.scan.owner is None else self.scan.owner.links[:1]:
            leads = dict(zip(names_of(link.column), names_of(link.key), strict=True))
            if self.column in leads:
                found[link.table, frozenset(leads.values())] = leads[self.column]
        return found


def ties_of(relation: Relation) -> tuple[str, ...]:
    """Return the ties in words: 'orders.order_id = refunds.order_id'."""
    return tuple(dict.fromkeys(_ties(relation)))


def _ties(relation: Relation) -> tuple[str, ...]:
    match relation:
        case Scan() | Materialized() | StageInput():
            return ()
        case Filter() | Project() | Aggregate() | Window():
            return _ties(relation.input)
        case Join(_, left, right):
            return _ties(left) + _ties(right) + (_of_join(relation) if relation.added else ())
        case Union(left, right):
            return _ties(left) + _ties(right)
        case _:
            assert_never(relation)


def _of_join(join: Join) -> tuple[str, ...]:
    left, right = types_of(join.left), types_of(join.right)
    units = _units(join.left) | _units(join.right)
    said: list[str] = []
    held: dict[tuple[Scan, Scan, _Key], set[str]] = {}
    for part in () if join.condition is None else conjuncts(join.condition):
        match part:
            case Call("=", (Ref(one), Ref(two))) if {one, two} <= units:
                continue  # the equality that was added: the query has none
            case Call("=", (Ref(one), Ref(two))) if {one, two} & left.keys() and {one, two} & right.keys():
                mine, other = (one, two) if one in left else (two, one)
                ours, theirs = stored(join.left, mine), stored(join.right, other)
                if ours is None or theirs is None:
                    continue
                same = ours.keys.items() & theirs.keys.items() if left[mine] == right[other] else set()
                for key, column in same:
                    equal = held.setdefault((ours.scan, theirs.scan, key), set())
                    equal.add(column)
                    if equal == key[1]:
                        return ()
                said.append(f"{ours} = {theirs}")
    return tuple(said[:1]) or (f"{_tables(join.left)} with {_tables(join.right)}",)


def _units(relation: Relation) -> frozenset[str]:
    """Return the columns that hold the unit."""
    owned = ownership_of(relation)
    return owned.units if isinstance(owned, Owned) else frozenset()


def stored(relation: Relation, name: str) -> Stored | None:
    """Return the stored column whose values a column has, row by row; None where it is computed."""
    match relation:
        case Scan(columns=columns):
            source = next((column.source for column in columns if column.name == name), None)
            return None if source is None else Stored(relation, source)
        case Filter(source, _):
            return stored(source, name)
        case Window(source, call):
            return None if name == call.name else stored(source, name)
        case Project(source, columns) | Aggregate(source, columns):
            named = next((column.scalar for column in columns if column.name == name), None)
            return stored(source, named.name) if isinstance(named, Ref) else None
        case Join(_, left, right, unit=unit):
            if unit is not None and unit.name == name:
                return None
            return stored(left if name in types_of(left) else right, name)
        case _:
            return None


def _tables(relation: Relation) -> str:
    private = (scan.table for scan in scans(relation) if scan.owner is not None)
    return " and ".join(dict.fromkeys(private))

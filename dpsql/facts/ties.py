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

from collections.abc import Iterable
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
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts, refs
from dpsql.lazy_dataclass import dataclass
from dpsql.render.english import singular

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


def tied(relation: Relation, names: frozenset[str]) -> frozenset[str]:
    """Return the columns of these that the policy says to tell the unit."""
    found = {name: stored(relation, name) for name in names}
    columns = {name: each for name, each in found.items() if each is not None}
    return frozenset(name for name, each in columns.items() if each.column in _sources(each.scan))


def _sources(scan: Scan) -> set[str]:
    return {column.source for column in scan.columns if column.name in scan.tied}


def named_alike(relation: Relation, name: str, other: Relation, far: str) -> bool:
    """Whether columns of two relations seem to hold the same: by a key, or as order_id and orders.id."""
    one, two = stored(relation, name), stored(other, far)
    if one is not None and two is not None and one.keys.items() & two.keys.items():
        return True
    return bool(_called(relation, name) & _called(other, far))


def _called(relation: Relation, name: str) -> set[str]:
    """Return the names that others may have for a column, or for those that it is computed from."""
    match relation:
        case Scan(table, columns):
            source = next((column.source for column in columns if column.name == name), None)
            return set() if source is None else _names(table, source)
        case Filter(source, _):
            return _called(source, name)
        case Window(source, call):
            return _called_each(source, call.arguments[:1]) if name == call.name else _called(source, name)
        case Project(source, columns):
            return _called_each(source, (each.scalar for each in columns if each.name == name))
        case Aggregate(source, keys, calls):
            made = (each.argument for each in calls if each.name == name and each.argument is not None)
            return _called_each(source, (*(each.scalar for each in keys if each.name == name), *made))
        case Join(_, left, right):
            return _called(left if name in types_of(left) else right, name)
        case Union(left, right):
            return _called(left, name) & _called(right, name)
        case _:
            return set()


def _called_each(relation: Relation, scalars: Iterable[Scalar]) -> set[str]:
    read = (name for scalar in scalars for name in refs(scalar))
    return set[str]().union(*(_called(relation, name) for name in read))


def _names(table: str, column: str) -> set[str]:
    """Return the names of a table's column, without regard to case and _; an id is that of its own table."""
    own = _plain(column)
    whole, one = _plain(table.rpartition(".")[2]), _plain(singular(table))
    found = {f"{table}.{own}", f"{whole}{own}", f"{one}{own}", own}
    return found - {"id"} | {one} if own == "id" else found


def _plain(name: str) -> str:
    return name.casefold().replace("_", "")


def _tables(relation: Relation) -> str:
    private = (scan.table for scan in scans(relation) if scan.owner is not None)
    return " and ".join(dict.fromkeys(private))

"""Whose rows a relation holds, and how many rows of one unit it can hold.

    Public(size)                        nobody's rows, at most so many of them
    Owned(unit, rows, at_most)          every row belongs to the unit in the hidden column

``rows`` is where clipping starts: a guess that only accuracy rests on. ``at_most`` is what enforced
keys prove; only it may drop a clip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never
from weakref import WeakKeyDictionary

from dpsql.facts.types import type_of, types_of
from dpsql.ir.column import Kind, Type, type_of_all
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Named,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
    WindowCall,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts, refs

FAN_OUT = 10_000
"""A public table may multiply one private row at most so often."""


@dataclass(frozen=True, slots=True)
class Public:
    """Nobody's rows; ``keys`` are sets of columns on which no two rows agree."""

    size: int
    keys: frozenset[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Owned:
    """``units`` are all columns that hold the unit of the row (``unit`` is the first of them).

    ``keys`` are sets of columns that determine the unit; ``settled`` are the columns that the unit
    determines; ``row_keys`` are sets of columns on which no two rows agree; ``fan`` is how often public
    tables may have multiplied one private row.
    """

    unit: str
    units: frozenset[str]
    rows: int | None
    at_most: int | None
    keys: frozenset[frozenset[str]]
    settled: frozenset[str]
    row_keys: frozenset[frozenset[str]] = frozenset()
    fan: int = 1


Ownership: TypeAlias = Public | Owned

_KEPT: WeakKeyDictionary[Relation, Ownership] = WeakKeyDictionary()


def ownership_of(relation: Relation) -> Ownership:
    """Bottom-up, every relation is somebody's or nobody's."""
    found = _KEPT.get(relation)
    if found is None:
        found = _KEPT[relation] = _ownership(relation)
    return found


def rows_of(relation: Relation) -> int | None:
    """About how many rows one unit has here; None when nothing says."""
    owned = ownership_of(relation)
    return owned.rows if isinstance(owned, Owned) else owned.size


def _ownership(relation: Relation) -> Ownership:
    match relation:
        case Scan(columns=columns, keys=declared, owner=owner, size=size):
            keys = frozenset(frozenset(key) for key in declared)
            if owner is None:
                assert size is not None, "a public table's size is known"
                return Public(size, keys)
            names = frozenset(each.name for each in columns)
            step = owner.links[0].column if owner.links else owner.column
            links = frozenset(frozenset((each.name,)) for each in columns if each.source == step)
            return Owned(
                owner.name,
                frozenset((owner.name,)),
                owner.rows,
                owner.at_most,
                keys | {frozenset((owner.name,))} | links,
                names if owner.at_most == 1 else frozenset((owner.name,)),
                keys | ({frozenset((owner.name,))} if owner.at_most == 1 else frozenset()),
            )
        case Materialized(rows=rows, keys=unique):
            return Public(len(rows), frozenset(frozenset(key) for key in unique))
        case StageInput(keys=unique, size=most):
            return Public(most, frozenset(frozenset(key) for key in unique))
        case Filter(Window(source, call), condition) if _is_first(call, condition):
            owned = ownership_of(source)
            assert isinstance(owned, Owned)
            places = frozenset(each.name for each in call.partition if isinstance(each, Ref))
            one = all(isinstance(each, Ref) for each in call.partition)
            alone = one and places <= owned.settled
            return replace(
                owned,
                rows=1 if alone else owned.rows,
                at_most=1 if alone else owned.at_most,
                settled=frozenset(types_of(source)) if alone else owned.settled,
                row_keys=owned.row_keys | ({places} if one else set()),
            )
        case Filter(source, _) | Window(source, _):
            return ownership_of(source)
        case Project(source, columns):
            return _projected(ownership_of(source), columns)
        case Join():
            return _joined(relation)
        case Aggregate(source, keys, calls):
            owned = ownership_of(source)
            assert isinstance(owned, Owned)
            kept = {each.scalar.name: each.name for each in keys if isinstance(each.scalar, Ref)}
            unit = next(kept[name] for name in (owned.unit, *owned.units) if name in kept)
            units = frozenset(
                each.name for each in keys if isinstance(each.scalar, Ref) and each.scalar.name in owned.units
            )
            whole = all(refs(each.scalar) <= owned.settled for each in keys)
            names = frozenset(each.name for each in keys) | {each.name for each in calls}
            return Owned(
                unit,
                units,
                1 if whole else owned.rows,
                1 if whole else owned.at_most,
                frozenset(frozenset((each,)) for each in units),
                names if whole else units,
                frozenset((frozenset(unit if each.name in units else each.name for each in keys),)),
                owned.fan,
            )
        case Union(left, right):
            ours, theirs = ownership_of(left), ownership_of(right)
            if isinstance(ours, Public) or isinstance(theirs, Public):
                assert isinstance(ours, Public)
                assert isinstance(theirs, Public)
                return Public(ours.size + theirs.size)
            unit = min(ours.units & theirs.units)
            return Owned(
                unit,
                frozenset((unit,)),
                None if ours.rows is None or theirs.rows is None else ours.rows + theirs.rows,
                None if ours.at_most is None or theirs.at_most is None else ours.at_most + theirs.at_most,
                frozenset((frozenset((unit,)),)),
                frozenset((unit,)),
                fan=max(ours.fan, theirs.fan),
            )
        case _:
            assert_never(relation)


def _is_first(call: WindowCall, condition: Scalar) -> bool:
    """Whether a filter keeps one row of each partition."""
    match condition:
        case Call("=" | "<=", (Ref(name), Literal(1))):
            return call.function == "row_number" and name == call.name
        case _:
            return False


def _projected(owned: Ownership, columns: tuple[Named, ...]) -> Ownership:
    """Through a projection: what is kept unchanged keeps its meaning under its new name."""
    kept = {each.scalar.name: each.name for each in columns if isinstance(each.scalar, Ref)}

    def renamed(sets: frozenset[frozenset[str]]) -> frozenset[frozenset[str]]:
        return frozenset(
            frozenset(kept[name] for name in each) for each in sets if all(name in kept for name in each)
        )

    if isinstance(owned, Public):
        return Public(owned.size, renamed(owned.keys))
    units = frozenset(
        each.name for each in columns if isinstance(each.scalar, Ref) and each.scalar.name in owned.units
    )
    settled = frozenset(each.name for each in columns if refs(each.scalar) <= owned.settled)
    return Owned(
        min(units),
        units,
        owned.rows,
        owned.at_most,
        renamed(owned.keys) | {frozenset((unit,)) for unit in units},
        settled,
        renamed(owned.row_keys) | {frozenset((unit,)) for unit in units if owned.at_most == 1},
        owned.fan,
    )


def _joined(join: Join) -> Ownership:
    left, right = ownership_of(join.left), ownership_of(join.right)
    inner = join.kind is JoinKind.INNER
    if join.kind.one_sided:
        return left
    match left, right:
        case Public(), Public():
            return Public(left.size * fan_out(join.right, join.left, join.condition))
        case Owned(), Public():
            return _multiplied(left, fan_out(join.right, join.left, join.condition))
        case Public(), Owned():
            assert inner, "the kept side of an outer join is private (checked when it was bound)"
            return _multiplied(right, fan_out(join.left, join.right, join.condition))
        case Owned(), Owned():
            return _both(join, left, right) if join.kind is not JoinKind.FULL else _either(join, left, right)
        case _:
            raise AssertionError("an ownership is Public or Owned")


def _multiplied(owned: Owned, times: int) -> Owned:
    return Owned(
        owned.unit,
        owned.units,
        None if owned.rows is None else owned.rows * times,
        None if owned.at_most is None else owned.at_most * times,
        owned.keys,
        owned.settled,
        owned.row_keys if times == 1 else frozenset(),
        owned.fan * times,
    )


def _both(join: Join, left: Owned, right: Owned) -> Owned:
    """Two private sides joined on the unit: the rows of the many side, or the product."""
    inner = join.kind is JoinKind.INNER
    one_right = _pins_a_key(right, join.right, join.left, join.condition)
    one_left = _pins_a_key(left, join.left, join.right, join.condition)
    rows, at_most = _times(left.rows, right.rows), _times(left.at_most, right.at_most)
    if one_right:
        rows, at_most = left.rows, left.at_most
    elif one_left and inner:
        rows, at_most = right.rows, right.at_most
    # of an outer join, what the unit settles on the right is settled only where the unit alone matches
    alone = inner or (join.condition is not None and len(conjuncts(join.condition)) == 1)
    return Owned(
        left.unit,
        left.units | right.units if inner else left.units,
        rows,
        at_most,
        left.keys | right.keys if inner else left.keys,
        left.settled | right.settled if alone else left.settled,
        left.row_keys if one_right else right.row_keys if one_left and inner else frozenset(),
        left.fan * right.fan,
    )


def _either(join: Join, left: Owned, right: Owned) -> Owned:
    """A FULL join: the pairs, and the rows of either side that have no other.

    With a of l rows and b of r in pairs there are at most a b + (l - a) + (r - b) rows: l r or l + r.
    """
    assert join.unit is not None
    single = _pins_a_key(right, join.right, join.left, join.condition) or _pins_a_key(
        left, join.left, join.right, join.condition
    )

    def rows(first: int | None, second: int | None) -> int | None:
        if first is None or second is None:
            return None
        return first + second if single else max(first * second, first + second)

    unit = join.unit.name
    return Owned(
        unit,
        frozenset((unit,)),
        rows(left.rows, right.rows),
        rows(left.at_most, right.at_most),
        frozenset((frozenset((unit,)),)),
        frozenset((unit,)),
        fan=left.fan * right.fan,
    )


def _times(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first * max(1, second)


def meets_one(left: Relation, right: Relation, condition: Scalar | None) -> bool:
    """Whether a row of the left meets at most one of the right, joined on the unit where that is private."""
    owned = ownership_of(right)
    if isinstance(owned, Owned):
        return _pins_a_key(owned, right, left, condition)
    return fan_out(right, left, condition) == 1


def _pins_a_key(owned: Owned, side: Relation, other: Relation, condition: Scalar | None) -> bool:
    """Whether one row of the other side meets at most one of this side (the units being equal)."""
    pinned = pinned_columns(side, other, condition) | owned.units
    return any(key <= pinned for key in owned.row_keys)


def pinned_columns(side: Relation, other: Relation, condition: Scalar | None) -> frozenset[str]:
    """Columns of one side of a join that the condition makes equal to one value from elsewhere.

    A comparison pins a column only if it tells all values of the column's type apart: compared as DOUBLE,
    hundreds of whole numbers are equal to one.
    """
    types = types_of(side)
    everywhere = {**types_of(other), **types}
    pinned: set[str] = set()
    for part in conjuncts(condition) if condition is not None else ():
        if isinstance(part, Call) and part.function == "=":
            for column, value in (part.arguments, part.arguments[::-1]):
                if not isinstance(column, Ref) or column.name not in types or refs(value) & types.keys():
                    continue
                if _tells_apart(types[column.name], type_of(value, everywhere)):
                    pinned.add(column.name)
    return frozenset(pinned)


def _tells_apart(column: Type, value: Type) -> bool:
    """Whether ``column = value`` is true for one value of the column's type at most."""
    if column.kind in (Kind.FLOAT, Kind.OPAQUE, Kind.INTERVAL):
        return False
    if column.kind is Kind.INTEGER and value.kind is Kind.INTEGER:
        return type_of_all((column, value)) is not None
    return column == value or (column.kind is Kind.TEXT and value.kind is Kind.TEXT)


def fan_out(public: Relation, other: Relation, condition: Scalar | None) -> int:
    """How many rows of a public relation one row of the other side can meet: one, if a key is pinned."""
    owned = ownership_of(public)
    assert isinstance(owned, Public)
    if any(key <= pinned_columns(public, other, condition) for key in owned.keys):
        return 1
    return max(1, owned.size)

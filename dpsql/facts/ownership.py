"""Ownership of a relation: public or private, its unit column, and the most rows of one unit.

    Public(size)                        public rows, at most ``size`` of them
    Owned(unit, rows, at_most)          every row belongs to the unit in the hidden column

``rows`` is where clipping starts: a guess that only affects accuracy. ``at_most`` is proved by enforced
keys; only it may make a clip unnecessary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, assert_never

from dpsql.facts.sharing import most_sharing
from dpsql.facts.types import type_of, types_of
from dpsql.ir.column import INTEGER, Kind, Type, type_of_all
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
    names_of,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts, refs
from dpsql.lazy_dataclass import dataclass
from dpsql.once_each import once_each

FAN_OUT = 10_000
"""Most rows that public tables, lists and UNION ALL may make of one private row."""

ROWS = 100_000_000
"""Most rows of one unit, by their declared or found number, that a query may make.

So two sides may be joined of which a unit has 8,192 rows each, the most that a search finds
(plan/bound_search.py); a third one may not.
"""


@dataclass(frozen=True, slots=True)
class Public:
    """Public rows; ``keys`` are sets of columns that are unique together."""

    size: int
    keys: frozenset[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Owned:
    """Private rows. ``units`` are all columns that hold the row's unit; ``unit`` is the first of them.

    ``keys`` are sets of columns that tell the unit, some of them by the policy's word alone: joins, groups
    and windows that have one get the unit beside it. ``settled`` are the columns that the unit
    determines. ``row_keys`` are sets of columns that are unique together, where none of them is NULL:
    ``sparse`` are columns of declared keys, and NULL may stand there in many rows. ``fan`` is how many rows
    public tables, lists and UNION ALL may have made of one private row. ``spelled`` are columns that together
    are the unit, in its order, where it is of several: they determine it, and it determines each; no single
    one is it.

    Claim   two rows with equal values in ``spelled`` columns have one unit, and rows of one unit have equal
            values there; none is NULL.
    Proof   A scan makes the unit of exactly these columns, and leaves out rows in which one is NULL
            (engines/unit_values.py). Rows of inner joins, of kept sides and of groups have the values and the
            unit of a row below; sides of a UNION have both in the same places.
    Test    tests/privacy/test_unit_by_columns.py, grammar_tests/units/two_columns.sql
    """

    unit: str
    units: frozenset[str]
    rows: int | None
    at_most: int | None
    keys: frozenset[frozenset[str]]
    settled: frozenset[str]
    row_keys: frozenset[frozenset[str]] = frozenset()
    fan: int = 1
    sparse: frozenset[str] = frozenset()
    spelled: frozenset[tuple[str, ...]] = frozenset()


Ownership: TypeAlias = Public | Owned


def rows_of(relation: Relation) -> int | None:
    """Return about how many rows one unit has here, or None where unknown."""
    owned = ownership_of(relation)
    return owned.rows if isinstance(owned, Owned) else owned.size


@once_each
def ownership_of(relation: Relation) -> Ownership:
    """Return the ownership of a relation, derived bottom-up."""
    return _ownership(relation)


def _ownership(relation: Relation) -> Ownership:
    match relation:
        case Scan(columns=columns, keys=declared, owner=owner, size=size, tied=tied):
            keys = frozenset(frozenset(key) for key in declared)
            if owner is None:
                assert size is not None, "a public table's size is known"
                return Public(size, keys)
            names = frozenset(column.name for column in columns)
            named = {column.source: column.name for column in columns}
            step = tuple(named[name] for name in names_of(owner.step) if name in named)
            links = {frozenset(step)} if len(step) == len(names_of(owner.step)) else set()
            spelled = frozenset((step,) if links and owner.composite and not owner.links else ())
            return Owned(
                owner.name,
                frozenset((owner.name,)),
                owner.rows,
                owner.at_most,
                keys | {frozenset((owner.name,))} | links | {frozenset((name,)) for name in tied},
                names if owner.at_most == 1 else frozenset((owner.name,)).union(*spelled),
                keys | ({frozenset((owner.name,))} if owner.at_most == 1 else frozenset()),
                sparse=frozenset().union(*keys),
                spelled=spelled,
            )
        case Materialized(rows=rows, keys=unique):
            return Public(len(rows), frozenset(frozenset(key) for key in unique))
        case StageInput(keys=unique, size=most):
            return Public(most, frozenset(frozenset(key) for key in unique))
        case Filter(Window(source, call), condition) if _keeps_one_row(call, condition):
            owned = ownership_of(source)
            assert isinstance(owned, Owned)
            places = frozenset(value.name for value in call.partition if isinstance(value, Ref))
            plain = all(isinstance(value, Ref) for value in call.partition)
            alone = plain and places <= owned.settled
            return replace(
                owned,
                rows=1 if alone else owned.rows,
                at_most=1 if alone else owned.at_most,
                settled=frozenset(types_of(source)) if alone else owned.settled,
                row_keys=owned.row_keys | ({places} if plain else set()),
            )
        case Filter(Project(source, columns), condition) if first := _first_rows(columns, condition):
            return _project_ownership(ownership_of(Filter(source, first)), columns)
        case Window(source, WindowCall(function="row_number") as call):
            owned = ownership_of(source)
            assert isinstance(owned, Owned)
            if not all(isinstance(value, Ref) for value in call.partition):
                return owned
            numbered = frozenset((call.name, *(name for value in call.partition for name in refs(value))))
            return replace(owned, row_keys=owned.row_keys | {numbered})
        case Filter(source, _) | Window(source, _):
            return ownership_of(source)
        case Project(source, columns):
            return _project_ownership(ownership_of(source), columns)
        case Join():
            return _join_ownership(relation)
        case Aggregate(source, keys, calls):
            owned = ownership_of(source)
            assert isinstance(owned, Owned)
            kept = {key.scalar.name: key.name for key in keys if isinstance(key.scalar, Ref)}
            unit = next(kept[name] for name in (owned.unit, *owned.units) if name in kept)
            units = frozenset(
                key.name for key in keys if isinstance(key.scalar, Ref) and key.scalar.name in owned.units
            )
            one_row = all(refs(key.scalar) <= owned.settled for key in keys)
            names = frozenset(key.name for key in keys) | {call.name for call in calls}
            spelled = _renamed(owned.spelled, kept)
            return Owned(
                unit,
                units,
                1 if one_row else owned.rows,
                1 if one_row else owned.at_most,
                frozenset(frozenset((name,)) for name in units)
                | {frozenset(kept[name] for name in key) for key in owned.keys if key <= kept.keys()},
                names if one_row else units.union(*spelled),
                frozenset((frozenset(unit if key.name in units else key.name for key in keys),)),
                1 if one_row else owned.fan,
                spelled=spelled,
            )
        case Union(left, right):
            ours, theirs = ownership_of(left), ownership_of(right)
            if isinstance(ours, Public) or isinstance(theirs, Public):
                assert isinstance(ours, Public)
                assert isinstance(theirs, Public)
                return Public(ours.size + theirs.size)
            unit = min(ours.units & theirs.units)
            spelled = ours.spelled & theirs.spelled
            return Owned(
                unit,
                frozenset((unit,)),
                None if ours.rows is None or theirs.rows is None else ours.rows + theirs.rows,
                None if ours.at_most is None or theirs.at_most is None else ours.at_most + theirs.at_most,
                frozenset((frozenset((unit,)), *map(frozenset, spelled))),
                frozenset((unit,)).union(*spelled),
                fan=ours.fan + theirs.fan,  # both may read one table
                spelled=spelled,
            )
        case _:
            assert_never(relation)


def _keeps_one_row(call: WindowCall, condition: Scalar) -> bool:
    """Whether the filter keeps one row of each partition: ROW_NUMBER() = 1 or <= 1."""
    numbers = (_first_of(part) for part in conjuncts(condition))
    return call.function == "row_number" and any(number == Ref(call.name) for number in numbers)


def _first_of(condition: Scalar) -> Scalar | None:
    """Return n of a condition that leaves only 1 of the whole numbers from 1 on, where n is one of these.

    n = 1, n <= 1, n < 2, n IN (1); and 1 = n, 1 >= n, 2 > n. NULL is left by none of them.
    """
    match condition:
        case Call("=" | "<=", (Ref() as number, Literal(1))) | Call("<", (Ref() as number, Literal(2))):
            return number
        case Call("=" | ">=", (Literal(1), Ref() as number)) | Call(">", (Literal(2), Ref() as number)):
            return number
        case Call("in", (Ref() as number, Literal(1))):
            return number
        case _:
            return None


def _first_rows(columns: tuple[Named, ...], condition: Scalar) -> Scalar | None:
    """Return the part n = 1 of a filter over a projection, as a filter below it; None if there is none."""
    below = {column.name: column.scalar for column in columns}
    for part in conjuncts(condition):
        number = _first_of(part)
        if isinstance(number, Ref) and isinstance(below.get(number.name), Ref):
            return Call("=", (below[number.name], Literal(1, INTEGER)))
    return None


def _renamed(spelled: frozenset[tuple[str, ...]], kept: Mapping[str, str]) -> frozenset[tuple[str, ...]]:
    """Return the sets of columns that are all kept, under their new names."""
    return frozenset(tuple(kept[name] for name in names) for names in spelled if set(names) <= kept.keys())


def _project_ownership(owned: Ownership, columns: tuple[Named, ...]) -> Ownership:
    """Return the ownership after a projection: columns that are kept have the same role under a new name."""
    kept = {column.scalar.name: column.name for column in columns if isinstance(column.scalar, Ref)}

    def renamed(sets: frozenset[frozenset[str]]) -> frozenset[frozenset[str]]:
        return frozenset(
            frozenset(kept[name] for name in names) for names in sets if all(name in kept for name in names)
        )

    if isinstance(owned, Public):
        return Public(owned.size, renamed(owned.keys))
    units = frozenset(
        column.name
        for column in columns
        if isinstance(column.scalar, Ref) and column.scalar.name in owned.units
    )
    kept = dict.fromkeys(owned.units, min(units)) | kept  # all units of a row are the same
    settled = frozenset(column.name for column in columns if refs(column.scalar) <= owned.settled)
    return Owned(
        min(units),
        units,
        owned.rows,
        owned.at_most,
        renamed(owned.keys) | {frozenset((unit,)) for unit in units},
        settled,
        renamed(owned.row_keys) | {frozenset((unit,)) for unit in units if owned.at_most == 1},
        owned.fan,
        frozenset(kept[name] for name in owned.sparse if name in kept),
        _renamed(owned.spelled, kept),
    )


def _join_ownership(join: Join) -> Ownership:
    left, right = ownership_of(join.left), ownership_of(join.right)
    inner = join.kind is JoinKind.INNER
    if join.kind.one_sided:
        return _kept_rows(join, left, right)
    match left, right:
        case Public(), Public():
            return _public_join(join, left, right)
        case Owned(), Public():
            return _multiply_rows(left, fan_out(join.right, join.left, join.condition))
        case Public(), Owned():
            assert inner, "the kept side of an outer join is private (checked when it was bound)"
            return _multiply_rows(right, fan_out(join.left, join.right, join.condition))
        case Owned(), Owned():
            return (
                _unit_join_ownership(join, left, right)
                if join.kind is not JoinKind.FULL
                else _full_join_ownership(join, left, right)
            )
        case _:
            raise AssertionError("an ownership is Public or Owned")


def _public_join(join: Join, left: Public, right: Public) -> Public:
    """Return the size and the keys of public rows that are joined.

    Claim   the join has at most so many rows, and no two have equal values in a key, none of them NULL.
    Proof   A left row is there as often as it meets right rows, or once in an outer join. If it meets at most
            one, the keys of left rows stay keys; so do those of right rows in an inner join that meet one.
    Test    grammar_tests/joins/public_side_kept.sql, with a planted error
    """
    to_right = fan_out(join.right, join.left, join.condition)
    if join.kind is not JoinKind.INNER:
        return Public(left.size * to_right, left.keys if to_right == 1 else frozenset())
    to_left = fan_out(join.left, join.right, join.condition)
    keys = (left.keys if to_right == 1 else frozenset()) | (right.keys if to_left == 1 else frozenset())
    return Public(min(left.size * to_right, right.size * to_left), keys)


def _kept_rows(join: Join, left: Ownership, right: Ownership) -> Ownership:
    """Return the ownership of the left rows of a SEMI or ANTI join.

    Left rows that meet a right row are no more than the right rows, if none of these meets two.
    """
    if join.kind is not JoinKind.SEMI or not isinstance(left, Owned) or not isinstance(right, Owned):
        return left
    if not _pins_a_key(left, join.left, join.right, join.condition):
        return left
    return replace(left, rows=least(left.rows, right.rows), at_most=least(left.at_most, right.at_most))


def least(*numbers: int | None) -> int | None:
    """Return the smallest number; None stands for one that is unknown."""
    return min((number for number in numbers if number is not None), default=None)


def _multiply_rows(owned: Owned, times: int) -> Owned:
    """Return the ownership after a join that makes up to ``times`` rows of each private row."""
    return Owned(
        owned.unit,
        owned.units,
        None if owned.rows is None else owned.rows * times,
        None if owned.at_most is None else owned.at_most * times,
        owned.keys,
        owned.settled,
        owned.row_keys if times == 1 else frozenset(),
        owned.fan * times,
        owned.sparse,
        owned.spelled,
    )


def _unit_join_ownership(join: Join, left: Owned, right: Owned) -> Owned:
    """Return the ownership of two private sides joined on the unit: rows of the many side, or the product."""
    inner = join.kind is JoinKind.INNER
    one_right = _pins_a_key(right, join.right, join.left, join.condition)
    one_left = _pins_a_key(left, join.left, join.right, join.condition)
    rows, at_most = _times(left.rows, right.rows), _times(left.at_most, right.at_most)
    if one_right:
        rows, at_most = left.rows, left.at_most
    elif one_left and inner:
        rows, at_most = right.rows, right.at_most
    # an outer join keeps what the unit determines on the right only if the unit is the whole condition
    parts = conjuncts(join.condition) if join.condition is not None else ()
    alone = inner or len(parts) == 1 or all(_of_units(part, left, right) for part in parts)
    return Owned(
        left.unit,
        left.units | right.units if inner else left.units,
        rows,
        at_most,
        left.keys | right.keys if inner else left.keys,
        left.settled | right.settled if alone else left.settled,
        left.row_keys if one_right else right.row_keys if one_left and inner else frozenset(),
        left.fan * right.fan,
        left.sparse | right.sparse,
        left.spelled | right.spelled if inner else left.spelled,
    )


def _of_units(part: Scalar, left: Owned, right: Owned) -> bool:
    """Whether a condition is the equality of the units, or of the same column of both."""
    match part:
        case Call("=", (Ref(one), Ref(other))):
            columns = {
                frozenset(pair)
                for ours in left.spelled
                for theirs in right.spelled
                for pair in zip(ours, theirs, strict=True)
            }
            sides = ((one, other), (other, one))
            units = any(ours in left.units and theirs in right.units for ours, theirs in sides)
            return units or frozenset((one, other)) in columns
        case _:
            return False


def writes_units(condition: Scalar | None, left: Owned, right: Owned) -> bool:
    """Whether a condition equates each column of a unit of several with the same column of the other side.

    Claim   then the units are equal wherever the condition is true.
    Proof   Both are made of these columns, in the policy's order, as values of one type that holds both.
    """
    parts = conjuncts(condition) if condition is not None else ()
    written = {
        pair
        for part in parts
        if isinstance(part, Call) and part.function == "="
        for pair in (part.arguments, part.arguments[::-1])
    }
    return any(
        all((Ref(a), Ref(b)) in written for a, b in zip(ours, theirs, strict=True))
        for ours in left.spelled
        for theirs in right.spelled
    )


def _full_join_ownership(join: Join, left: Owned, right: Owned) -> Owned:
    """Return the ownership of a FULL join: the pairs, and the unmatched rows of either side.

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
    """Whether a left row matches at most one right row; private sides are joined on the unit."""
    owned = ownership_of(right)
    if isinstance(owned, Owned):
        return _pins_a_key(owned, right, left, condition)
    return fan_out(right, left, condition) == 1


def _pins_a_key(owned: Owned, side: Relation, far_side: Relation, condition: Scalar | None) -> bool:
    """Whether a row of the far side matches at most one row of this side, the units being equal."""
    pinned = pinned_columns(side, far_side, condition) | owned.units
    return any(key <= pinned for key in owned.row_keys)


def pinned_columns(side: Relation, far_side: Relation, condition: Scalar | None) -> frozenset[str]:
    """Return the columns of one side that the join condition makes equal to one value of the far side.

    A comparison pins a column only if it distinguishes all values of the column's type: compared as DOUBLE,
    hundreds of large integers are equal to one number.
    """
    types = types_of(side)
    everywhere = {**types_of(far_side), **types}
    pinned: set[str] = set()
    for part in conjuncts(condition) if condition is not None else ():
        if isinstance(part, Call) and part.function == "=":
            for column, value in (part.arguments, part.arguments[::-1]):
                if not isinstance(column, Ref) or column.name not in types or refs(value) & types.keys():
                    continue
                if _distinguishes(types[column.name], type_of(value, everywhere)):
                    pinned.add(column.name)
    return frozenset(pinned)


def equal_columns(public: Relation, far_side: Relation, condition: Scalar | None) -> frozenset[str]:
    """Return the columns of a public side that have one value in all rows that a far row matches.

    Claim   so it is for those that the join makes equal to a value of the far row, and for those that a
            filter of the public rows makes equal to a constant: of the key (currency, day), where one day is
            left, the currency alone tells which row is met.
    Proof   Both are comparisons by ``=`` that one value of the column's type meets at most, and NULL never.
    Test    grammar_tests/joins/fan_out.sql, with a planted error
    """
    return pinned_columns(public, far_side, condition) | constant_columns(public)


def constant_columns(relation: Relation) -> frozenset[str]:
    """Return the columns that filters make equal to a constant in all rows."""
    match relation:
        case Filter(source, condition):
            return constant_columns(source) | pinned_columns(source, source, condition)
        case Project(source, columns):
            constant = constant_columns(source)
            kept = (each for each in columns if isinstance(each.scalar, Ref))
            return frozenset(each.name for each in kept if refs(each.scalar) <= constant)
        case _:
            return frozenset()


def _distinguishes(column: Type, value: Type) -> bool:
    """Whether ``column = value`` holds for at most one value of the column's type."""
    if column.kind in (Kind.FLOAT, Kind.OPAQUE, Kind.INTERVAL):
        return False
    if column.kind is Kind.INTEGER and value.kind is Kind.INTEGER:
        return type_of_all((column, value)) is not None
    if {column.sql, value.sql} == {"DATE", "TIMESTAMP"}:
        return True  # compared as moments: every day has a midnight of its own
    return column == value or (column.kind is Kind.TEXT and value.kind is Kind.TEXT)


def fan_out(public: Relation, far_side: Relation, condition: Scalar | None) -> int:
    """Return how many rows of a public relation one far row can match: 1 if a key is pinned."""
    owned = ownership_of(public)
    assert isinstance(owned, Public)
    pinned = equal_columns(public, far_side, condition)
    if any(key <= pinned for key in owned.keys):
        return 1
    sharing = most_sharing(public, pinned)
    return max(1, owned.size if sharing is None else min(owned.size, sharing))

"""Columns of public tables that a group's keys determine, and the key to look them up by.

    patients p JOIN wards w ON p.ward = w.ward, GROUP BY p.ward      w.beds: the row of wards with that ward

Claim   to show such a column costs nothing: it is the same function of the group's released keys and of
        public rows, whatever the private rows are.
Proof   the column belongs to public rows that have a key. The join makes each column of that key equal to a
        value that is a group key or is equal to one. So all private rows of a group meet the same public row,
        the one with the group's keys. An outer join may find no such row; then the column is NULL, and these
        equalities alone decide that. Nothing here reads a private row. If a declared key were not unique, a
        value of another public row would be shown.
Test    grammar_tests/public/looked_up.sql, tests/privacy/test_attacks.py
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.facts.ownership import pinned_columns
from dpsql.facts.types import types_of
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
    Window,
)
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A column of public rows; ``by`` pairs these rows' key columns with the group keys equal to them."""

    rows: Scan | Materialized
    column: str
    by: tuple[tuple[str, str], ...]


def looked_up(relation: Relation, column: str, keys: Mapping[str, str]) -> LookedUp | None:
    """Return the lookup of a column by ``keys`` (columns of the relation, with their names as group keys)."""
    return _look_up(relation, column, keys, frozenset())


def _look_up(
    relation: Relation, column: str, keys: Mapping[str, str], pinned: frozenset[str]
) -> LookedUp | None:
    """Return the lookup below joins; ``pinned`` are columns that these make equal to a value, so not NULL."""
    match relation:
        case Scan(owner=None) | Materialized():
            known = pinned & keys.keys()
            unique_key = next((key for key in relation.keys if set(key) <= known), None)
            return (
                LookedUp(relation, column, tuple((name, keys[name]) for name in unique_key))
                if unique_key
                else None
            )
        case Filter(source, _):
            return _look_up(source, column, keys, pinned)
        case Window(source, call):
            return None if column == call.name else _look_up(source, column, keys, pinned)
        case Project(source, columns) | Aggregate(source, columns, _):
            return _below_new_names(source, columns, column, keys, pinned)
        case Join(kind, left, right, condition) if kind is not JoinKind.FULL:
            if kind.one_sided or column in types_of(left):
                side, far_side = left, right
            else:
                side, far_side = right, left
            if kind.one_sided:
                return _look_up(side, column, keys, pinned)
            here = pinned_columns(side, far_side, condition)
            equal = _equal_to_keys(condition, here, keys)
            parts = conjuncts(condition) if condition is not None else ()
            if kind is JoinKind.LEFT and side is right and len(equal) < len(parts):
                return None  # more than the keys decides whether a row matches
            return _look_up(side, column, {**equal, **keys}, pinned | here)
        case _:
            return None


def _below_new_names(
    source: Relation,
    columns: tuple[Named, ...],
    column: str,
    keys: Mapping[str, str],
    pinned: frozenset[str],
) -> LookedUp | None:
    """Return the lookup of a column below a projection or an aggregate, under its name there."""
    inner = {column.name: column.scalar.name for column in columns if isinstance(column.scalar, Ref)}
    if column not in inner:
        return None
    below = {inner[name]: group for name, group in keys.items() if name in inner}
    return _look_up(source, inner[column], below, frozenset(inner[name] for name in pinned if name in inner))


def _equal_to_keys(
    condition: Scalar | None, pinned: frozenset[str], keys: Mapping[str, str]
) -> dict[str, str]:
    """Return the pinned columns that are equal to a group key, with that key's name."""
    equal = {}
    for part in conjuncts(condition) if condition is not None else ():
        match part:
            case Call("=", (Ref(first), Ref(second))):
                for pinned_column, key in ((first, second), (second, first)):
                    if pinned_column in pinned and key in keys:
                        equal[pinned_column] = keys[key]
    return equal

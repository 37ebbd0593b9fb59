"""Which columns of public rows the keys of a group determine, and where they are looked up.

    patients p JOIN wards w ON p.ward = w.ward, GROUP BY p.ward      w.beds: the row of wards with that ward

Claim   what is shown of such a column costs nothing: it is the same function of the group's released keys and
        of public rows, whichever private rows there are.
Proof   the column stands in public rows that have a key; the join makes each column of that key equal to
        something, and each is a group key or equal to one. So all private rows of a group meet the same one
        public row: the one that is found by the group's keys. In an outer join that may be none, and then the
        column is NULL; nothing but these equalities decides it. Nothing of this reads a private row; were a
        declared key none, another value of the public rows would be shown.
Test    grammar_tests/public/looked_up.sql, tests/privacy/test_attacks.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The place of a value in public rows; ``by`` are their columns and the group keys equal to these."""

    rows: Scan | Materialized
    column: str
    by: tuple[tuple[str, str], ...]


def looked_up(relation: Relation, column: str, keys: Mapping[str, str]) -> LookedUp | None:
    """Where a column is found by keys (columns of the relation, and the groups' names of them)."""
    return _looked_up(relation, column, keys, frozenset())


def _looked_up(
    relation: Relation, column: str, keys: Mapping[str, str], pinned: frozenset[str]
) -> LookedUp | None:
    """``pinned`` are columns that a join around this made equal to something, so that they are not NULL."""
    match relation:
        case Scan(owner=None) | Materialized():
            known = pinned & keys.keys()
            found = next((key for key in relation.keys if set(key) <= known), None)
            return LookedUp(relation, column, tuple((name, keys[name]) for name in found)) if found else None
        case Filter(source, _):
            return _looked_up(source, column, keys, pinned)
        case Window(source, call):
            return None if column == call.name else _looked_up(source, column, keys, pinned)
        case Project(source, columns) | Aggregate(source, columns, _):
            return _below(source, columns, column, keys, pinned)
        case Join(kind, left, right, condition) if kind is not JoinKind.FULL:
            if kind.one_sided or column in types_of(left):
                side, other = left, right
            else:
                side, other = right, left
            if kind.one_sided:
                return _looked_up(side, column, keys, pinned)
            here = pinned_columns(side, other, condition)
            equal = _equal(condition, here, keys)
            parts = conjuncts(condition) if condition is not None else ()
            if kind is JoinKind.LEFT and side is right and len(equal) < len(parts):
                return None  # whether a row is met depends on more than the keys
            return _looked_up(side, column, {**equal, **keys}, pinned | here)
        case _:
            return None


def _below(
    source: Relation,
    columns: tuple[Named, ...],
    column: str,
    keys: Mapping[str, str],
    pinned: frozenset[str],
) -> LookedUp | None:
    """The same below new names."""
    inner = {each.name: each.scalar.name for each in columns if isinstance(each.scalar, Ref)}
    if column not in inner:
        return None
    below = {inner[name]: group for name, group in keys.items() if name in inner}
    return _looked_up(
        source, inner[column], below, frozenset(inner[each] for each in pinned if each in inner)
    )


def _equal(condition: Scalar | None, pinned: frozenset[str], keys: Mapping[str, str]) -> dict[str, str]:
    """Pinned columns that are equal to a key, with the group's name of it."""
    found = {}
    for part in conjuncts(condition) if condition is not None else ():
        match part:
            case Call("=", (Ref(first), Ref(second))):
                for own, key in ((first, second), (second, first)):
                    if own in pinned and key in keys:
                        found[own] = keys[key]
    return found

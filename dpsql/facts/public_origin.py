"""The column of a public table that a key is: keys of one row of it have that table's own combinations.

    places p JOIN visits v ON p.place_id = v.place_id      GROUP BY v.place_id, p.name

    place_id and name are of one row of places: 12 pairs, not 12 times 12

Claim   for every private row, the values of keys with the same ``scan`` are those of one row of that table,
        or all NULL where an outer join found no row (``missing``).
Proof   A column is followed through what keeps the values of a row: filters, renamings, joins, and grouping
        by it. A scan occurs once in the relation, so each row of the relation has one row of it. Where an
        inner join or a filter says ``a = b``, a row's value of a is that of b. If the claim were wrong, rows
        with other combinations would be in no group: the list is a function of public rows alone.
Test    grammar_tests/keys/public_tuples.sql, tests/unit/test_public_tuples.py

A table that is scanned twice gives two independent sets of combinations: the place of birth is not the place
of a visit.
"""

from __future__ import annotations

from dpsql.facts.types import types_of
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Project, Relation, Scan, Window
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PublicOrigin:
    """A column of a public scan; ``missing``: an outer join may find no row."""

    scan: Scan
    column: str
    missing: bool = False


def public_origin(relation: Relation, scalar: Scalar, equal: bool = True) -> PublicOrigin | None:
    """Return the public column that a column of this relation is, or is ``equal`` to.

    What is equal may be of another type, or -0 where it is 0: functions may tell the two apart.
    """
    return _follow(relation, scalar.name, equal) if isinstance(scalar, Ref) else None


def _follow(relation: Relation, name: str, equal: bool) -> PublicOrigin | None:
    match relation:
        case Scan(owner=None, columns=columns):
            source = next((column.source for column in columns if column.name == name), None)
            return None if source is None else PublicOrigin(relation, source)
        case Filter(source, condition):
            found = _follow(source, name, equal)
            return found or (_through_equal(source, source, name, condition) if equal else None)
        case Window(source, call):
            return None if name == call.name else _follow(source, name, equal)
        case Project(source, columns) | Aggregate(source, columns):
            named = next((column.scalar for column in columns if column.name == name), None)
            return _follow(source, named.name, equal) if isinstance(named, Ref) else None
        case Join(kind, left, right, condition):
            if kind is JoinKind.FULL:
                return None
            on_left = name in types_of(left)
            if kind.one_sided or (on_left and kind is JoinKind.LEFT):
                return _follow(left, name, equal)
            if kind is JoinKind.LEFT:
                found = _follow(right, name, equal)
                return None if found is None else PublicOrigin(found.scan, found.column, missing=True)
            mine, other = (left, right) if on_left else (right, left)
            found = _follow(mine, name, equal)
            return found or (_through_equal(relation, other, name, condition) if equal else None)
        case _:
            return None


def _through_equal(
    relation: Relation, other: Relation, name: str, condition: Scalar | None
) -> PublicOrigin | None:
    """Return the origin of a column of ``other`` that the condition makes equal to this one."""
    types, there = types_of(relation), types_of(other)
    for part in conjuncts(condition) if condition is not None else ():
        match part:
            case Call("=", (Ref(one), Ref(two))) if name in (one, two) and one != two:
                equal = two if one == name else one
                alike = equal in there and types[name].kind is types[equal].kind
                found = _follow(other, equal, True) if alike else None
                if found is not None and not found.missing:
                    return found
    return None

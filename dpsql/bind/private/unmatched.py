"""Read the rows of an outer join that met no row as an anti-join.

    FROM patients LEFT JOIN visits USING (patient_id) WHERE visits.patient_id IS NULL
    FROM patients ANTI JOIN visits USING (patient_id)

Claim   both have the same rows, and NULL in every column of the right side.
Proof   A left row that meets none is there once, with NULL on the right; ANTI keeps it once. In the rows of
        one that meets some, a column that the join's condition compares by = is not NULL, nor is one that
        the database declares NOT NULL: the filter drops them all, and what later joins made of them. The
        condition of the join stays as it is, with the equality of the units.
Test    grammar_tests/joins/unmatched.sql, with a planted error

A patient of many visits has one row then, not as many as visits: less noise, and no clip.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.relation import Join, JoinKind, Named, Project, Relation
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts


def unmatched(relation: Relation, parts: list[Scalar]) -> Relation:
    """Return the relation with anti-joins and NULLs where its filter leaves only rows that met none."""
    tested = {part.arguments[0] for part in parts if isinstance(part, Call) and part.function == "is_null"}
    return _unmatched(relation, tested) if tested else relation


def _unmatched(relation: Relation, tested: set[Scalar]) -> Relation:
    match relation:
        case Join(JoinKind.LEFT, left, right, condition) if _both_private(left, right):
            left = _unmatched(left, tested)
            if tested.isdisjoint(_never_null_where_met(right, condition)):
                return replace(relation, left=left)
            kept = tuple(Named(name, Ref(name)) for name in facts_of(left))
            empty = tuple(
                Named(name, Literal(None, fact.type), replace(fact, nullable=True, order=None))
                for name, fact in facts_of(right).items()
            )
            return Project(replace(relation, kind=JoinKind.ANTI, left=left), kept + empty)
        case _:
            return relation


def _both_private(*sides: Relation) -> bool:
    return all(isinstance(ownership_of(side), Owned) for side in sides)


def _never_null_where_met(right: Relation, condition: Scalar | None) -> set[Scalar]:
    """Return the columns of the right side that are not NULL in a row that meets the condition."""
    facts = facts_of(right)
    found: set[Scalar] = {Ref(name) for name, fact in facts.items() if not fact.nullable}
    for part in conjuncts(condition) if condition is not None else ():
        match part:
            case Call("=", sides):
                found |= {side for side in sides if isinstance(side, Ref) and side.name in facts}
    return found

"""Let CLAMPED go beyond a guessed number of rows: the analyst's own bounds end a unit's number.

    SELECT AVG(n CLAMPED BETWEEN 0 AND 40)
    FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)

``rows_per_unit`` gives n the range [0, 15], and CLAMPED would be a clip at 15: a bias that nobody asked for.

Claim   the argument is in the bounds that CLAMPED names.
Proof   LEAST and GREATEST enforce them on any number; that it has a range is forgotten (``Named.known``).
        The unit has one row, so these bounds alone are its part in the sum, which is clipped to them once
        more.
Test    grammar_tests/bounds/own_bounds.sql, tests/unit/test_own_bounds.py

Where a unit has several rows, its numbers together are at most ``rows_per_unit`` (unit_mass.py): bounds of
each row would cost more noise than they spare bias, so these arguments are left as they are.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.bind.scope.scope import Fresh
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.row_guesses import clipped_by_rows
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import ANYTHING, Fact
from dpsql.ir.relation import AggregateCall, Named, Project, Relation
from dpsql.ir.scalar import Call, Literal, Ref, Scalar


def with_own_bounds(call: AggregateCall, relation: Relation, fresh: Fresh) -> tuple[AggregateCall, Relation]:
    """Return the call with what CLAMPED clips freed of guesses, where a unit has one row, and its rows."""
    match call.argument:
        case Call(
            "case",
            (
                Call("is_not_null", (tested,)) as test,
                Call("least", (Call("greatest", (inner, Literal() as low)), Literal() as high)),
            ),
        ) if inner == tested and None not in (low.value, high.value):
            owned = ownership_of(relation)
            if isinstance(owned, Owned) and owned.at_most == 1 and clipped_by_rows(relation, inner):
                freed, relation = _unranged(inner, relation, fresh)
                clipped = Call("least", (Call("greatest", (freed, low)), high))
                call = replace(call, argument=Call("case", (test, clipped)))
    return call, relation


def _unranged(scalar: Scalar, relation: Relation, fresh: Fresh) -> tuple[Ref, Relation]:
    """Return a column with the values of a scalar and no range; equal scalars share one, and its sums."""
    facts = facts_of(relation)
    fact = fact_of(scalar, facts)
    unranged = Fact(fact.type, ANYTHING, fact.nullable)
    if isinstance(relation, Project):
        for column in relation.columns:
            if column.known == unranged and column.scalar == scalar:
                return Ref(column.name), relation
    kept = tuple(Named(name, Ref(name)) for name in facts)
    named = Named(fresh("unranged"), scalar, unranged)
    return Ref(named.name), Project(relation, (*kept, named))

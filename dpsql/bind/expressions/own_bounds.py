"""Let CLAMPED go beyond a guessed number of rows: the analyst's own bounds end a unit's number.

    SELECT AVG(n CLAMPED BETWEEN 0 AND 40)
    FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)

``rows_per_unit`` gives n the range [0, 15], and CLAMPED would be a clip at 15: a bias that nobody asked for.

Claim   the argument is in the bounds that CLAMPED names.
Proof   LEAST and GREATEST enforce them on any number; what is taken away is knowledge (unranged.py). The unit
        has one row, so these bounds alone are its part in the sum, which is clipped to them once more.
Test    grammar_tests/bounds/own_bounds.sql, tests/unit/test_own_bounds.py

Where a unit has several rows, its numbers together are at most ``rows_per_unit`` (unit_mass.py): bounds of
each row would cost more noise than they spare bias, so these arguments are left as they are.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.row_guesses import clipped_by_rows
from dpsql.ir.relation import AggregateCall, Relation
from dpsql.ir.scalar import Call, Literal


def with_own_bounds(call: AggregateCall, relation: Relation) -> AggregateCall:
    """Return the call with what CLAMPED clips freed of guesses, where a unit has one row."""
    match call.argument:
        case Call(
            "case", (test, Call("least", (Call("greatest", (inner, Literal() as low)), Literal() as high)))
        ):
            owned = ownership_of(relation)
            if isinstance(owned, Owned) and owned.at_most == 1 and clipped_by_rows(relation, inner):
                freed = Call("greatest", (Call("unranged", (inner,)), low))
                return replace(call, argument=Call("case", (test, Call("least", (freed, high)))))
    return call

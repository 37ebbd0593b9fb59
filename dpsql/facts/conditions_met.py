"""What the conditions of a query say of an expression that it groups by.

    WHERE upper(town) IN ('OSLO', 'BERGEN')    GROUP BY upper(town)    two values
    WHERE year(seen) >= 2023                   GROUP BY year(seen)     those of the declared days from 2023 on

Claim   each row of the relation has a value of the expression that its fact allows, if the data satisfies its
        declarations.
Proof   An expression has one value for a row, which is that of the same expression over the row below that it
        is made of: filters, windows and joins keep the columns of a row, except of the side that an outer
        join may leave empty; projections and groups name them. Each row below satisfies the condition of its
        filter, or of its inner join. The expression in a condition is the same one, column by column, so the
        condition holds of its value, as it would of a column's. Only constants are read beside it: the range
        of a column may be a guess (row_guesses.py). Numbers of 32 bits are compared by what is left of them,
        so conditions with these are not read.
Test    grammar_tests/keys/conditions_on_expressions.sql, tests/unit/test_conditions_met.py

Conditions on columns are no part of this: they narrow the facts of the columns (schema.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.facts.schema import fact_of, facts_of, narrow
from dpsql.ir.column import Fact
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Project, Relation, Window
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts, refs, replace_refs

_NAME = "the expression"
"""The name that it has in the conditions that are read."""


def fact_where_met(relation: Relation, scalar: Scalar) -> Fact:
    """Return the fact of an expression over a relation, narrowed by the conditions below that contain it."""
    fact = fact_of(scalar, facts_of(relation))
    for below, here, condition in _conditions(relation, scalar):
        stated = _with(condition, here, Ref(_NAME)) if isinstance(here, Call) else condition
        if refs(stated) != {_NAME} or _NAME in facts_of(below):
            continue
        facts = {**facts_of(below), _NAME: fact}
        if not _of_32_bits(stated, facts):
            narrow(facts, stated)
            fact = facts[_NAME]
    return fact


def _conditions(relation: Relation, scalar: Scalar) -> Iterator[tuple[Relation, Scalar, Scalar]]:
    """Yield the conditions of all rows, each with the relation that it reads, and the expression there."""
    while True:
        condition: Scalar | None = None
        match relation:
            case Filter(below, condition):
                pass
            case Window(below, call) if call.name not in refs(scalar):
                pass
            case Project(below, columns) | Aggregate(below, columns):
                named = {column.name: column.scalar for column in columns}
                if not refs(scalar) <= named.keys():
                    return
                kind, scalar = fact_of(scalar, facts_of(relation)).type, replace_refs(scalar, named)
                if fact_of(scalar, facts_of(below)).type != kind:
                    return
            case Join(kind=joined, left=left, right=right):
                if joined is JoinKind.INNER and relation.condition is not None:
                    yield from ((relation, scalar, part) for part in conjuncts(relation.condition))
                if refs(scalar) <= facts_of(left).keys() and joined is not JoinKind.FULL:
                    below = left
                elif refs(scalar) <= facts_of(right).keys() and joined is JoinKind.INNER:
                    below = right
                else:
                    return
            case _:
                return
        if condition is not None:
            yield from ((below, scalar, part) for part in conjuncts(condition))
        relation = below


def _of_32_bits(condition: Scalar, facts: dict[str, Fact]) -> bool:
    """Whether a condition compares numbers of 32 bits."""
    parts = condition.arguments if isinstance(condition, Call) else ()
    return fact_of(condition, facts).type.sql == "FLOAT" or any(_of_32_bits(part, facts) for part in parts)


def _with(scalar: Scalar, one: Scalar, other: Scalar) -> Scalar:
    """Return a scalar with another expression in the place of one."""
    if scalar == one:
        return other
    if not isinstance(scalar, Call):
        return scalar
    arguments = tuple(_with(argument, one, other) for argument in scalar.arguments)
    return Call(scalar.function, arguments, scalar.type, scalar.span)

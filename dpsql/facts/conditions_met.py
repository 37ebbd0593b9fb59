"""What the conditions of a query say of the expressions that it groups by.

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

from collections.abc import Mapping
from typing import TypeAlias

from dpsql.facts.schema import fact_of, facts_of, narrow
from dpsql.ir.column import Fact, Kind
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Named, Project, Relation, Window
from dpsql.ir.scalar import MOST_NODES, Call, Ref, Scalar, conjuncts, has_more_nodes, refs, replace_refs

Keys: TypeAlias = Mapping[int, Scalar]
"""Keys by their places, as expressions over a relation."""


def fact_where_met(relation: Relation, scalar: Scalar, also: Scalar | None = None) -> Fact:
    """Return the fact of an expression over a relation, narrowed by the conditions below that contain it.

    ``also`` is one more condition on the rows that are read.
    """
    facts, keys = {name_of(0): fact_of(scalar, facts_of(relation))}, {0: scalar}
    own = () if also is None else _of_keys(also, keys)
    for condition in (*own, *conditions_on(relation, keys)):
        if not _of_32_bits(condition, facts):
            narrow(facts, condition)
    return facts[name_of(0)]


def name_of(place: int) -> str:
    return f"k{place}"


def conditions_on(relation: Relation, keys: Keys) -> list[Scalar]:
    """Return the conditions on keys alone that all rows of the relation satisfy, over the keys' names."""
    match relation:
        case Filter(source, condition):
            return _of_keys(condition, keys) + conditions_on(source, keys)
        case Project(source, columns):
            return conditions_on(source, _through(keys, {column.name: column.scalar for column in columns}))
        case Aggregate(source, columns):
            inside = _through(keys, {column.name: column.scalar for column in columns})
            changed = {each.name for each in columns if _is_changed(each, relation)}
            above, below = facts_of(relation), facts_of(source)
            same = (
                i
                for i, key in inside.items()
                if fact_of(key, below).type == fact_of(keys[i], above).type
                and (isinstance(keys[i], Ref) or refs(keys[i]).isdisjoint(changed))
            )
            return conditions_on(source, {i: inside[i] for i in same})
        case Window(source, _):
            return conditions_on(source, _within(keys, source))
        case Join(kind, left, right, condition) if kind is not JoinKind.FULL:
            inner = kind is JoinKind.INNER
            found = _of_keys(condition, keys) if inner and condition is not None else []
            found += conditions_on(left, _within(keys, left))
            return found + (conditions_on(right, _within(keys, right)) if inner else [])
        case _:
            return []


def _is_changed(key: Named, grouped: Aggregate) -> bool:
    """Whether a function may tell a group's key from a value that it is made of: 0.0 stands for -0.0 too."""
    above, below = fact_of(Ref(key.name), facts_of(grouped)), fact_of(key.scalar, facts_of(grouped.input))
    return above.type != below.type or above.type.kind is Kind.FLOAT


def conditions_below(relation: Relation) -> list[tuple[Relation, Scalar]]:
    """Return the conditions that all rows of a relation satisfy, each with the relation that it reads."""
    match relation:
        case Filter(source, condition):
            return [(source, part) for part in conjuncts(condition)] + conditions_below(source)
        case Project(source, _) | Aggregate(source, _) | Window(source, _):
            return conditions_below(source)
        case Join(kind, left, right, condition) if kind is not JoinKind.FULL:
            inner = kind is JoinKind.INNER
            parts = conjuncts(condition) if inner and condition is not None else ()
            found = [(relation, part) for part in parts] + conditions_below(left)
            return found + (conditions_below(right) if inner else [])
        case _:
            return []


def _within(keys: Keys, relation: Relation) -> Keys:
    """Return the keys that are computed from columns of this relation alone."""
    there = facts_of(relation).keys()
    return {i: key for i, key in keys.items() if refs(key) <= there}


def _through(keys: Keys, inside: Mapping[str, Scalar]) -> Keys:
    """Return the keys over what a projection reads; without those of which a column is computed there.

    Expressions of expressions may double at every step: those that grow too long are not followed.
    """
    short = {i: key for i, key in keys.items() if not has_more_nodes(key, MOST_NODES)}
    return {i: replace_refs(key, dict(inside)) for i, key in short.items() if refs(key) <= inside.keys()}


def _of_keys(condition: Scalar, keys: Keys) -> list[Scalar]:
    """Return the parts of a condition that are of keys alone, over the keys' names."""
    named = {key: Ref(name_of(i)) for i, key in keys.items()}
    return [part for each in conjuncts(condition) if (part := _over_names(each, named)) is not None]


def _over_names(scalar: Scalar, named: Mapping[Scalar, Ref]) -> Scalar | None:
    if scalar in named:
        return named[scalar]
    match scalar:
        case Ref():
            return None
        case Call(function, arguments, type):
            over = [_over_names(argument, named) for argument in arguments]
            kept = tuple(part for part in over if part is not None)
            return Call(function, kept, type) if len(kept) == len(over) else None
        case _:
            return scalar


def _of_32_bits(condition: Scalar, facts: Mapping[str, Fact]) -> bool:
    """Whether a condition compares numbers of 32 bits."""
    parts = condition.arguments if isinstance(condition, Call) else ()
    return fact_of(condition, facts).type.sql == "FLOAT" or any(_of_32_bits(part, facts) for part in parts)

"""Conditions that no row meets whose values are as declared: a misspelt value, a year after the last one.

    sex = 'female'                        sex is one of 'F', 'M'
    seen >= DATE '2031-01-01'             seen is from 2020-01-01 to 2025-12-31
    sex = 'F' AND sex = 'M'
    rider_id IS NULL                      rows without a rider are nobody's, and never count

It is for advice alone: rows may break their declarations, and nothing that is computed depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.facts.row_guesses import guessed
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.narrowing import limit_of
from dpsql.ir.column import Categories, Fact, Kind, range_of
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Project, Relation, Union, Window
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def never_met(relation: Relation) -> tuple[Relation, Scalar] | None:
    """Return a condition that leaves no row, over the relation that it reads; None if all may leave some."""
    match relation:
        case Filter(source, condition):
            found = next((part for part in conjuncts(condition) if never_true(source, part)), None)
            found = found or _emptied(relation, source)
            return never_met(source) if found is None else (source, found)
        case Project(source, _) | Window(source, _) | Aggregate(source, _, _):
            return never_met(source)
        case Join(kind, left, right):
            sides = [never_met(left)]
            if kind in (JoinKind.INNER, JoinKind.SEMI, JoinKind.FULL):
                sides.append(never_met(right))
            needed = all if kind is JoinKind.FULL else any
            return next(filter(None, sides)) if needed(sides) else None
        case Union(left, right):
            return never_met(left) if never_met(right) is not None else None
        case _:
            return None


def _emptied(filtered: Filter, source: Relation) -> Scalar | None:
    """Return a column of which the conditions together leave no value."""
    before = facts_of(source)
    for name, fact in facts_of(filtered).items():
        if fact.domain == Categories(()) and not fact.nullable and before[name].domain != fact.domain:
            return Ref(name)
    return None


def never_true(relation: Relation, condition: Scalar) -> bool:
    """Whether a condition is true of no row whose values are as declared."""
    match condition:
        case Call("and", parts):
            return any(never_true(relation, part) for part in parts)
        case Call("or", parts):
            return all(never_true(relation, part) for part in parts)
        case Call("=" | "<" | "<=" | ">" | ">=" as sign, (left, right)):
            return _never(relation, left, sign, right)
        case Call("between", (value, low, high)):
            return _never(relation, value, ">=", low) or _never(relation, value, "<=", high)
        case Call("in", (value, *listed)):
            return all(_never(relation, value, "=", each) for each in listed)
        case Call("is_null", (Ref(name),)):
            return not facts_of(relation)[name].nullable
        case _:
            return False


def _never(relation: Relation, left: Scalar, sign: str, right: Scalar) -> bool:
    if guessed(relation, left) or guessed(relation, right):
        return False
    of_left, of_right = (fact_of(side, facts_of(relation)) for side in (left, right))
    if sign == "=" and of_left.type.kind is of_right.type.kind is Kind.TEXT:
        return _no_common_text((of_left, of_right))
    return _beyond(of_left, sign, of_right) or _beyond(of_right, _FLIPPED[sign], of_left)


def _no_common_text(facts: Sequence[Fact]) -> bool:
    listed = [frozenset(fact.domain.values) for fact in facts if isinstance(fact.domain, Categories)]
    return len(listed) == len(facts) and not frozenset.intersection(*listed)


def _beyond(fact: Fact, sign: str, bound: Fact) -> bool:
    """Whether all of a bound is on the wrong side of all values of a fact."""
    limit, _ = limit_of(fact, bound)
    ends = range_of(fact)
    too_high = limit.low > ends.high if sign in ("=", ">=") else limit.low >= ends.high
    too_low = limit.high < ends.low if sign in ("=", "<=") else limit.high <= ends.low
    return (sign in ("=", ">", ">=") and too_high) or (sign in ("=", "<", "<=") and too_low)

"""Ranges that depend on the guessed number of rows per unit, or on a found bound.

SELECT n // 5 FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)

``rows_per_unit`` only says where clipping starts; it is no promise. A range derived from it sets a scale and
nothing more. The same holds for a range that was found privately: about all units are within, none is
guaranteed to be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Domain, Fact, Interval
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Scan, Union, Window
from dpsql.ir.scalar import Scalar, conjuncts, refs

_COUNTS = frozenset(
    "count sum row_number rank dense_rank ntile regr_count regr_sxx regr_syy regr_sxy".split()
)
"""Aggregates and windows whose range depends on how many rows a unit has."""


def guessed(relation: Relation, scalar: Scalar) -> bool:
    """Whether a scalar's range depends on guessed rows per unit or on a found bound."""
    return any(_is_guessed(relation, name) for name in refs(scalar))


def clipped_by_rows(relation: Relation, scalar: Scalar) -> bool:
    """Whether the number of guessed rows per unit ends a scalar's range: no condition or function does."""
    facts = facts_of(relation)
    wider = {name: _without_end(facts[name]) for name in refs(scalar) if _is_of_rows(relation, name)}
    return bool(wider) and fact_of(scalar, facts | wider).domain != fact_of(scalar, facts).domain


def _without_end(fact: Fact) -> Fact:
    low = fact.domain.low if isinstance(fact.domain, Interval) else -math.inf
    return replace(fact, domain=Interval(low if low >= 0 else -math.inf, math.inf))


def _is_of_rows(relation: Relation, name: str) -> bool:
    match relation:
        case Filter(source, _):
            return _keeps_end(relation, source, name) and _is_of_rows(source, name)
        case Join(_, left, right) | Union(left, right):
            sides = [side for side in (left, right) if name in facts_of(side)]
            return any(_keeps_end(relation, side, name) and _is_of_rows(side, name) for side in sides)
        case Project(source, columns):
            return any(clipped_by_rows(source, column.scalar) for column in columns if column.name == name)
        case Window(source, call) if name != call.name:
            return _is_of_rows(source, name)
        case Window(source, call):
            counts = call.function in _COUNTS and _is_open(source)
            return counts or any(clipped_by_rows(source, argument) for argument in call.arguments)
        case Aggregate(source, _, calls):
            mine = [call for call in calls if call.name == name]
            if any(call.function in _COUNTS for call in mine):
                return _is_open(source)
            return any(clipped_by_rows(source, call.argument) for call in mine if call.argument is not None)
        case _:
            return False


def _is_open(relation: Relation) -> bool:
    """Whether no key says how many rows a unit has at most."""
    owned = ownership_of(relation)
    return isinstance(owned, Owned) and owned.at_most is None


def _keeps_end(relation: Relation, source: Relation, name: str) -> bool:
    return share_an_end(facts_of(relation)[name].domain, facts_of(source)[name].domain)


def share_an_end(one: Domain, other: Domain) -> bool:
    """Whether two ranges have the end that a number of rows makes: the upper, or a lower one below 0."""
    if not isinstance(one, Interval) or not isinstance(other, Interval):
        return one == other
    return one.high == other.high or one.low == other.low < 0


def _is_guessed(relation: Relation, name: str) -> bool:
    match relation:
        case Scan(columns=scanned):
            return any(column.guessed for column in scanned if column.name == name)
        case Filter(source, _):
            return _is_guessed(source, name)
        case Window(source, call):
            if name != call.name:
                return _is_guessed(source, name)
            return call.function in _COUNTS or any(guessed(source, argument) for argument in call.arguments)
        case Project(source, columns):
            return any(guessed(source, column.scalar) for column in columns if column.name == name)
        case Aggregate(source, keys, calls):
            for aggregate in calls:
                if aggregate.name == name and aggregate.function in _COUNTS:
                    return True
            read = [key.scalar for key in keys if key.name == name]
            for aggregate in calls:
                if aggregate.name == name and aggregate.argument is not None:
                    read += [aggregate.argument, *aggregate.others]
            return any(guessed(source, scalar) for scalar in read)
        case Join(_, left, right) | Union(left, right):
            return any(name in facts_of(side) and _is_guessed(side, name) for side in (left, right))
        case _:
            return False


def narrowed_by_guess(relation: Relation, scalar: Scalar) -> bool:
    """Whether a condition below compares a column of the scalar with a guess: its range may be one, too."""
    return _is_narrowed(relation, refs(scalar))


def _is_narrowed(relation: Relation, names: frozenset[str]) -> bool:
    if not names:
        return False
    match relation:
        case Filter(source, condition):
            return _compared(source, condition, names) or _is_narrowed(source, names)
        case Window(source, call):
            read = _refs_of(call.arguments) if call.name in names else frozenset()
            return _is_narrowed(source, names - {call.name} | read)
        case Project(source, columns):
            return _is_narrowed(source, _refs_of(each.scalar for each in columns if each.name in names))
        case Aggregate(source, keys, calls):
            read = _refs_of(key.scalar for key in keys if key.name in names)
            for made in calls:
                if made.name in names and made.argument is not None:
                    read |= _refs_of((made.argument, *made.others))
            return _is_narrowed(source, read)
        case Join(_, left, right, condition):
            if condition is not None and _compared(relation, condition, names):
                return True
            return any(_is_narrowed(side, names & facts_of(side).keys()) for side in (left, right))
        case Union(left, right):
            return any(_is_narrowed(side, names) for side in (left, right))
        case _:
            return False


def _compared(relation: Relation, condition: Scalar, names: frozenset[str]) -> bool:
    return any(
        refs(part) & names and len(refs(part)) > 1 and _rests_on_guess(relation, part)
        for part in conjuncts(condition)
    )


def _rests_on_guess(relation: Relation, part: Scalar) -> bool:
    """Whether a condition reads a guess, or a column that one below narrowed by a guess."""
    sides = (relation.left, relation.right) if isinstance(relation, Join) else (relation,)
    below = (_is_narrowed(side, refs(part) & facts_of(side).keys()) for side in sides)
    return guessed(relation, part) or any(below)


def _refs_of(scalars: Iterable[Scalar]) -> frozenset[str]:
    """Return the names of all columns that these read."""
    return frozenset().union(*map(refs, scalars))

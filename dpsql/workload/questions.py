"""A measure of counts, or of sums of one argument -> its numbers, each as the conditions of a row.

    SELECT sex, COUNT(*), COUNT(*) FILTER (WHERE age < 20) FROM people WHERE smoker GROUP BY sex

    group F    sex = 'F'                      sex = 'F', age < 20          (smoker stays in the relation)
    group M    sex = 'M'                      sex = 'M', age < 20

Claim   a number is the count, or the sum of the argument, over the rows in which all its conditions are true,
        as the measure has them.
Proof   A row is in a group of listed keys if each key, of that grouping set, is not distinct from the listed
        value, and counts in a statistic where its condition is true and its argument is not NULL. To a sum, a
        row adds the clamped argument where the condition is true, and nothing where it is NULL. A key
        x // k, k > 0, is v where x is in one range: ``//`` cuts toward 0.
Test    tests/privacy/test_joint.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from dpsql.facts.schema import Facts, fact_of
from dpsql.functions.core.literals import number_literal
from dpsql.ir.column import VARCHAR, Kind, Value
from dpsql.ir.measure import Measure
from dpsql.ir.plan import PublicKeys
from dpsql.ir.relation import stage_inputs
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.ir.statistic import Part, Statistic
from dpsql.workload.added_value import added_value

_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE)
"""Kinds of keys: a listed value of another kind may be spelled in several ways."""


def adds_alike(measure: Measure) -> bool:
    """Whether a measure counts rows, each as one, or sums one argument, and does nothing else."""
    odd = measure.details or measure.running or measure.other or measure.fitted
    keys = all(measure.lists[place] is not None for place in _shown(measure))
    return (
        bool(measure.statistics)
        and added_value(measure.statistics) is not None
        and not odd
        and keys
        and measure.units is None
        and all(len(finish.statistics) == 1 and finish.line is None for finish in measure.finishes)
        and not any(stage_inputs(measure.relation))
    )


def numbers_of(measure: Measure, listed: PublicKeys, facts: Facts) -> list[tuple[Scalar, ...]] | None:
    """Return the conditions of each statistic of each listed group, group by group; None if a key is odd."""
    keys = [_own_key(measure, place) for place in range(len(measure.keys))]
    if any(fact_of(keys[place], facts).type.kind not in _KINDS for place in _shown(measure)):
        return None
    of_statistics = [tuple(_conditions(statistic)) for statistic in measure.statistics]
    sets = dict(listed.sets)
    conditions = cache(lambda place, value: _is(keys[place], value, facts))  # many groups share each
    numbers = []
    for group in listed.groups():
        places = _positions(group, sets) if sets else range(len(keys))
        on_keys = tuple(conditions(place, group[place]) for place in places)
        numbers += [(*on_keys, *of_statistic) for of_statistic in of_statistics]
    return numbers


def _positions(group: tuple[Value, ...], sets: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    number = group[0]
    assert isinstance(number, int)
    return sets[number]


def _shown(measure: Measure) -> range:
    """Return the places of the keys; the number of the grouping set is none of them."""
    return range(1 if measure.sets else 0, len(measure.keys))


def _own_key(measure: Measure, place: int) -> Scalar:
    """Return a key as it is in the grouping sets that have it."""
    scalar = measure.keys[place].scalar
    match scalar:
        case Call("case", (Call("in", (Ref() as number, *_)), own)) if number == measure.keys[0].scalar:
            return own if measure.sets else scalar
        case _:
            return scalar


def _conditions(statistic: Statistic) -> Iterator[Scalar]:
    if statistic.condition is not None:
        yield statistic.condition
    if statistic.argument is not None and statistic.part is Part.ROWS:
        yield Call("is_not_null", (statistic.argument,))


def _is(key: Scalar, value: Value, facts: Facts) -> Scalar:
    """Return the condition that a key is a listed value, or NULL."""
    if value is None:
        return Call("is_null", (key,))
    of_type = fact_of(key, facts).type
    own = VARCHAR if of_type.kind is Kind.TEXT else of_type
    match key:
        case Call("//", (Ref() as divided, Literal(value=int() as by))) if by > 0 and isinstance(value, int):
            low = value * by - (by - 1 if value <= 0 else 0)
            high = value * by + (by - 1 if value >= 0 else 0)
            return _between(divided, low, high, facts) or Call("=", (key, Literal(value, own)))
        case _:
            return Call("=", (key, Literal(value, own)))


def _between(scalar: Scalar, low: int, high: int, facts: Facts) -> Scalar | None:
    """Return the condition that a whole number is in a range; None where it is no whole number."""
    of_type = fact_of(scalar, facts).type
    if of_type.kind is not Kind.INTEGER:
        return None
    return Call("between", (scalar, number_literal(str(low)), number_literal(str(high))))

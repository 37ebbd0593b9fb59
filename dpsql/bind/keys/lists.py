"""The values that a group key can have, where they follow from declarations alone.

    age // 10                     0 to 12          age is declared in [0, 120]
    date_trunc('month', seen_at)  72 months        its values over all declared days
    floor(income / 100000)        0.0 to 5.0       whole numbers in a finite range
    age                           0 to 120         used while the groups of all keys are few
    upper(city)                   two texts        WHERE upper(city) IN ('OSLO', 'BERGEN')
    city                          no list          a private key

The sealed engine computes an expression over all combinations of the values of its atoms. The list has no
values of rows outside of their declarations; such a row is in no group. The count of a unit's rows is not
declared: ``rows_per_unit`` is a guess, so an expression of it is a private key.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from dpsql.bind.keys.atoms import (
    MOST_COMBINATIONS,
    MOST_VALUES,
    Cut,
    Cutter,
    conditions_over,
    definition_of,
    query_over,
)
from dpsql.bind.keys.public_rows import Met
from dpsql.bind.keys.public_values import rows_of
from dpsql.bind.scope.public_facts import Evaluate
from dpsql.facts.conditions_met import fact_where_met
from dpsql.facts.public_origin import public_origin
from dpsql.facts.row_guesses import guessed, narrowed_by_guess
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import as_own
from dpsql.functions.core.ranges import ordinal
from dpsql.ir.column import DATE, Categories, Fact, Interval, Kind, Listed, Type, Value, unique
from dpsql.ir.measure import KeyList, PublicColumn
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
"""The day from which DATEs count, in Python's count."""

_WHOLE = (Kind.INTEGER, Kind.DATE)

_RANGED = (*_WHOLE, Kind.DECIMAL, Kind.FLOAT, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)

_CONSECUTIVE = frozenset(
    "// length date_diff year quarter month week isoyear isodow dayofweek dayofyear day hour minute".split()
)
"""Functions whose values are all whole numbers between two of them."""

_SHIFTING = frozenset("+ - negate cast coalesce greatest least".split())
"""Functions that keep that of their arguments."""

_WITHIN_DAYS = ("hour", "minute", "second", "millisecond", "microsecond")
"""Periods that are not whole days."""


def key_lists(
    relation: Relation, keys: Sequence[Scalar], met: Sequence[Met], evaluate: Evaluate
) -> tuple[KeyList | None, ...]:
    """Return the lists of all keys; those of one public row are marked (``public_origin``).

    Of columns of public rows that have ``met`` conditions, it is the values there.
    """
    scans: dict[int, int] = {}
    lists: list[KeyList | None] = []
    for key in keys:
        listed, origin = enumerate_key(relation, key, evaluate), public_origin(relation, key)
        if listed is not None and origin is not None:
            number = scans.setdefault(id(origin.scan), len(scans))
            held = PublicColumn(number, origin.scan.table, origin.column, origin.missing)
            listed = replace(listed, scan=held)
        lists.append(listed)
    for each in met:
        for column, place in enumerate(each.places):
            own_type = fact_of(keys[place], facts_of(relation)).type
            lists[place] = _among(lists[place], [row[column] for row in each.rows], own_type)
    return tuple(lists)


def _among(listed: KeyList | None, values: Sequence[Value], own_type: Type) -> KeyList | None:
    """Return a list of a public column, of which only these values meet the conditions."""
    if listed is None:
        return None
    present = tuple(value for value in values if value is not None)
    if not isinstance(listed.domain, Categories):
        listed = replace(listed, domain=Categories(unique(present)))
    return replace(_left_of(listed, frozenset(values), own_type), scan=None)


def _left_of(listed: KeyList, met: frozenset[Value], own_type: Type) -> KeyList:
    """Return a list of constants with those of its values that are among these, and NULL if it is."""
    assert isinstance(listed.domain, Categories)
    left = tuple(value for value in listed.domain.values if as_own(value, own_type) in met)
    return replace(listed, domain=Categories(left), null=listed.null and None in met)


def enumerate_key(relation: Relation, scalar: Scalar, evaluate: Evaluate) -> KeyList | None:
    """Return the list of values of a key over this relation, or None for a private key."""
    listed = _enumerated(relation, scalar, evaluate)
    if listed is None or not isinstance(listed.domain, Categories) or narrowed_by_guess(relation, scalar):
        return listed
    met = _where_met(relation, scalar, listed, evaluate)
    return listed if met is None else _left_of(listed, met, fact_of(scalar, facts_of(relation)).type)


def _where_met(
    relation: Relation, scalar: Scalar, listed: KeyList, evaluate: Evaluate
) -> frozenset[Value] | None:
    """Return the values of a listed key where the conditions hold that read the same columns alone.

    None where no condition says more than the list does already.

    WHERE year(seen) = 2024 GROUP BY date_trunc('month', seen)      WHERE town LIKE 'B%' GROUP BY town
    """
    cutter = Cutter(count(), least=True)
    cut = cutter.cut(relation, scalar)
    if cut is None:
        return None
    over = conditions_over(relation, cutter, cut.atoms)
    conditions = [each for each in over if not _narrowed_it(each.scalar, cut.scalar, listed)]
    query = query_over([cut], conditions) if conditions else None
    if query is None:
        return None
    sql, tables = query
    rows = rows_of(sql, [fact_of(scalar, facts_of(relation)).type], MOST_COMBINATIONS, evaluate, tables)
    return None if rows is None else frozenset(value for (value,) in rows)


def _narrowed_it(condition: Scalar, key: Scalar, listed: KeyList) -> bool:
    """Whether a condition that compares the key with constants has narrowed its list already."""
    match condition:
        case Call("=" | "in", (first, *others)) if first == key:
            return all(isinstance(other, Literal) for other in others)
        case Call("<" | "<=" | ">" | ">=" | "between", (first, *others)) if first == key:
            return listed.of_range and all(isinstance(other, Literal) for other in others)
        case _:
            return False


def _enumerated(relation: Relation, scalar: Scalar, evaluate: Evaluate) -> KeyList | None:
    """Return the list by declarations, and by conditions on the key itself."""
    fact = fact_where_met(relation, scalar)
    if isinstance(fact.domain, Categories | Listed):
        return KeyList(fact.domain, fact.nullable)
    if narrowed_by_guess(relation, scalar):
        return None
    computed = definition_of(relation, scalar)
    cut = None if isinstance(computed[1], Ref) else Cutter(count()).cut(*computed)
    image = None if cut is None else _image(cut, fact.type, evaluate)
    if image is None and (periods := _periods(computed[1], fact)) is not None:
        image = _image(periods, fact.type, evaluate)
    if image is not None:
        domain = image.domain if guessed(relation, scalar) else _within(image.domain, fact)
        return KeyList(domain, image.null and fact.nullable)
    if not _is_consecutive(computed[1]):  # within a condition's range, most numbers are no value
        fact = fact_of(computed[1], facts_of(computed[0]))
    return None if guessed(relation, scalar) else _of_range(fact)


def _image(cut: Cut, type: Type, evaluate: Evaluate) -> KeyList | None:
    """Return the values of an expression over all combinations of its atoms, or None."""
    query = query_over([cut])
    if query is None:
        return None
    sql, tables = query
    rows = rows_of(sql, [type], MOST_VALUES, evaluate, tables)
    if rows is None:
        return None
    values = tuple(value for (value,) in rows if value is not None)
    return KeyList(Categories(unique(values)), len(values) < len(rows))


def _is_consecutive(scalar: Scalar) -> bool:
    """Whether all whole numbers between two values of an expression may be values too."""
    if not isinstance(scalar, Call):
        return True
    return scalar.function in _CONSECUTIVE or (
        scalar.function in _SHIFTING and all(map(_is_consecutive, scalar.arguments))
    )


def _within(values: Categories | Listed, fact: Fact) -> Categories | Listed:
    """Return the values that are in the range of a key, which conditions may have narrowed."""
    ends = fact.domain
    if not isinstance(ends, Interval) or not isinstance(values, Categories) or fact.type.kind not in _RANGED:
        return values
    return Categories(tuple(value for value in values.values if ends.low <= ordinal(value) <= ends.high))


def _of_range(fact: Fact) -> KeyList | None:
    """Return the whole numbers or days of a finite range, if they are few."""
    domain = fact.domain
    if not isinstance(domain, Interval) or not domain.finite or fact.type.kind not in _WHOLE:
        return None
    low, high = math.ceil(domain.low), math.floor(domain.high)
    if not 0 <= high - low < MOST_VALUES:
        return None
    values: tuple[Value, ...] = tuple(range(low, high + 1))
    if fact.type.kind is Kind.DATE:
        if not 1 <= low + _FIRST_DAY <= high + _FIRST_DAY <= datetime.date.max.toordinal():
            return None
        values = tuple(datetime.date.fromordinal(day + _FIRST_DAY) for day in range(low, high + 1))
    return KeyList(Categories(values), fact.nullable, of_range=True)


def _periods(scalar: Scalar, fact: Fact) -> Cut | None:
    """Return the truncation of all days in the range of a truncated date, whose own range may be unknown."""
    match scalar:
        case Call("date_trunc", (Literal(value=period) as unit, _), type) if period not in _WITHIN_DAYS:
            cutter, day = Cutter(count()), Ref("day")
            part = cutter.dates(day, fact) if fact.type == DATE else cutter.midnights(day, fact)
            return part and replace(part, scalar=Call("date_trunc", (unit, part.scalar), type))
        case _:
            return None

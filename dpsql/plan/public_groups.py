"""The groups of a measure's public keys, listed: the policy's values, and those of public tables."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from dpsql.facts.public_keys import Public
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import Categories, Column, Listed, Type, Value, unique
from dpsql.ir.measure import KeyList, Measure
from dpsql.ir.plan import PublicKeys

Values = Callable[[str, str], tuple[Value, ...]]
"""Function (table, column) -> distinct values of a column of a public table."""


def key_columns(measure: Measure) -> tuple[Column, ...]:
    facts = facts_of(measure.relation)
    return tuple(Column(key.name, fact_of(key.scalar, facts)) for key in measure.keys)


def listed_groups(measure: Measure, public: Public, values: Values) -> PublicKeys:
    """List the values of every key of a public group."""
    used = (
        {i for _, positions in public.sets for i in positions}
        if measure.sets
        else set(range(len(measure.keys)))
    )
    domains = [
        _values(key_list, column.fact.type, values) if key_list is not None and i in used else ()
        for i, (key_list, column) in enumerate(zip(public.lists, key_columns(measure), strict=True))
    ]
    return PublicKeys(tuple(domains), public.sets)


def sizes_of(listed: PublicKeys, sets: int) -> list[int | None]:
    """Return the number of groups of each grouping set (or the only one); None where they are not listed."""
    if not listed.sets:
        return [prod(map(len, listed.domains))]
    numbers = dict(listed.sets)
    return [
        prod(len(listed.domains[i]) for i in numbers[number]) if number in numbers else None
        for number in range(sets)
    ]


def _values(key_list: KeyList, type: Type, values: Values) -> tuple[Value, ...]:
    match key_list.domain:
        case Categories(members):
            candidates: tuple[Value, ...] = members
        case Listed(table, column):
            candidates = values(table, column)
    present = unique(tuple(literal for value in candidates if (literal := as_own(value, type)) is not None))
    return (*present, None) if key_list.null else present

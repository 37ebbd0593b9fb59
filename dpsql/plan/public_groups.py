"""The groups of a measure's public keys, listed: the policy's values, and those of public tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from dpsql.facts.public_keys import Public
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import Categories, Column, Listed, Type, Value, unique
from dpsql.ir.measure import KeyList, KeyPairs, Measure, PublicColumn
from dpsql.ir.plan import PublicKeys

Combinations = Callable[[str, tuple[str, ...]], tuple[tuple[Value, ...], ...]]
"""Function (table, columns) -> distinct rows of these columns of a public table."""


def key_columns(measure: Measure) -> tuple[Column, ...]:
    facts = facts_of(measure.relation)
    return tuple(Column(key.name, fact_of(key.scalar, facts)) for key in measure.keys)


def listed_groups(measure: Measure, public: Public, combinations: Combinations) -> PublicKeys:
    """List the values of every key of a public group.

    Of keys of one public row, and of keys that conditions compare, list the combinations that there are.
    """
    types = tuple(column.fact.type for column in key_columns(measure))
    sets = public.sets or ((0, tuple(range(len(types)))),)
    used = frozenset(i for _, positions in sets for i in positions)
    return _listed(public.lists, measure.pairs, public.sets, used, types, combinations)


@lru_cache(maxsize=4)  # a plan lists the same groups several times
def _listed(
    lists: tuple[KeyList | None, ...],
    pairs: tuple[KeyPairs, ...],
    sets: tuple[tuple[int, tuple[int, ...]], ...],
    used: frozenset[int],
    types: tuple[Type, ...],
    combinations: Combinations,
) -> PublicKeys:
    domains = [
        _values(key_list, types[i], combinations) if key_list is not None and i in used else ()
        for i, key_list in enumerate(lists)
    ]
    tied = []
    for places, scans in _of_one_row(lists, used):
        values = [frozenset(domains[i]) for i in places]
        rows = combinations(scans[0].table, tuple(scan.column for scan in scans))
        own = [_own(row, [types[i] for i in places], values) for row in rows]
        kept = [row for row in own if row is not None]
        if any(scan.missing for scan in scans) and all(None in listed for listed in values):
            kept.append((None,) * len(places))
        tied.append((places, tuple(dict.fromkeys(kept))))
    tied_places = {place for places, _ in tied for place in places}
    for pair in pairs:
        if tied_places.isdisjoint(pair.places) and used.issuperset(pair.places):
            on_lists = [frozenset(domains[i]) for i in pair.places]
            left = (row for row in pair.rows if all(v in on for v, on in zip(row, on_lists, strict=True)))
            tied.append((pair.places, tuple(left)))
    return PublicKeys(tuple(domains), sets, tuple(tied))


def sizes_of(listed: PublicKeys, sets: int) -> list[int | None]:
    """Return the number of groups of each grouping set (or the only one); None where they are not listed."""
    sizes = listed.sizes()
    return [sizes.get(number) for number in range(sets)]


def _of_one_row(
    lists: Sequence[KeyList | None], used: frozenset[int]
) -> list[tuple[tuple[int, ...], list[PublicColumn]]]:
    """Return the positions and columns of keys that come from one public row, where there are several."""
    places: dict[int, list[tuple[int, PublicColumn]]] = {}
    for i, key_list in enumerate(lists):
        if i in used and key_list is not None and key_list.scan is not None:
            places.setdefault(key_list.scan.number, []).append((i, key_list.scan))
    return [
        (tuple(i for i, _ in together), [scan for _, scan in together])
        for together in places.values()
        if len(together) > 1
    ]


def _own(
    row: tuple[Value, ...], types: list[Type], lists: list[frozenset[Value]]
) -> tuple[Value, ...] | None:
    """Return a row with values of the keys' own types; None if one of them is not on its key's list."""
    own = tuple(
        value if value is None else as_own(value, own_type)
        for value, own_type in zip(row, types, strict=True)
    )
    kept = all(
        value in listed and (value is None) == (before is None)
        for value, before, listed in zip(own, row, lists, strict=True)
    )
    return own if kept else None


def _values(key_list: KeyList, own_type: Type, combinations: Combinations) -> tuple[Value, ...]:
    null = key_list.null
    match key_list.domain:
        case Categories(members):
            candidates: tuple[Value, ...] = members
        case Listed(table, column):
            found = combinations(table, (column,))
            candidates = tuple(value for (value,) in found if value is not None)
            if key_list.scan is not None and not key_list.scan.missing:  # a column of a row of the table
                null = null and len(candidates) < len(found)
    texts = all(type(value) is str for value in candidates)  # which are equal only if they are the same
    present = (_present if texts else _present.__wrapped__)(candidates, own_type)
    return (*present, None) if null else present


@lru_cache(maxsize=16)  # plans of other queries list the same texts
def _present(candidates: tuple[Value, ...], own_type: Type) -> tuple[Value, ...]:
    literals = (as_own(value, own_type) for value in candidates)
    return unique(tuple(literal for literal in literals if literal is not None))

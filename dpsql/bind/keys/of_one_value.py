"""Combinations of keys that are computed from the same values.

    GROUP BY age // 10, age >= 18                      14 pairs, not 26: nobody of 40 is a minor
    GROUP BY year(day), date_trunc('quarter', day)     a quarter is of one year
    GROUP BY ward, lower(ward)

Claim   a combination that is left out has no row that keeps to its declarations.
Proof   Each key of a row is a function of the row's values of the key's atoms (atoms.py), and atoms of
        two keys that are the same expression have the same value there. All combinations of the values of
        all atoms are tried. A row with another value of an atom does not keep to its declaration: it is in
        no group, as one whose key is in no list is, and nothing is told by that.
Test    grammar_tests/keys/of_one_value.sql, tests/unit/test_keys_of_one_value.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from dpsql.bind.keys.atoms import (
    MOST_COMBINATIONS,
    Cut,
    Cutter,
    atoms_of,
    combinations,
    conditions_over,
    definition_of,
    query_over,
)
from dpsql.bind.keys.public_values import rows_of
from dpsql.bind.scope.public_facts import Evaluate
from dpsql.ir.column import Categories, Type, Value
from dpsql.ir.measure import KeyList, KeyPairs
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Scalar

MOST_TOGETHER = 10_000
"""The most combinations that are listed."""


def keys_of_one_value(
    relation: Relation,
    keys: Mapping[int, Scalar],
    types: Mapping[int, Type],
    lists: Sequence[KeyList | None],
    evaluate: Evaluate,
) -> list[KeyPairs]:
    """Return the combinations of the keys at these places, of those that share an atom."""
    cutter = Cutter(count(), least=True)
    found = ((place, cutter.cut(*definition_of(relation, key))) for place, key in keys.items())
    cuts = {place: cut for place, cut in found if cut is not None and cut.atoms}
    pairs = (
        _tried(relation, cutter, {place: cuts[place] for place in places}, types, lists, evaluate)
        for places in _sharing(cuts)
    )
    return [each for each in pairs if each is not None]


def _sharing(cuts: Mapping[int, Cut]) -> list[tuple[int, ...]]:
    """Return the places of keys that share atoms, directly or by way of others."""
    groups: list[tuple[frozenset[int], frozenset[Scalar]]] = []
    for place, cut in cuts.items():
        places, atoms = frozenset((place,)), frozenset(cut.atoms)
        for others in [each for each in groups if each[1] & atoms]:
            groups.remove(others)
            places, atoms = places | others[0], atoms | others[1]
        groups.append((places, atoms))
    return [tuple(sorted(places)) for places, _ in groups if len(places) > 1]


def _tried(
    relation: Relation,
    cutter: Cutter,
    cuts: Mapping[int, Cut],
    types: Mapping[int, Type],
    lists: Sequence[KeyList | None],
    evaluate: Evaluate,
) -> KeyPairs | None:
    """Return the combinations of the keys over all values of their atoms; None if there are too many."""
    places, asked = tuple(cuts), [*cuts.values()]
    atoms = atoms_of(asked)
    if combinations(atoms) > MOST_COMBINATIONS:
        return None
    query = query_over(asked, conditions_over(relation, cutter, atoms))
    if query is None or query[1]:
        return None
    rows = rows_of(query[0], [types[place] for place in places], MOST_TOGETHER, evaluate)
    if rows is None:
        return None
    values = [_listed(lists[place]) for place in places]
    kept = (row for row in rows if all(value in among for value, among in zip(row, values, strict=True)))
    return KeyPairs(places, tuple(dict.fromkeys(kept)))


def _listed(key_list: KeyList | None) -> frozenset[Value]:
    assert key_list is not None
    assert isinstance(key_list.domain, Categories)
    return frozenset((*key_list.domain.values, *([None] if key_list.null else ())))

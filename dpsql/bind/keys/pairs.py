"""Combinations of public keys: those that conditions leave, those of listed rows, and those of one value.

    SELECT cohort, week, COUNT(*) FROM ... WHERE week >= cohort GROUP BY cohort, week

    cohort and week of 1 to 4      10 pairs, not 16: no row has a week before its cohort

    ... JOIN (SELECT DISTINCT part, supplier FROM offers WHERE ...) AS o ON ... GROUP BY o.part, o.supplier

Claim   a combination that is left out has no row.
Proof   A condition on keys alone is a function of their values, and every row of a filter or of an inner join
        satisfies its condition. What keeps rows as they are or drops some (filters, renamings, inner joins,
        windows, grouping by the keys) keeps that. Keys that are columns of one list of rows, which occurs
        once in the relation, have in each row the values of one row of that list. What is listed depends on
        the query, on public rows and on declarations alone, so if the claim were wrong, those rows would be
        in no group: nothing would be told by it.
Test    grammar_tests/keys/excluded_pairs.sql, tests/unit/test_key_pairs.py, test_narrowed_keys.py

The sealed engine tries the conditions, printed as for private rows, on all combinations of the keys' values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from dpsql.bind.keys.of_one_value import keys_of_one_value
from dpsql.bind.keys.public_rows import Met
from dpsql.bind.keys.public_values import python_key, rows_of, values_sql
from dpsql.bind.scope.public_facts import Evaluate
from dpsql.errors import Error
from dpsql.facts.conditions_met import Keys, conditions_on, name_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import literal_sql
from dpsql.functions.core.printing import sql_of
from dpsql.ir.column import Categories, Fact, Kind, Type, Value
from dpsql.ir.measure import KeyList, KeyPairs
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Project,
    Relation,
    Window,
)
from dpsql.ir.scalar import Literal, Ref, Scalar, refs

MOST_TRIED = 100_000
"""The most combinations that conditions are tried on."""

MOST_PRINTED = 2_000
"""The most rows that are printed as constants for that."""


def key_pairs(
    relation: Relation,
    keys: Sequence[Scalar],
    lists: Sequence[KeyList | None],
    met: Sequence[Met],
    evaluate: Evaluate,
) -> tuple[KeyPairs, ...]:
    """Return the combinations that conditions leave of keys with lists of values."""
    listed = {
        i: key
        for i, (key, key_list) in enumerate(zip(keys, lists, strict=True))
        if key_list is not None and isinstance(key_list.domain, Categories) and refs(key)
    }
    if len(listed) < 2:
        return ()
    facts = facts_of(relation)
    key_facts = {name_of(i): Fact(fact_of(key, facts).type) for i, key in listed.items()}
    rows = _of_listed_rows(relation, listed, key_facts)
    rows += [pairs for each in met if (pairs := _of_public_rows(each, listed)) is not None]
    held = {place for each in rows for place in each.places}
    others = {i: key for i, key in listed.items() if i not in held}
    types = {i: key_facts[name_of(i)].type for i in others}
    rows += keys_of_one_value(relation, others, types, lists, evaluate)
    in_rows = [frozenset(map(name_of, each.places)) for each in rows]
    alone = frozenset().union(*in_rows)  # a condition on one of these leaves fewer rows
    conditions = [
        each for each in conditions_on(relation, listed) if len(refs(each)) > 1 or refs(each) & alone
    ]
    found: list[KeyPairs] = []
    for names, together in _components(conditions, in_rows):
        places = tuple(i for i in sorted(listed) if name_of(i) in names)
        own = [each for each in rows if name_of(each.places[0]) in names]
        pairs = _tried(places, together, key_facts, lists, own, evaluate) if together else None
        found += own if pairs is None else [pairs]
    return tuple(found)


def _of_public_rows(met: Met, keys: Keys) -> KeyPairs | None:
    """Return the combinations of the keys with lists that are columns of one public table's rows."""
    columns = [column for column, place in enumerate(met.places) if place in keys]
    if len(columns) < 2:
        return None
    rows = (tuple(row[column] for column in columns) for row in met.rows)
    return KeyPairs(tuple(met.places[column] for column in columns), tuple(dict.fromkeys(rows)))


def _of_listed_rows(relation: Relation, keys: Keys, facts: Mapping[str, Fact]) -> list[KeyPairs]:
    """Return the combinations of keys that are columns of one list of rows."""
    held: dict[int, tuple[Materialized, dict[int, int]]] = {}
    for place, key in keys.items():
        column = _listed_column(relation, key.name) if isinstance(key, Ref) else None
        if column is not None:
            held.setdefault(id(column[0]), (column[0], {}))[1][place] = column[1]
    found = []
    for rows, columns in held.values():
        if len(columns) < 2:
            continue
        values = [
            _own([row[i] for row in rows.rows], facts[name_of(place)].type) for place, i in columns.items()
        ]
        found.append(KeyPairs(tuple(columns), tuple(dict.fromkeys(zip(*values, strict=True)))))
    return found


def _own(values: list[Value], type: Type) -> list[Value]:
    """Return values as those of group keys."""
    own = {value: python_key(value, type) for value in dict.fromkeys(values)}
    return [own[value] for value in values]


def _listed_column(relation: Relation, name: str) -> tuple[Materialized, int] | None:
    """Return the list of rows, and the place there, of which a column of the relation has the values."""
    match relation:
        case Materialized(columns=columns):
            place = next((i for i, column in enumerate(columns) if column.name == name), None)
            return None if place is None else (relation, place)
        case Filter(source, _):
            return _listed_column(source, name)
        case Window(source, call):
            return None if name == call.name else _listed_column(source, name)
        case Project(source, columns) | Aggregate(source, columns):
            named = next((column.scalar for column in columns if column.name == name), None)
            return _listed_column(source, named.name) if isinstance(named, Ref) else None
        case Join(JoinKind.INNER, left, right):
            return _listed_column(left if name in facts_of(left) else right, name)
        case _:
            return None


def _components(
    conditions: Sequence[Scalar], in_rows: Sequence[frozenset[str]]
) -> list[tuple[frozenset[str], list[Scalar]]]:
    """Return the conditions with the names that they and lists of rows connect, each name once."""
    found: list[tuple[frozenset[str], list[Scalar]]] = [(names, []) for names in in_rows]
    for condition in conditions:
        names, together = frozenset(refs(condition)), [condition]
        for others, more in [each for each in found if each[0] & names]:
            found.remove((others, more))
            names, together = names | others, more + together
        found.append((names, together))
    return found


def _tried(
    places: tuple[int, ...],
    conditions: list[Scalar],
    facts: Mapping[str, Fact],
    lists: Sequence[KeyList | None],
    rows: Sequence[KeyPairs],
    evaluate: Evaluate,
) -> KeyPairs | None:
    """Return the combinations that satisfy the conditions, or None where they cannot be tried.

    Keys of listed ``rows`` have the combinations of these, all others their own values.
    """
    sources, sizes = [], []
    for each in rows:
        sizes.append(len(each.rows))
        sources.append(_rows_sql(each, facts))
    for place in places:
        if any(place in each.places for each in rows):
            continue
        key_list, kind = lists[place], facts[name_of(place)].type
        assert key_list is not None
        assert isinstance(key_list.domain, Categories)
        sizes.append(len(key_list.domain.values) + key_list.null)
        sql = values_sql(_of_both_signs(key_list.domain.values, kind), kind)
        sql += f" UNION ALL SELECT CAST(NULL AS {kind.sql})" if key_list.null else ""
        sources.append(f"({sql}) AS s{name_of(place)}({name_of(place)})")
    if prod(sizes) > MOST_TRIED or any(len(each.rows) > MOST_PRINTED for each in rows):
        return None
    listed = ", ".join(name_of(place) for place in places)
    try:
        tests = " AND ".join(sql_of(condition, facts.__getitem__, str) for condition in conditions)
    except Error:
        return None
    types = [facts[name_of(place)].type for place in places]
    tried = rows_of(f"SELECT {listed} FROM {', '.join(sources)} WHERE {tests}", types, MOST_TRIED, evaluate)
    return None if tried is None else KeyPairs(places, tuple(dict.fromkeys(tried)))


def _of_both_signs(values: Sequence[Value], kind: Type) -> tuple[Value, ...]:
    """Return values with 0 as -0 too: one group, but a condition may tell them apart."""
    zero = kind.kind is Kind.FLOAT and 0.0 in values
    return (*values, -0.0) if zero else tuple(values)


def _rows_sql(rows: KeyPairs, facts: Mapping[str, Fact]) -> str:
    """Print listed rows as a source."""
    types = [facts[name_of(place)].type for place in rows.places]
    both = [
        signed
        for row in rows.rows
        for signed in product(
            *(_of_both_signs((value,), kind) for value, kind in zip(row, types, strict=True))
        )
    ]
    listed = ", ".join(
        f"({', '.join(literal_sql(Literal(value, kind)) for value, kind in zip(row, types, strict=True))})"
        for row in both
    )
    names = ", ".join(map(name_of, rows.places))
    source = f"SELECT * FROM (VALUES {listed})"
    if not rows.rows:
        source = f"SELECT {', '.join(f'CAST(NULL AS {kind.sql})' for kind in types)} WHERE false"
    return f"({source}) AS r{rows.places[0]}({names})"

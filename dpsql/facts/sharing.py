"""How many rows of a public relation share one value of some of its columns.

    place_tags, by place_id    3      (1, 'night'), (1, 'parking'), (1, 'night')

Claim   of one row of the other side, a join on these columns makes at most that many rows.
Proof   The columns are those that ``=`` makes equal to values of that row or to constants, in a type in which
        such a value is equal to one value of the column at most (``ownership.equal_columns``); NULL is equal
        to nothing. So all rows that match have the same values there, and no NULL. Filters of the public side
        drop rows, projections rename them.
Test    grammar_tests/joins/fan_out.sql, tests/unit/test_sharing.py

The rows are counted when the query is bound, from the public table alone. Every later read checks that the
data is still of that version (D602): a table that grew in between is not joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from weakref import WeakKeyDictionary

from dpsql.ir.column import Kind
from dpsql.ir.relation import Filter, Materialized, Project, Relation, Scan
from dpsql.ir.scalar import Ref

Count = Callable[[str, tuple[str, ...]], int | None]
"""(public table, columns) -> the most rows that share their values, none of them NULL; None if unknown."""

_COUNTED: WeakKeyDictionary[Materialized, dict[tuple[int, ...], int]] = WeakKeyDictionary()

_KINDS = (Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
"""Kinds whose values are equal in Python where they are in DuckDB."""


def most_sharing(relation: Relation, names: frozenset[str]) -> int | None:
    """Return the most rows of a public relation with one value of these columns; None if unknown."""
    match relation:
        case Scan(most=counted):
            return min((rows for columns, rows in counted if columns <= names), default=None)
        case Materialized(columns=columns, keys=keys):
            places = tuple(
                i
                for i, column in enumerate(columns)
                if column.name in names and column.fact.type.kind in _KINDS
            )
            compared = {columns[i].name for i in places}
            if any(compared.issuperset(key) for key in keys):
                return 1
            return _counted(relation, places) if places else None
        case Filter(source, _):
            return most_sharing(source, names)
        case Project(source, listed):
            below = (each.scalar for each in listed if each.name in names)
            return most_sharing(source, frozenset(each.name for each in below if isinstance(each, Ref)))
        case _:
            return None


def _counted(relation: Materialized, places: tuple[int, ...]) -> int:
    counted = _COUNTED.setdefault(relation, {})
    if places not in counted:
        values = (tuple(row[i] for i in places) for row in relation.rows)
        counted[places] = max(Counter(value for value in values if None not in value).values(), default=0)
    return counted[places]


def with_counts(relation: Relation, names: frozenset[str], count: Count) -> Relation:
    """Return the relation with the rows counted that share these columns of its table."""
    match relation:
        case Scan(table=table, columns=columns, owner=None):
            named = {
                column.name: column.source
                for column in columns
                if column.name in names and column.fact.type.kind in _KINDS
            }
            rows = count(table, tuple(named.values())) if named else None
            return relation if rows is None else replace(relation, most=((frozenset(named), rows),))
        case Filter(source, _):
            return replace(relation, input=with_counts(source, names, count))
        case Project(source, listed):
            below = (each.scalar for each in listed if each.name in names)
            inside = frozenset(each.name for each in below if isinstance(each, Ref))
            return replace(relation, input=with_counts(source, inside, count))
        case _:
            return relation

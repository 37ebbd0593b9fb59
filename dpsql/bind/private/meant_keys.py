"""Whether what equals a key that tells the unit is of the same unit, as far as declarations and names say.

    orders o JOIN refunds r ON o.id = r.order_id              by its name
    accounts a JOIN transfers t ON a.id = t.to_account        refused: it is another person's

The equality of the units is added to either join (joins.py), so no pair of two units is ever joined. Of the
second one nearly nothing would be left, and the answer would be sure of it.

Claim   only whether a query is answered rests on these names.
Proof   ``on_the_unit`` alone asks: where it says no, the query is refused, or asked in another way.
Test    tests/unit/test_ties.py
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.facts.ownership import Owned
from dpsql.facts.schema import facts_of
from dpsql.facts.ties import stored
from dpsql.facts.types import types_of
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Scan, Union, Window
from dpsql.ir.scalar import Call, Ref, Scalar, refs
from dpsql.render.english import singular


def is_meant(
    key: frozenset[str], side: Relation, parts: list[Scalar], opposite: Relation, other: Owned
) -> bool:
    """Whether conditions make a side's key equal to what is declared to tell the unit, or has its name."""
    equal = [
        (column.name, value)
        for part in parts
        if isinstance(part, Call) and part.function == "="
        for column, value in (part.arguments, part.arguments[::-1])
        if isinstance(column, Ref) and column.name in key and not refs(value) & facts_of(side).keys()
    ]
    names = frozenset(value.name for _, value in equal if isinstance(value, Ref))
    if any(theirs <= names for theirs in other.keys) and (_tells(side, key) or _tells(opposite, names)):
        return True
    alike = {
        column
        for column, value in equal  # a constant fixes a part of a key
        if all(_named_alike(side, column, opposite, far) for far in refs(value))
    }
    return alike == key and any(refs(value) for _, value in equal)


def _tells(relation: Relation, names: frozenset[str]) -> bool:
    """Whether the policy says of one of these columns that it tells the unit."""
    columns = [column for name in names if (column := stored(relation, name)) is not None]
    return any(
        each.column in {column.source for column in each.scan.columns if column.name in each.scan.tied}
        for each in columns
    )


def _named_alike(relation: Relation, name: str, other: Relation, far: str) -> bool:
    """Whether columns of two relations seem to hold the same: by a key, or as order_id and orders.id."""
    one, two = stored(relation, name), stored(other, far)
    if one is not None and two is not None and one.keys.items() & two.keys.items():
        return True
    return bool(_called(relation, name) & _called(other, far))


def _called(relation: Relation, name: str) -> set[str]:
    """Return the names that others may have for a column, or for those that it is computed from."""
    match relation:
        case Scan(table, columns):
            source = next((column.source for column in columns if column.name == name), None)
            return set() if source is None else _names(table, source)
        case Filter(source, _):
            return _called(source, name)
        case Window(source, call):
            return _called_each(source, call.arguments[:1]) if name == call.name else _called(source, name)
        case Project(source, columns):
            return _called_each(source, (each.scalar for each in columns if each.name == name))
        case Aggregate(source, keys, calls):
            made = (each.argument for each in calls if each.name == name and each.argument is not None)
            return _called_each(source, (*(each.scalar for each in keys if each.name == name), *made))
        case Join(_, left, right):
            return _called(left if name in types_of(left) else right, name)
        case Union(left, right):
            return _called(left, name) & _called(right, name)
        case _:
            return set()


def _called_each(relation: Relation, scalars: Iterable[Scalar]) -> set[str]:
    read = (name for scalar in scalars for name in refs(scalar))
    return set[str]().union(*(_called(relation, name) for name in read))


def _names(table: str, column: str) -> set[str]:
    """Return the names of a table's column, without regard to case and _; an id is that of its own table."""
    own, whole, one = map(_plain, (column, table.rpartition(".")[2], singular(table)))
    bare = one if own == "id" else own  # refunds."order" is the id of orders
    return {bare, f"{table}.{own}", f"{whole}{own}", f"{one}{own}"}


def _plain(name: str) -> str:
    return name.casefold().replace("_", "")

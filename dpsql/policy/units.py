"""The path of every private table to its unit, and the check that units have one type along it.

    lineitem.l_orderkey -> orders.o_orderkey, orders.o_custkey         links, then the unit's column

Comparing different kinds would split one unit or join two: '001' = 1 is true, and so is 'a' = 'A' under
NOCASE.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from dpsql.errors import DatabaseError
from dpsql.ir.column import Kind, Type, type_of_all
from dpsql.ir.relation import Columns, Link, names_of, unit_type_of
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import FoundColumn, FoundTable
from dpsql.policy.domain import shown
from dpsql.policy.keys import Declared
from dpsql.policy.model import Policy
from dpsql.policy.names import fold
from dpsql.policy.resolve import Held, column_of, name_in, type_of
from dpsql.policy.toml_positions import Document, Path

KINDS = (Kind.INTEGER, Kind.TEXT, Kind.UUID)
"""Kinds with an equality that is exact and the same in every table."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A private table's path to its unit: its own columns, the links from there, the unit's columns."""

    table: FoundTable
    columns: tuple[FoundColumn, ...]
    links: tuple[Link, ...]
    unit: tuple[FoundColumn, ...]
    at_most: int | None
    path: Path


def owned_of(
    policy: Policy,
    document: Document,
    resolved: Mapping[str, Held],
    keys: tuple[Declared, ...],
    table: Held,
) -> Owned:
    """Return a table's path to its unit; the chain is finite, since the reader refuses cycles."""
    rule, found = table.rule.unit, table.found
    if rule is None:
        key, held = policy.unit.held_in(table.rule.name)
        path: Path = ("unit", key)
        names = (*found.untyped, *(each.name for each in found.columns))
        for name in names_of(held) if key == "column" else ():
            if not name_in(name, names):
                raise _without_unit(policy, document, table, name)
    else:
        held, path = rule.column, (*table.path, "unit", "column")
    columns = _columns_of(document, found, held, path)
    own = {column.name for column in columns}
    unique = any(set(declared.key.columns) <= own for declared in keys if declared.key.table == found.name)
    if rule is None or rule.references is None:
        return Owned(found, columns, (), columns, 1 if unique else None, path)
    name, key_names = rule.references
    there, back = resolved[fold(name)], (*table.path, "unit", "references")
    ends = _columns_of(document, there.found, key_names, back)
    for place, pair in enumerate(zip(columns, ends, strict=True)):
        at = back if isinstance(key_names, str) else (*back, place)
        _check_same_kind(document, (found, pair[0]), (there.found, pair[1]), at)
    rest = owned_of(policy, document, resolved, keys, there)
    filled = not any(column.nullable for column in columns)
    link = Link(as_columns(columns), there.found.name, as_columns(ends), filled)
    return Owned(found, columns, (link, *rest.links), rest.unit, rest.at_most if unique else None, path)


def as_columns(found: tuple[FoundColumn, ...]) -> Columns:
    """Return the names of columns: of one, or of several that are one value together."""
    return found[0].name if len(found) == 1 else tuple(column.name for column in found)


def _columns_of(document: Document, table: FoundTable, names: Columns, path: Path) -> tuple[FoundColumn, ...]:
    """Find the columns that hold units or lead to them, each of a type that can."""
    found = []
    for place, name in enumerate(names_of(names)):
        at = path if isinstance(names, str) else (*path, place)
        column = column_of(document, table, name, at)
        _check_unit_type(document, table, column, at)
        found.append(column)
    return tuple(found)


def _without_unit(policy: Policy, document: Document, table: Held, name: str) -> DatabaseError:
    return document.refuse(
        "D804",
        f"the table {table.found.name} has no column {name}",
        table.path,
        on_key=True,
        label=f"which {policy.unit.name} does a row belong to?",
        help=f'unit = {{ column = "..." }}, or public = true if its rows belong to no {policy.unit.name}',
    )


def one_kind(document: Document, tables: Iterable[Owned]) -> Type:
    """Return the type that holds the units of all tables; refuse tables if there is none."""
    holders = [table for table in tables if not table.links]
    width = len(holders[0].columns)
    for holder in holders:
        if len(holder.columns) != width:
            raise _of_another_width(document, holders[0], holder)
    types = []
    for place in range(width):
        for first, second in itertools.product(holders, holders[1:]):
            at = second.path if width == 1 else (*second.path, place)
            ours, theirs = first.columns[place], second.columns[place]
            _check_same_kind(document, (first.table, ours), (second.table, theirs), at)
        of_all = type_of_all([type_of(holder.columns[place]) for holder in holders])
        assert of_all is not None, (
            "only UHUGEINT and signed ones have no type, and they were refused in pairs"
        )
        types.append(of_all)
    return unit_type_of(tuple(types))


def _of_another_width(document: Document, first: Owned, second: Owned) -> DatabaseError:
    """Refuse a unit of one column here and of several there: no value of one is a value of the other."""
    names = [
        ", ".join(f"{each.table.name}.{column.name}" for column in each.columns) for each in (first, second)
    ]
    return document.refuse(
        "D806",
        "the unit is not of as many columns everywhere",
        second.path,
        label=f"{names[1]} here, and {names[0]} there",
        help="name the same columns of a unit in every table, in one order",
    )


def _check_unit_type(document: Document, table: FoundTable, column: FoundColumn, path: Path) -> None:
    its = type_of(column)
    if its.kind not in KINDS or its.sql.startswith("ENUM("):
        raise document.refuse(
            "D806",
            f"{table.name}.{column.name} cannot identify units",
            path,
            label=f"it is of type {shown(its)}",
            help="a unit must be an integer, a text without collation, or a UUID",
        )


def _check_same_kind(
    document: Document,
    left: tuple[FoundTable, FoundColumn],
    right: tuple[FoundTable, FoundColumn],
    path: Path,
) -> None:
    """Refuse columns of different kinds, or without a type for both: a comparison must never fail."""
    if type_of_all([type_of(column) for _, column in (left, right)]) is not None:
        return
    first, second = (f"{table.name}.{column.name} is {column.sql}" for table, column in (left, right))
    raise document.refuse(
        "D806",
        "the unit is not of one kind everywhere",
        path,
        label=f"{second}, {first}",
        help="no type holds the values of both, and a comparison could split one unit or join two: give "
        "both columns the same type",
    )

"""The path of every private table to its unit, and the check that units have one type along it.

    lineitem.l_orderkey -> orders.o_orderkey, orders.o_custkey         links, then the unit's column

Comparing different kinds would split one unit or join two: '001' = 1 is true, and so is 'a' = 'A' under
NOCASE.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dpsql.ir.column import Kind, Type, type_of_all
from dpsql.ir.relation import Link
from dpsql.policy.catalogue import FoundColumn, FoundTable
from dpsql.policy.domain import shown
from dpsql.policy.keys import Declared
from dpsql.policy.model import Policy
from dpsql.policy.names import fold
from dpsql.policy.resolve import Held, column_of, type_of
from dpsql.policy.toml_positions import Document, Path

KINDS = (Kind.INTEGER, Kind.TEXT, Kind.UUID)
"""Kinds with an equality that is exact and the same in every table."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A private table's path to its unit: its own column, the links from there, the unit's column."""

    table: FoundTable
    column: FoundColumn
    links: tuple[Link, ...]
    unit: FoundColumn
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
    path: Path = ("unit", "key") if rule is None else (*table.path, "unit", "column")
    column = column_of(document, found, policy.unit.key if rule is None else rule.column, path)
    _check_unit_type(document, found, column, path)
    unique = any(
        declared.key.columns == (column.name,) for declared in keys if declared.key.table == found.name
    )
    if rule is None or rule.references is None:
        return Owned(found, column, (), column, 1 if unique else None, path)
    name, key = rule.references
    there, back = resolved[fold(name)], (*table.path, "unit", "references")
    end = column_of(document, there.found, key, back)
    _check_unit_type(document, there.found, end, back)
    _check_same_kind(document, (found, column), (there.found, end), back)
    rest = owned_of(policy, document, resolved, keys, there)
    link = Link(column.name, there.found.name, end.name)
    return Owned(found, column, (link, *rest.links), rest.unit, rest.at_most if unique else None, path)


def one_kind(document: Document, unit: Owned, tables: Iterable[Owned]) -> Type:
    """Return the type that holds the units of all tables; refuse tables if there is none."""
    holders = [unit, *(table for table in tables if not table.links)]
    for first, second in itertools.product(holders, holders[1:]):
        _check_same_kind(document, (first.table, first.column), (second.table, second.column), second.path)
    unit_type = type_of_all([type_of(holder.column) for holder in holders])
    assert unit_type is not None, "only UHUGEINT and signed ones have no type, and they were refused in pairs"
    return unit_type


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

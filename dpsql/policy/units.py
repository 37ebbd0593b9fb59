"""How every private table reaches its unit, and that the unit is of one kind all the way.

    lineitem.l_orderkey -> orders.o_orderkey, orders.o_custkey         links, then the unit's column

Comparing unlike kinds would split one unit or join two: '001' = 1 is true, and so is 'a' = 'A' under NOCASE.
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
"""Kinds whose equality is exact and the same in every table."""


@dataclass(frozen=True, slots=True)
class Owned:
    """How a private table reaches its unit: its own column, the way from there, the unit's column."""

    table: FoundTable
    column: FoundColumn
    links: tuple[Link, ...]
    unit: FoundColumn
    at_most: int | None
    path: Path


def owned_of(
    policy: Policy,
    document: Document,
    held: Mapping[str, Held],
    keys: tuple[Declared, ...],
    table: Held,
) -> Owned:
    """The way from a table to its unit; the chain is finite, for the reader refused cycles."""
    rule, found = table.rule.unit, table.found
    path: Path = ("unit", "key") if rule is None else (*table.path, "unit", "column")
    column = column_of(document, found, policy.unit.key if rule is None else rule.column, path)
    _tells_units_apart(document, found, column, path)
    unique = any(each.key.columns == (column.name,) for each in keys if each.key.table == found.name)
    if rule is None or rule.references is None:
        return Owned(found, column, (), column, 1 if unique else None, path)
    name, key = rule.references
    there, back = held[fold(name)], (*table.path, "unit", "references")
    end = column_of(document, there.found, key, back)
    _tells_units_apart(document, there.found, end, back)
    _same_kind(document, (found, column), (there.found, end), back)
    rest = owned_of(policy, document, held, keys, there)
    link = Link(column.name, there.found.name, end.name)
    return Owned(found, column, (link, *rest.links), rest.unit, rest.at_most if unique else None, path)


def one_kind(document: Document, unit: Owned, tables: Iterable[Owned]) -> Type:
    """The type in which units are read in every table; refuses tables whose own columns have none."""
    own = [unit, *(each for each in tables if not each.links)]
    for one, other in itertools.product(own, own[1:]):
        _same_kind(document, (one.table, one.column), (other.table, other.column), other.path)
    found = type_of_all([type_of(each.column) for each in own])
    assert found is not None, "only UHUGEINT and signed ones have no type, and they were refused in pairs"
    return found


def _tells_units_apart(document: Document, table: FoundTable, column: FoundColumn, path: Path) -> None:
    its = type_of(column)
    if its.kind not in KINDS or its.sql.startswith("ENUM("):
        raise document.refuse(
            "D806",
            f"{table.name}.{column.name} cannot tell units apart",
            path,
            label=f"it is of type {shown(its)}",
            help="a unit is a whole number, a text without collation, or a UUID",
        )


def _same_kind(
    document: Document, one: tuple[FoundTable, FoundColumn], other: tuple[FoundTable, FoundColumn], path: Path
) -> None:
    """One kind, and a type that holds the values of both: whatever compares them must not fail on any."""
    if type_of_all([type_of(column) for _, column in (one, other)]) is not None:
        return
    first, second = (f"{table.name}.{column.name} is {column.sql}" for table, column in (one, other))
    raise document.refuse(
        "D806",
        "the unit is not of one kind everywhere",
        path,
        label=f"{second}, {first}",
        help="no type holds the values of both, and comparing them would split one unit or join two: give "
        "both columns one type",
    )

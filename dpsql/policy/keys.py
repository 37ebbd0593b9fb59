"""Unique keys that the policy relies on: declared for a table, or implied by the unit and its paths.

    [tables.orders]  key = "order_id"                               orders.order_id
    [unit]           table = "customer", key = "custkey"            customer.custkey
    unit = { column = "order_id", references = "orders.order_id" }  orders.order_id

A key is valid if the database enforces it (on these columns or on some of them), or if it was verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dpsql.errors import DatabaseError
from dpsql.ir.column import Kind
from dpsql.ir.relation import Columns
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import FoundTable, Key
from dpsql.policy.domain import shown
from dpsql.policy.model import Policy
from dpsql.policy.names import fold
from dpsql.policy.resolve import Held, column_of, type_of
from dpsql.policy.toml_positions import Document, Path
from dpsql.policy.toml_spelling import spelled_columns

KINDS = (
    Kind.INTEGER,
    Kind.TEXT,
    Kind.UUID,
    Kind.BOOLEAN,
    Kind.DECIMAL,
    Kind.DATE,
    Kind.TIMESTAMP,
    Kind.TIMESTAMPTZ,
    Kind.TIME,
)
"""Kinds with exact equality; an INTERVAL of a month equals one of thirty days."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A key, its place in the policy, and whether the database enforces it."""

    key: Key
    path: Path
    enforced: bool


def keys_of(policy: Policy, document: Document, resolved: Mapping[str, Held]) -> tuple[Declared, ...]:
    """Return every declared key once: tables' own first, then the unit's, then those that paths reference."""
    keys: dict[tuple[str, frozenset[str]], Declared] = {}
    for table, names, path in _declarations(policy, resolved):
        columns = tuple(column_of(document, table.found, name, at).name for name, at in names)
        key = Key(table.found.name, columns, document.line(path))
        keys.setdefault(identity(key), Declared(key, path, _is_enforced(table.found, columns)))
    return tuple(keys.values())


def _declarations(
    policy: Policy, resolved: Mapping[str, Held]
) -> Iterator[tuple[Held, list[tuple[str, Path]], Path]]:
    """Yield each key's table, its columns with their places, and its own place."""
    path: Path
    for table in resolved.values():
        path = (*table.path, "key")
        if table.rule.key:
            yield table, [(name, (*path, index)) for index, name in enumerate(table.rule.key)], path
    if policy.unit.table is not None:
        path = ("unit", "key")
        held = policy.unit.held_in(policy.unit.table)[1]
        yield resolved[fold(policy.unit.table)], _placed(held, path), path
    for table in resolved.values():
        if table.rule.unit is not None and table.rule.unit.references is not None:
            name, key = table.rule.unit.references
            path = (*table.path, "unit", "references")
            yield resolved[fold(name)], _placed(key, path), path


def _placed(columns: Columns, path: Path) -> list[tuple[str, Path]]:
    """Return the names of columns, each with its place."""
    if isinstance(columns, str):
        return [(columns, path)]
    return [(name, (*path, place)) for place, name in enumerate(columns)]


def check_key_kinds(document: Document, tables: Iterable[Held]) -> None:
    """Refuse a declared key with values that have no exact equality; ``units`` checks the implied keys."""
    for table in tables:
        for index, name in enumerate(table.rule.key):
            path: Path = (*table.path, "key", index)
            column = column_of(document, table.found, name, path)
            its = type_of(column)
            if its.kind not in KINDS:
                raise document.refuse(
                    "D804",
                    f"{table.found.name}.{column.name} cannot be part of a key",
                    path,
                    label=f"values of type {shown(its)} have no exact equality",
                )


def identity(key: Key) -> tuple[str, frozenset[str]]:
    """Return a key's table and columns as the database compares names."""
    return fold(key.table), frozenset(map(fold, key.columns))


def _is_enforced(table: FoundTable, columns: tuple[str, ...]) -> bool:
    declared = set(map(fold, columns))
    return any(set(map(fold, unique)) <= declared for unique in table.unique if unique)


def not_a_key(document: Document, declared: Declared) -> DatabaseError:
    """Return the refusal of a key that is neither enforced nor verified."""
    names = ", ".join(f"{declared.key.table}.{column}" for column in declared.key.columns)
    way = "remove the duplicates and run dpsql policy check, or let the database enforce the key"
    if declared.path == ("unit", "key"):
        column = spelled_columns(declared.key.columns)
        way = (
            f"if one may have many rows here, say [unit] column = {column} without table and key; else {way}"
        )
    return document.refuse(
        "D805",
        f"{names} is not known to be unique",
        declared.path,
        label="declared a key here",
        notes=("the database does not enforce it, and it was not verified on this data",),
        help=way,
    )

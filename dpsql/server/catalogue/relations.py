"""The tables and views that exist for an analyst: names, types, and what the owner says of them.

    relations_of(dpsql.connect("clinic.duckdb", analyst="ana"))
    (Relation("public", "patients", "table", (Column("age", "INTEGER", True), ...)), ...)

Claim   the relations, and so every answer of the catalogue, are equal on every database with the same policy
        and schema: full, empty or neighbouring.
Proof   They are made of ``Connection.tables`` (names, types, NOT NULL, keys and comments of the policy and
        the schema) without what it knows of rows: no size, no list of values, no range, no found bound.
        Of private tables the keys are the unit's, and those that a link of the policy names.
Test    tests/server/test_catalogue_privacy.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from dpsql.lazy_dataclass import dataclass
from dpsql.policy.references import owner_of

if TYPE_CHECKING:
    from dpsql.dbapi import Connection
    from dpsql.policy.listing import Table

PUBLIC = "public"
"""What PostgreSQL's clients call the schema in which names need no prefix; DuckDB calls it main."""


class Column(NamedTuple):
    """A column; ``type`` is as DuckDB prints it."""

    name: str
    type: str
    nullable: bool = True
    comment: str = ""


class Reference(NamedTuple):
    """A foreign key: columns of a table that are the key of another, which DuckDB calls ``table``."""

    columns: tuple[str, ...]
    table: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a view; ``kind`` is "table" or "view". Of its ``keys`` the first is the primary one."""

    schema: str
    name: str
    kind: str
    columns: Sequence[Column]
    comment: str = ""
    keys: tuple[tuple[str, ...], ...] = ()
    reference: Reference | None = None


def relations_of(connection: Connection) -> tuple[Relation, ...]:
    """Return what the analyst of a connection may see."""
    relations, tables = [], connection.tables
    references = {table.name: _reference(table, tables) for table in tables}
    named = {(each.table, each.key) for each in references.values() if each is not None}
    for table in tables:
        if table.view:
            comment = ""
        elif table.public:
            comment = "public: its rows can be listed"
        else:
            comment = f"private rows of a {table.unit}: ask for aggregates such as COUNT(*) or AVG(x)"
        columns = tuple(
            Column(column.name, column.type, column.nullable, column.comment) for column in table.columns
        )
        kind = "view" if table.view else "table"
        keys = tuple(
            key
            for key in table.keys
            if table.public or (table.name, key) in named or ", ".join(key) == ", ".join(table.path)
        )
        made = Relation("main", table.name, kind, columns, comment, keys, references[table.name])
        relations.append(with_public(made))
    return tuple(relations)


def _reference(table: Table, tables: Sequence[Table]) -> Reference | None:
    """Return the foreign key to the unit that the policy names, if its key is a key of the other table."""
    found = owner_of(table, tables)
    if found is None or tuple(found[2]) not in found[1].keys:
        return None
    return Reference(tuple(found[0]), found[1].name, tuple(found[2]))


def with_public(relation: Relation) -> Relation:
    """Return a relation of DuckDB's schema main as one of PostgreSQL's public; sales.orders as of sales."""
    columns = tuple(Column(*column) for column in relation.columns)
    if relation.schema != "main":
        return replace(relation, columns=columns)
    schema, name = place_of(relation.name)
    return replace(relation, schema=schema, name=name, columns=columns)


def place_of(name: str) -> tuple[str, str]:
    """Return the schema and the name of a table as clients see them: of patients, public and patients."""
    schema, dot, rest = name.partition(".")
    return (schema, rest) if dot else (PUBLIC, name)

"""The tables and views that exist for an analyst: names, types, and what the owner says of them.

    relations_of(dpsql.connect("clinic.duckdb", analyst="ana"))
    (Relation("public", "patients", "table", (Column("age", "INTEGER", True), ...)), ...)

Claim   the relations, and so every answer of the catalogue, are equal on every database with the same policy
        and schema: full, empty or neighbouring.
Proof   They are made of ``Connection.tables`` (names, types, NOT NULL, keys and comments of the policy and
        the schema) without what it knows of rows: no size, no list of values, no range, no found bound.
Test    tests/server/test_catalogue_privacy.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from dpsql.dbapi import Connection

PUBLIC = "public"
"""What PostgreSQL's clients call the schema in which names need no prefix; DuckDB calls it main."""


class Column(NamedTuple):
    """A column; ``type`` is as DuckDB prints it."""

    name: str
    type: str
    nullable: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a view; ``kind`` is "table" or "view"."""

    schema: str
    name: str
    kind: str
    columns: Sequence[Column]
    comment: str = ""


def relations_of(connection: Connection) -> tuple[Relation, ...]:
    """Return what the analyst of a connection may see."""
    relations = []
    for table in connection.tables:
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
        relations.append(with_public(Relation("main", table.name, kind, columns, comment)))
    return tuple(relations)


def with_public(relation: Relation) -> Relation:
    """Return a relation of DuckDB's schema main as one of PostgreSQL's public; sales.orders as of sales."""
    columns = tuple(Column(*column) for column in relation.columns)
    if relation.schema != "main":
        return replace(relation, columns=columns)
    schema, dot, name = relation.name.partition(".")
    if not dot:
        schema, name = PUBLIC, relation.name
    return replace(relation, schema=schema, name=name, columns=columns)

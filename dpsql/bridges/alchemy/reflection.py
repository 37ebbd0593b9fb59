"""The tables of the policy, as SQLAlchemy's inspector asks for them. No row is read.

    inspect(engine).get_columns("patients")      name, type, nullable, comment: "in [0, 110]"
    Table("visits", metadata, autoload_with=engine).foreign_keys

The column that leads to the unit is a foreign key, so ``select(...).join(visits)`` knows its condition.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import (
    ReflectedCheckConstraint,
    ReflectedColumn,
    ReflectedForeignKeyConstraint,
    ReflectedIndex,
    ReflectedPrimaryKeyConstraint,
    ReflectedTableComment,
    ReflectedUniqueConstraint,
)
from sqlalchemy.engine.reflection import cache
from sqlalchemy.exc import NoSuchTableError

from dpsql.bridges.alchemy.types import type_of
from dpsql.policy.listing import Column, Table
from dpsql.policy.references import owner_of
from dpsql.render.english import one

MAIN = "main"


class Reflection(DefaultDialect):
    """The reflection methods of the dialect; everything comes from the policy."""

    @cache
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return sorted({MAIN, *(_schema(table) for table in _tables(connection))})

    @cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [_name(table) for table in _tables(connection) if _in(table, schema) and not table.view]

    @cache
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [_name(view) for view in _tables(connection) if _in(view, schema) and view.view]

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        return any(_is(table, table_name, schema) for table in _tables(connection))

    @cache
    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedColumn]:
        table = _table(connection, table_name, schema)
        return [
            {
                "name": column.name,
                "type": type_of(column.type),
                "nullable": column.nullable,
                "default": None,
                "autoincrement": False,
                "comment": column_comment(column, table),
            }
            for column in table.columns
        ]

    @cache
    def get_pk_constraint(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedPrimaryKeyConstraint:
        keys = _table(connection, table_name, schema).keys
        return {"constrained_columns": list(keys[0]) if keys else [], "name": None}

    @cache
    def get_unique_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedUniqueConstraint]:
        keys = _table(connection, table_name, schema).keys
        return [{"column_names": list(key), "name": None} for key in keys[1:]]

    @cache
    def get_foreign_keys(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedForeignKeyConstraint]:
        tables = _tables(connection)
        reference = owner_of(_table(connection, table_name, schema), tables)
        if reference is None:
            return []
        columns, owner, keys = reference
        return [
            {
                "name": None,
                "constrained_columns": columns,
                "referred_schema": None if _schema(owner) == MAIN else _schema(owner),
                "referred_table": _name(owner),
                "referred_columns": keys,
                "options": {},
            }
        ]

    @cache
    def get_table_comment(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedTableComment:
        return {"text": table_comment(_table(connection, table_name, schema))}

    def get_indexes(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedIndex]:
        return []

    def get_check_constraints(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedCheckConstraint]:
        return []

    def get_temp_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []

    def get_temp_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []

    def get_materialized_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []

    def get_sequence_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return []


def column_comment(column: Column, table: Table) -> str | None:
    """Return the owner's words for a column, and what is publicly known of its values: ``in [0, 110]``."""
    beside = f"with {', '.join(column.beside)} the {table.unit} of the row" if column.beside else None
    return "; ".join(filter(None, (column.comment, _known_values(column, table), beside))) or None


def _known_values(column: Column, table: Table) -> str | None:
    if column.range is not None:
        suffix = ", found privately" if column.found else ""
        return f"in [{column.range[0]}, {column.range[1]}]{suffix}"
    if column.values is not None:
        return "one of " + ", ".join(map(str, column.values))
    if column.unit:
        return f"the {table.unit} of the row: never shown"
    return None


def table_comment(table: Table) -> str:
    """Return the kind of a table: ``private: rows of a patient, clipped from 15 on``."""
    if table.view:
        return f"view: {table.view}"
    if table.public:
        return f"public: {table.size} rows"
    if table.rows_per_unit == 1:
        return f"private: one row of each {table.unit}"
    started = "" if table.rows_per_unit is None else f", clipped from {table.rows_per_unit} on"
    return f"private: rows of {one(table.unit)}{started}"


def _tables(connection: Any) -> tuple[Table, ...]:
    tables: tuple[Table, ...] = connection.connection.driver_connection.tables
    return tables


def _table(connection: Any, name: str, schema: str | None) -> Table:
    for table in _tables(connection):
        if _is(table, name, schema):
            return table
    raise NoSuchTableError(name if schema is None else f"{schema}.{name}")


def _is(table: Table, name: str, schema: str | None) -> bool:
    return _in(table, schema) and _name(table).casefold() == name.casefold()


def _in(table: Table, schema: str | None) -> bool:
    return _schema(table).casefold() == (schema or MAIN).casefold()


def _schema(table: Table) -> str:
    return table.name.rpartition(".")[0] or MAIN


def _name(table: Table) -> str:
    return table.name.rpartition(".")[2]

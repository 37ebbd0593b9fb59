"""The tables that the policy lets exist, as SQLAlchemy's inspector asks for them. Nothing is read for it.

    inspect(engine).get_columns("patients")      name, type, nullable, comment: "in [0, 110]"
    Table("visits", metadata, autoload_with=engine).foreign_keys

Whose a row is, is told as a foreign key, so that ``select(...).join(visits)`` knows its condition.
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

MAIN = "main"


class Reflection(DefaultDialect):
    """What a dialect tells of tables; all of it is in the policy."""

    @cache
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:
        return sorted({MAIN, *(_schema(each) for each in _tables(connection))})

    @cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [_name(each) for each in _tables(connection) if _in(each, schema) and not each.view]

    @cache
    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:
        return [_name(each) for each in _tables(connection) if _in(each, schema) and each.view]

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        return any(_is(each, table_name, schema) for each in _tables(connection))

    @cache
    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedColumn]:
        table = _table(connection, table_name, schema)
        return [
            {
                "name": each.name,
                "type": type_of(each.type),
                "nullable": each.nullable,
                "default": None,
                "autoincrement": False,
                "comment": column_comment(each, table),
            }
            for each in table.columns
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
        return [{"column_names": list(each), "name": None} for each in keys[1:]]

    @cache
    def get_foreign_keys(
        self, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedForeignKeyConstraint]:
        tables = _tables(connection)
        found = owner_of(_table(connection, table_name, schema), tables)
        if found is None:
            return []
        column, other, key = found
        return [
            {
                "name": None,
                "constrained_columns": [column],
                "referred_schema": None if _schema(other) == MAIN else _schema(other),
                "referred_table": _name(other),
                "referred_columns": [key],
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
    """What is publicly known of a column's values: ``in [0, 110]``."""
    if column.range is not None:
        found = ", found privately" if column.found else ""
        return f"in [{column.range[0]}, {column.range[1]}]{found}"
    if column.values is not None:
        return "one of " + ", ".join(map(str, column.values))
    if column.unit:
        return f"whose row it is: a {table.unit}, never shown"
    return None


def table_comment(table: Table) -> str:
    """What a table is to an analyst: ``private: rows of a patient, clipped from 15 on``."""
    if table.view:
        return f"view: {table.view}"
    if table.public:
        return f"public: {table.size} rows"
    if table.rows_per_unit == 1:
        return f"private: one row of each {table.unit}"
    started = "" if table.rows_per_unit is None else f", clipped from {table.rows_per_unit} on"
    return f"private: rows of a {table.unit}{started}"


def owner_of(table: Table, tables: tuple[Table, ...]) -> tuple[str, Table, str] | None:
    """By which column a row finds its owner, and where: (patient_id, patients, patient_id)."""
    if not table.path:
        return None
    column, step, place = table.path[0].partition(" -> ")
    if step:
        name, _, key = place.rpartition(".")
        return next(((column, each, key) for each in tables if each.name == name), None)
    holders = [each for each in tables if _holds_each_unit_once(each)]
    if len(holders) != 1 or holders[0].name == table.name:
        return None
    return column, holders[0], holders[0].path[0]


def _holds_each_unit_once(table: Table) -> bool:
    return len(table.path) == 1 and (table.path[0],) in table.keys


def _tables(connection: Any) -> tuple[Table, ...]:
    found: tuple[Table, ...] = connection.connection.driver_connection.tables
    return found


def _table(connection: Any, name: str, schema: str | None) -> Table:
    for each in _tables(connection):
        if _is(each, name, schema):
            return each
    raise NoSuchTableError(name if schema is None else f"{schema}.{name}")


def _is(table: Table, name: str, schema: str | None) -> bool:
    return _in(table, schema) and _name(table).casefold() == name.casefold()


def _in(table: Table, schema: str | None) -> bool:
    return _schema(table).casefold() == (schema or MAIN).casefold()


def _schema(table: Table) -> str:
    return table.name.rpartition(".")[0] or MAIN


def _name(table: Table) -> str:
    return table.name.rpartition(".")[2]

"""What the policy's names mean in this database: one table or column each, or D804.

[tables.Patients]      the database's patients; errors name the nearest table when there is none
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.errors import DatabaseError
from dpsql.ir.column import Kind, Type, type_named
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.model import TableRule
from dpsql.policy.names import fold, perhaps
from dpsql.policy.places import Document, Path


@dataclass(frozen=True, slots=True)
class Held:
    """A table's rule, beside the table of the database it speaks of."""

    rule: TableRule
    found: FoundTable

    @property
    def path(self) -> Path:
        return ("tables", self.rule.name)


_NO_PATHS = "a part of a path, such as year=2024/, is no column: write it into the files"


def table_of(document: Document, rule: TableRule, catalogue: Catalogue) -> FoundTable:
    path: Path = ("tables", rule.name)
    found = [table for table in catalogue.tables if fold(table.name) == fold(rule.name)]
    if not found:
        names = [table.name for table in catalogue.tables]
        raise document.refuse(
            "D804",
            f"the database has no table {rule.name}",
            path,
            on_key=True,
            label="no such table",
            help=perhaps(rule.name, names),
        )
    if len(found) > 1:
        raise _ambiguous(document, rule.name, path)
    return found[0]


def column_of(
    document: Document, table: FoundTable, name: str, path: Path, on_key: bool = False
) -> FoundColumn:
    found = [column for column in table.columns if fold(column.name) == fold(name)]
    untyped = [each for each in table.untyped if fold(each) == fold(name)]
    if untyped and not found:
        raise document.refuse(
            "D804",
            f"{table.name}.{name} has no type",
            path,
            on_key=on_key,
            label="a csv file says none, and none is guessed",
            help=f'under [tables.{table.name}.columns], write {untyped[0]} = {{ type = "BIGINT" }}, say',
        )
    if not found:
        names = [*(column.name for column in table.columns), *table.untyped]
        raise document.refuse(
            "D804",
            f"the table {table.name} has no column {name}",
            path,
            on_key=on_key,
            label="no such column",
            help=perhaps(name, names) or (_NO_PATHS if "/" in table.files else ""),
        )
    if len(found) > 1:
        raise _ambiguous(document, name, path)
    return found[0]


def _ambiguous(document: Document, name: str, path: Path) -> DatabaseError:
    return document.refuse(
        "D804",
        f"the database has {name} more than once",
        path,
        on_key=True,
        label="names that differ in upper and lower case only",
    )


def type_of(column: FoundColumn) -> Type:
    """Text under a collation is opaque: its groups would show whichever spelling stands first."""
    if column.collation is None:
        return type_named(column.sql)
    return Type(Kind.OPAQUE, f"{column.sql} COLLATE {column.collation}")

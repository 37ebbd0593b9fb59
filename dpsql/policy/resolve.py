"""Resolution of the policy's names in a database: exactly one table or column each, or D804.

[tables.Patients]      the database's patients; errors name the nearest table when there is none
"""

from __future__ import annotations

from dpsql.errors import DatabaseError
from dpsql.ir.column import Kind, Type, type_named
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.model import TableRule
from dpsql.policy.names import fold, perhaps
from dpsql.policy.toml_positions import Document, Path


@dataclass(frozen=True, slots=True)
class Held:
    """A table's rule and the table of the database that it names."""

    rule: TableRule
    found: FoundTable

    @property
    def path(self) -> Path:
        return ("tables", self.rule.name)


_NO_PATHS = "a part of a path, such as year=2024/, is not a column: write it into the files"


def table_of(document: Document, rule: TableRule, catalogue: Catalogue) -> FoundTable:
    """Find a rule's table in the database, or refuse it (D804)."""
    path: Path = ("tables", rule.name)
    tables = [table for table in catalogue.tables if fold(table.name) == fold(rule.name)]
    if not tables:
        names = [table.name for table in catalogue.tables]
        named_alike = name_in(rule.name, catalogue.ambiguous)
        raise document.refuse(
            "D804",
            f"{rule.name} cannot be read" if named_alike else f"the database has no table {rule.name}",
            path,
            on_key=True,
            label="its schema is named like a database" if named_alike else "no such table",
            help="rename the schema" if named_alike else perhaps(rule.name, names),
        )
    if len(tables) > 1:
        raise _ambiguous(document, rule.name, path)
    return tables[0]


def column_of(
    document: Document, table: FoundTable, name: str, path: Path, on_key: bool = False
) -> FoundColumn:
    """Find a column of a table, or refuse it (D804)."""
    columns = [column for column in table.columns if fold(column.name) == fold(name)]
    untyped = [column for column in table.untyped if fold(column) == fold(name)]
    if untyped and not columns:
        raise document.refuse(
            "D804",
            f"{table.name}.{name} has no type",
            path,
            on_key=on_key,
            label="a csv file declares no types, and none is guessed",
            help=f'declare it under [tables.{table.name}.columns]: {untyped[0]} = {{ type = "BIGINT" }}',
        )
    if not columns and name_in(name, table.unstable):
        raise document.refuse(
            "D804",
            f"{table.name}.{name} may have another value each time it is read",
            path,
            on_key=on_key,
            label="a clip of the first value does not bound the second",
            help="store its values: CREATE TABLE ... AS SELECT ...",
            notes=("it is a generated column, and its expression is not known to be deterministic",),
        )
    if not columns:
        names = [*(column.name for column in table.columns), *table.untyped]
        raise document.refuse(
            "D804",
            f"the table {table.name} has no column {name}",
            path,
            on_key=on_key,
            label="no such column",
            help=perhaps(name, names) or (_NO_PATHS if "/" in table.files else ""),
        )
    if len(columns) > 1:
        raise _ambiguous(document, name, path)
    return columns[0]


def name_in(name: str, names: tuple[str, ...]) -> bool:
    """Whether a name is among these, as the database compares names."""
    return fold(name) in map(fold, names)


def _ambiguous(document: Document, name: str, path: Path) -> DatabaseError:
    return document.refuse(
        "D804",
        f"the database has {name} more than once",
        path,
        on_key=True,
        label="under names that differ only in case",
    )


def type_of(column: FoundColumn) -> Type:
    """Return a column's type. Text with a collation is opaque: a group would show any of its spellings."""
    if column.collation is None:
        return type_named(column.sql)
    return Type(Kind.OPAQUE, f"{column.sql} COLLATE {column.collation}")

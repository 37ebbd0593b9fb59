"""What an engine says of a database, and what the policy makes of it.

An engine describes (``Catalogue``), ``policy.check`` judges, and the binder reads ``Known``: the only
tables and columns that exist for an analyst.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.ir.column import Column, Type
from dpsql.ir.relation import Link
from dpsql.policy.model import CsvRule
from dpsql.policy.names import fold


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column as the database has it. ``collation`` is None where text compares by its bytes."""

    name: str
    sql: str
    nullable: bool
    collation: str | None = None


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table as the database has it. ``unique`` lists the column sets the database itself enforces.

    Of a table in csv files, ``csv`` says how they are written, ``columns`` are those whose type is known,
    and ``untyped`` the others. ``files`` is a pattern, where the table's name does not tell its files.
    ``unstable`` are generated columns that may be read as two values: nobody may use them.
    """

    name: str  # "patients", or "sales.orders" outside the main schema
    columns: tuple[FoundColumn, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    csv: CsvRule | None = None
    untyped: tuple[str, ...] = ()
    files: str = ""
    unstable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All base tables of a database. No row counts: those of private tables are exact private numbers."""

    tables: tuple[FoundTable, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A declared unique key: no two rows agree on these columns (rows with a NULL in them aside)."""

    table: str
    columns: tuple[str, ...]
    line: int = field(default=0, compare=False)  # of the policy


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table as the binder sees it: names as the database spells them.

    Private tables have a ``unit_column``: their own, or that of the last table of ``links``.
    ``keys`` are all declared unique keys, each enforced or verified, and ``key`` is the first of them.
    ``at_most`` is 1 where the unit column is such a key, else None. ``unit_filled`` says that the
    database itself keeps NULL out of the unit column.
    ``lines`` maps a column to the line of the policy that declares it, for notes in errors. ``found`` are
    the columns whose range is not declared but was found privately ('' where the rows per unit were).
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    public: bool
    unit_column: str | None = None
    links: tuple[Link, ...] = ()
    rows: int | None = None
    at_most: int | None = None
    size: int | None = None
    lines: tuple[tuple[str, int], ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    unit_filled: bool = False
    found: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KnownView:
    """A query of the policy's that goes by a name. It may use the views before it."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that exists for an analyst, and the words the policy uses for it.

    ``unit_type`` is the type in which units are read from every table: it holds the values of all.
    ``units`` is about how many there are, where the owner says so.
    """

    unit: str
    unit_type: Type
    tables: tuple[KnownTable, ...]
    policy_name: str
    timezone: str = "UTC"
    views: tuple[KnownView, ...] = ()
    min_units: int = 1
    units: int | None = None

    @property
    def unit_column(self) -> str:
        """What the unit's column is called, for a refusal to show: in the unit table, if there is one."""
        named = sorted((each.at_most != 1, each.unit_column) for each in self.tables if each.unit_column)
        return named[0][1] if named else "id"

    def table(self, name: str) -> KnownTable | None:
        """By name, with DuckDB's case folding."""
        folded = fold(name)
        return next((each for each in self.tables if fold(each.name) == folded), None)

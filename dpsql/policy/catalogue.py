"""The engine's description of a database, and the tables and columns that exist for analysts.

An engine describes (``Catalogue``), ``policy.check`` checks the policy against it, and the binder reads the
result: ``Known``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.ir.column import Column, Type
from dpsql.ir.relation import Link
from dpsql.policy.model import CsvRule
from dpsql.policy.names import fold


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column of the database. ``collation`` is None where text compares by its bytes."""

    name: str
    sql: str
    nullable: bool
    collation: str | None = None


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of the database. ``unique`` lists the sets of columns that the database itself keeps unique.

    For a table in csv files, ``csv`` is their format, ``columns`` are the columns with a known type and
    ``untyped`` the others. ``files`` is a pattern, if the files are not named after the table. ``unstable``
    are generated columns that may give two values when read twice: they cannot be used. ``checks`` are the
    conditions that the database itself enforces.
    """

    name: str  # "patients", or "sales.orders" outside the main schema
    columns: tuple[FoundColumn, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    csv: CsvRule | None = None
    untyped: tuple[str, ...] = ()
    files: str = ""
    unstable: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All base tables of a database. No row counts: those of private tables are exact private numbers."""

    tables: tuple[FoundTable, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A declared unique key: no two rows agree on these columns (except rows with a NULL among them)."""

    table: str
    columns: tuple[str, ...]
    line: int = field(default=0, compare=False)  # of the policy


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table as the binder sees it: names as the database spells them.

    A private table has a ``unit_column``: its own, or that of the last table of ``links``.
    ``keys`` are all declared unique keys, each enforced or verified; ``key`` is the first of them.
    ``at_most`` is 1 where the unit column is such a key, else None. ``unit_filled`` says that the database
    itself keeps NULL out of the unit column.
    ``lines`` maps a column to the line of the policy that declares it, for notes in errors. ``found`` are the
    columns with a found bound instead of a declared range ('' for the rows per unit). ``filled`` are the
    columns whose rows with NULL are left out of every query. Of each pair of ``checks`` the first column is
    declared to be at most the second. ``tied`` are columns of which each value belongs to one unit, by the
    policy's word.
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
    filled: tuple[str, ...] = ()
    checks: tuple[tuple[str, str], ...] = ()
    tied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownView:
    """A named query of the policy. It may use the views before it."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Known:
    """All tables and views that exist for analysts, and the policy's settings that binding needs.

    ``unit_type`` is the type in which units are read from every table: it holds the values of all. ``units``
    is the approximate number of units, if the owner declares it.
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
        """The name of the unit's column, for refusals: that of the unit table, if there is one."""
        named = sorted((table.at_most != 1, table.unit_column) for table in self.tables if table.unit_column)
        return named[0][1] if named else "id"

    def table(self, name: str) -> KnownTable | None:
        """Find a table by name, with DuckDB's case folding."""
        folded = fold(name)
        return next((table for table in self.tables if fold(table.name) == folded), None)

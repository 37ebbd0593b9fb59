"""The engine's description of a database, and the tables and columns that exist for analysts.

An engine describes (``Catalogue``), ``policy.check`` checks the policy against it, and the binder reads the
result: ``Known``.
"""

from __future__ import annotations

from dataclasses import field

from dpsql.ir.column import Column, Type
from dpsql.ir.private_view import PrivateView
from dpsql.ir.relation import Columns, Link, names_of
from dpsql.ir.unit_blocks import UnitBlocks
from dpsql.lazy_dataclass import dataclass
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
class ForeignKey:
    """A column whose values the database itself looks up in another table's key, or several together."""

    column: Columns
    table: str
    key: Columns


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of the database. ``unique`` lists the sets of columns that the database itself keeps unique.

    For a table in csv files, ``csv`` is their format, ``columns`` are the columns with a known type and
    ``untyped`` the others. ``files`` is a pattern, if the files are not named after the table. ``unstable``
    are generated columns that may give two values when read twice: they cannot be used. ``checks`` are the
    conditions that the database itself enforces, ``foreign`` its foreign keys.
    """

    name: str  # "patients", or "sales.orders" outside the main schema
    columns: tuple[FoundColumn, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    csv: CsvRule | None = None
    untyped: tuple[str, ...] = ()
    files: str = ""
    unstable: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    foreign: tuple[ForeignKey, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundView:
    """A view of the database: a query that a first policy may propose. Its SQL may hold what is private."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All base tables of a database. No row counts: those of private tables are exact private numbers.

    ``ambiguous`` are names that the engine cannot tell from those of another catalogue. ``views`` are there
    where a first policy is made.
    """

    tables: tuple[FoundTable, ...]
    ambiguous: tuple[str, ...] = ()
    views: tuple[FoundView, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """A declared unique key: no two rows agree on these columns (except rows with a NULL among them)."""

    table: str
    columns: tuple[str, ...]
    line: int = field(default=0, compare=False)  # of the policy


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table as the binder sees it: names as the database spells them.

    A private table has a ``unit_column``: its own, or that of the last table of ``links``. Of several columns
    the values together are the unit.
    ``keys`` are all declared unique keys, each enforced or verified; ``key`` is the first of them.
    ``at_most`` is 1 where the unit column is such a key, else None. ``unit_filled`` says that the database
    itself keeps NULL out of the unit column.
    ``lines`` maps a column to the line of the policy that declares it, for notes in errors. ``found`` are the
    columns with a found bound instead of a declared range ('' for the rows per unit). ``filled`` are the
    columns whose rows with NULL are left out of every query. Of each pair of ``checks`` the first column is
    declared to be at most the second. ``tied`` are columns of which each value belongs to one unit, by the
    policy's word. ``comments`` are the owner's words for columns. ``marks`` are what found bounds rest on, by
    their columns ('' for the rows per unit). ``unseen`` are the columns that do not exist for the analyst who
    asks; without any other, the table does not either.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    public: bool
    unit_column: Columns | None = None
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
    comments: tuple[tuple[str, str], ...] = ()
    marks: tuple[tuple[str, str], ...] = ()
    unseen: frozenset[str] = frozenset()

    @property
    def seen(self) -> tuple[Column, ...]:
        """The columns that exist for the analyst who asks."""
        return tuple(column for column in self.columns if column.name not in self.unseen)

    @property
    def unit_columns(self) -> frozenset[str]:
        """The table's own columns that hold the unit; none where a link leads to it."""
        return (
            frozenset() if self.links or self.unit_column is None else frozenset(names_of(self.unit_column))
        )


@dataclass(frozen=True, slots=True)
class KnownView:
    """A named query of the policy. It may use the views before it.

    A ``private`` view is bought. While it is ``created``, its query stands in the text of the statement;
    ``lent`` is one that another analyst created.
    """

    name: str
    sql: str
    private: PrivateView | None = None
    created: bool = False
    lent: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """All tables and views that exist for analysts, and the policy's settings that binding needs.

    ``unit_type`` is the type in which units are read from every table: it holds the values of all. ``units``
    is the approximate number of units, if the owner declares it. ``blocks`` are the blocks of units.
    """

    unit: str
    unit_type: Type
    tables: tuple[KnownTable, ...]
    policy_name: str
    timezone: str = "UTC"
    views: tuple[KnownView, ...] = ()
    min_units: int = 1
    units: int | None = None
    blocks: UnitBlocks | None = None

    @property
    def unit_columns(self) -> tuple[str, ...]:
        """The names of the unit's columns, for refusals: those of the unit table, if there is one."""
        held = [
            (table.at_most != 1, names_of(table.unit_column))
            for table in self.tables
            if table.unit_column and self.shows(table.name, *names_of(table.unit_column))
        ]
        return min(held)[1] if held else ("id",)

    @property
    def unit_column(self) -> str:
        """The name of the unit's column, for refusals; of several columns the list, as in GROUP BY."""
        return ", ".join(self.unit_columns)

    def equal_units(self, one: str, other: str) -> str:
        """Return the condition that rows of two tables are of one unit: a.id = b.id."""
        return " AND ".join(f"{one}.{name} = {other}.{name}" for name in self.unit_columns)

    @property
    def counted_unit(self) -> str:
        """What COUNT(DISTINCT ...) counts units by."""
        return self.unit_column if len(self.unit_columns) == 1 else f"({self.unit_column})"

    @property
    def shows_unit(self) -> bool:
        """Whether all columns that hold the unit exist for the analyst who asks."""
        holding = (table for table in self.tables if table.unit_column and not table.links)
        return all(self.shows(table.name, *names_of(table.unit_column or "")) for table in holding)

    @property
    def seen(self) -> tuple[KnownTable, ...]:
        """The tables that exist for the analyst who asks."""
        return tuple(table for table in self.tables if table.seen)

    def shows(self, table: str, *columns: str) -> bool:
        """Whether a table exists for the analyst who asks, and these columns in it."""
        known = self.table(table)
        seen = set() if known is None else {column.name for column in known.seen}
        return bool(seen) and seen.issuperset(columns)

    def table(self, name: str) -> KnownTable | None:
        """Find a table by name, with DuckDB's case folding."""
        folded = fold(name)
        return next((table for table in self.tables if fold(table.name) == folded), None)

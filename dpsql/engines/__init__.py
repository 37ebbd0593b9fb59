"""Engines, the only readers of private rows, and the SQL that they run: clips, sums, scans of files.

DuckDB's engine reads a file, a folder's one its parquet and csv files, PostgreSQL's a server (postgres/).

Plan -> ExactTable, ExportPlan -> ExactExport, VotePlan -> Examples
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

    from dpsql.engines.contents import Contents
    from dpsql.engines.public_columns import PublicColumns
    from dpsql.engines.rows_of_units import Misfits
    from dpsql.ir.column import Column, Value
    from dpsql.ir.export import ExactExport, ExportPlan
    from dpsql.ir.plan import MeasurePlan
    from dpsql.ir.table import ExactTable
    from dpsql.ir.unit_blocks import UnitBlocks, UnitHolder
    from dpsql.ir.votes import Examples, VotePlan
    from dpsql.policy.catalogue import Catalogue, FoundView, Key, KnownTable


Texts = tuple[str | None, ...]
"""Values as text."""


class Engine(Protocol):
    """The interface of a database, as the session and the pipeline use it."""

    reader: str
    """The program that reads the data, with its version."""

    def describe(self) -> Catalogue:
        """Return tables, columns, and the keys that the database enforces, without reading a row."""
        ...

    def views(self) -> tuple[FoundView, ...]:
        """Return the views of the database, which do not exist for analysts: for a first policy."""
        ...

    def misread(self) -> tuple[str, ...]:
        """Describe tables whose files do not seem to match the policy; only the owner may see this."""
        ...

    def version(self, contents: Contents, tables: Collection[str] | None = None) -> str:
        """Return an identifier of what these tables hold, or all: equal only if every row is the same."""
        ...

    def identity(self) -> str:
        """Return an identifier of the database, independent of its data."""
        ...

    def size(self, table: str) -> int:
        """Return the number of rows of a public table."""
        ...

    def combinations(self, table: str, columns: Sequence[str]) -> tuple[tuple[Value, ...], ...]:
        """Return the distinct rows of these columns of a public table, sorted."""
        ...

    def public_columns(self, table: str, rows: int) -> PublicColumns:
        """Return the ranges of the columns of a public table of so many rows, and which hold no NULL."""
        ...

    def is_key(self, key: Key) -> bool:
        """Whether no two rows agree on these columns, apart from rows with a NULL in one of them."""
        ...

    def units(
        self, holders: Sequence[UnitHolder], blocks: UnitBlocks, take: Callable[[Sequence[Texts]], None]
    ) -> None:
        """Show every unit of these tables once to ``take``, many at a time: its values, and its block's."""
        ...

    def is_spelled_alike(self, table: str, columns: Sequence[str]) -> bool:
        """Whether texts of columns differ only in case or blanks; only the owner may see this."""
        ...

    def strays(self, table: str, columns: Sequence[Column]) -> dict[str, int]:
        """Return the columns with undeclared values, and in which share of rows; only the owner may see this.

        A share is one of engines/shares.py; a column with fewer such values is left out.
        """
        ...

    def misfits(self, table: KnownTable, holder: KnownTable | None) -> Misfits:
        """Return how the rows of a private table fit its units; only the owner may see this.

        ``holder`` has a row for each unit, if there is such a table.
        """
        ...

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        """Whether these columns hold legal values only, so that no query fails on some rows."""
        ...

    def rows(self, table: str, columns: Sequence[str]) -> tuple[list[str], list[tuple[object, ...]]]:
        """Return columns of a public table: their types, and their values row by row."""
        ...

    def public_arrays(
        self, table: str, columns: Sequence[str]
    ) -> tuple[list[str], list[NDArray[Any]]] | None:
        """Return the same as arrays, which take less time and memory; None if the engine has only rows.

        Numbers and booleans are as they are, decimals may be whole numbers of their units, all else is text;
        where a value is NULL, the array is masked.
        """
        ...

    def measure(self, planned: MeasurePlan) -> ExactTable:
        """Compute the exact sums of a planned measure; called only after the debit."""
        ...

    def measure_sql(self, planned: MeasurePlan) -> str:
        """Return the SQL that ``measure`` runs."""
        ...

    def exact_export(self, planned: ExportPlan) -> ExactExport:
        """Compute the true answers of an export; called only after the debit."""
        ...

    def export_sql(self, planned: ExportPlan) -> str:
        """Return the SQL that ``exact_export`` runs."""
        ...

    def examples(self, planned: VotePlan) -> Examples:
        """Fetch the rows that teachers learn from; called only after the debit."""
        ...

    def examples_sql(self, planned: VotePlan) -> str:
        """Return the SQL that ``examples`` runs."""
        ...

    def unchanged(self) -> None:
        """Raise D602 if the data changed since it was opened; called before a debit and around reads."""
        ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...

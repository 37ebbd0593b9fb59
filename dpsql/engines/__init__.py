"""Engines, the only readers of private rows, and the SQL that they run: clips, sums, scans of files.

Plan -> ExactTable, ExportPlan -> ExactExport
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpsql.ir.column import Column, Interval, Value
    from dpsql.ir.export import ExactExport, ExportPlan
    from dpsql.ir.plan import MeasurePlan
    from dpsql.ir.table import ExactTable
    from dpsql.policy.catalogue import Catalogue, Key


class Engine(Protocol):
    """What the session and the pipeline ask of a database."""

    def describe(self) -> Catalogue:
        """Tables and columns, and which keys the database itself enforces. No row is read."""
        ...

    def misread(self) -> tuple[str, ...]:
        """Tables whose files hardly seem to be what the policy says they are, and how: the owner's to see."""
        ...

    def version(self) -> str:
        """Which data this is: changes whenever the data may have."""
        ...

    def reading(self) -> str:
        """Which data this is and how it is read: what was found true of its rows is so under this alone."""
        ...

    def identity(self) -> str:
        """Which database this is, whatever its data."""
        ...

    def size(self, table: str) -> int:
        """How many rows a public table has."""
        ...

    def values(self, table: str, column: str) -> tuple[Value, ...]:
        """The distinct values of a column of a public table, sorted, NULL left out."""
        ...

    def ranges(self, table: str) -> dict[str, Interval]:
        """The least and greatest number of each numeric column of a public table, where both are finite."""
        ...

    def is_key(self, key: Key) -> bool:
        """Whether no two rows agree on these columns (rows with a NULL among them aside)."""
        ...

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        """Whether all that these columns hold are values, so that no query fails by the rows it meets."""
        ...

    def rows(self, table: str) -> tuple[list[str], list[tuple[object, ...]]]:
        """A public table whole: its column types, and its rows."""
        ...

    def measure(self, planned: MeasurePlan) -> ExactTable:
        """The exact sums of a planned measure. Called after the debit, and never before."""
        ...

    def measure_sql(self, planned: MeasurePlan) -> str:
        """The SQL that ``measure`` would run."""
        ...

    def exact_export(self, planned: ExportPlan) -> ExactExport:
        """The true answers of an export. Called after the debit, and never before."""
        ...

    def export_sql(self, planned: ExportPlan) -> str:
        """The SQL that ``codes`` would run."""
        ...

    def unchanged(self) -> None:
        """D602 unless the data is still what was opened. Asked before a debit, and around each reading."""
        ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...

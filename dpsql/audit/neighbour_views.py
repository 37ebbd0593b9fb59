"""A neighbouring database without a copy: views on the same files that leave out the rows of one unit.

    CREATE VIEW main.visits AS
    SELECT * FROM whole.main.visits AS t WHERE (CAST(t.patient_id AS VARCHAR) = '17') IS NOT TRUE

The SQL that is measured there is the same as on the full database. The rows of a unit are those reached by
the policy's paths, in every private table. Rows that belong to no unit stay.
"""

from __future__ import annotations

from pathlib import Path

from dpsql.audit.neighbours import owner_sql
from dpsql.driver import connect, duckdb
from dpsql.engines.duckdb import DuckDB, configuration, steady
from dpsql.engines.folder import Folder
from dpsql.engines.identifiers import quote, table_sql, text
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import names_of
from dpsql.ir.table import ExactTable
from dpsql.policy.catalogue import Known, KnownTable
from dpsql.policy.files import is_files
from dpsql.policy.model import Policy


class Lacking:
    """A database that leaves out one unit at a time, or some."""

    def __init__(self, path: Path, policy: Policy, known: Known) -> None:
        self._tables, files = known.tables, is_files(path)
        self._engine: DuckDB = Folder(path, policy) if files else _Attached(path, policy.timezone)
        self._whole = _renamed if files else _attached
        for table in known.tables:
            if files:
                renamed = _renamed(table.name).rpartition(".")[2]
                self._do(f"ALTER VIEW {table_sql(table.name)} RENAME TO {renamed}")
            elif "." in table.name:
                self._do(f"CREATE SCHEMA IF NOT EXISTS {quote(table.name.split('.', 1)[0])}")
            self._view(table, "")

    def measure(self, planned: MeasurePlan) -> ExactTable:
        """Return the exact table of a measure without the unit's rows."""
        return self._engine.measure(planned)

    def leave_out(self, *units: object) -> None:
        """Leave out the rows of these units (and no others) from now on."""
        self._engine.forget()
        parts = [tuple(unit.values()) if isinstance(unit, dict) else (unit,) for unit in units]
        for table in self._tables:
            if not table.public:
                belongs = [self._belongs(table, 0, "t", [text(str(each)) for each in part]) for part in parts]
                kept = " AND ".join(f"({each}) IS NOT TRUE" for each in belongs)
                self._view(table, f" WHERE {kept}" if kept else "")

    def units(self, number: int, salt: int) -> list[object]:
        """Return some units: half of them have the most rows in a private table, the others are random.

        From now on nobody is left out.
        """
        self.leave_out()
        private = [table for table in self._tables if not table.public]
        largest = [
            self._do(
                f"SELECT unit FROM (SELECT {owner_sql(table, 'unit')}) WHERE unit IS NOT NULL "
                f"GROUP BY unit ORDER BY count(*) DESC, hash(unit, {salt}) LIMIT {number}"
            )
            for table in private
        ]
        chance = [
            self._do(
                f"SELECT unit FROM (SELECT DISTINCT {owner_sql(table, 'unit')}) WHERE unit IS NOT NULL "
                f"ORDER BY hash(unit, {salt}) LIMIT {number}"
            )
            for table in private
        ]
        units: dict[str, object] = {}
        for lists, enough in ((largest, (number + 1) // 2), (chance, number)):
            for place in range(number):
                for rows in lists:
                    if place < len(rows) and len(units) < enough:
                        units[str(rows[place][0])] = rows[place][0]
        return list(units.values())

    def interrupt(self) -> None:
        self._engine.interrupt()

    def close(self) -> None:
        self._engine.close()

    def _view(self, table: KnownTable, tail: str) -> None:
        query = f"SELECT * FROM {self._whole(table.name)} AS t{tail}"
        self._do(f"CREATE OR REPLACE VIEW {table_sql(table.name)} AS {query}")

    def _belongs(self, table: KnownTable, step: int, row: str, unit: list[str]) -> str:
        """Return SQL for whether a row, ``step`` links along the table's path, belongs to the unit."""
        if step == len(table.links):
            assert table.unit_column is not None
            # as text: a number may be beyond the column's type
            parts = zip(names_of(table.unit_column), unit, strict=True)
            return " AND ".join(f"CAST({row}.{quote(name)} AS VARCHAR) = {part}" for name, part in parts)
        link, there = table.links[step], f"t{step}"
        rest = self._belongs(table, step + 1, there, unit)
        keys = ", ".join(f"{there}.{quote(key)}" for key in names_of(link.key))
        near = ", ".join(f"{row}.{quote(column)}" for column in names_of(link.column))
        inside = f"SELECT {keys} FROM {self._whole(link.table)} AS {there} WHERE {rest}"
        return f"({near}) IN ({inside})"

    def _do(self, sql: str) -> list[tuple[object, ...]]:
        with self._engine._reading():
            return self._engine._all(sql)


class _Attached(DuckDB):
    """An empty database with a database file attached."""

    def _open(self, timezone: str, threads: int | None) -> None:
        self._connection = attached(self._file.path, timezone, threads)
        try:
            self._same_file()
        except BaseException:  # Ctrl-C too: closed, and raised again
            self._connection.close()
            raise


def attached(path: Path, timezone: str, threads: int | None) -> duckdb.DuckDBPyConnection:
    """Open an empty database with a database file attached as ``whole``."""
    connection = connect(":memory:", configuration(threads))
    try:
        for sql in (
            "SET enable_progress_bar = false",
            f"SET TimeZone = '{timezone}'",
            *(f"SET GLOBAL {setting}" for setting in steady()),  # as for analysts
            f"ATTACH {text(str(path))} AS whole (READ_ONLY)",
        ):
            connection.execute(sql)
    except BaseException:  # Ctrl-C too: closed, and raised again
        connection.close()
        raise
    return connection


def _attached(name: str) -> str:
    return f"whole.{table_sql(name)}"


def _renamed(name: str) -> str:
    schema, dot, table = name.rpartition(".")
    return table_sql(f"{schema}{dot}the whole of {table}")

"""The engine for a folder of parquet and csv files, or one file: views in an in-memory database.

data/people.csv      CREATE VIEW people AS SELECT ... FROM read_csv(['/.../people.csv'], ...)

The files are not copied, and nothing else on the disk can be read. DuckDB opens them again for each query, so
they are looked up again before and after: if a file was replaced, or another one belongs to a table now,
there is no answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

import duckdb

from dpsql.driver import connect
from dpsql.engines.contents import Content, Contents, chunks, hashed
from dpsql.engines.csv_sniffing import sniffed
from dpsql.engines.database_names import named_by_path
from dpsql.engines.duckdb import WITHOUT, DuckDB, configuration, lock_down
from dpsql.engines.file_sql import PUSHING, csv_sql, lines_sql, parquet_files, parquet_sql
from dpsql.engines.files import (
    Files,
    State,
    all_files,
    files_now,
    files_of,
    foreign,
    header_of,
    names_in,
    states_of,
)
from dpsql.engines.identifiers import quote, table_sql
from dpsql.engines.open_files import changed
from dpsql.engines.spill import spill_folder
from dpsql.errors import DatabaseError, interrupted, refuse
from dpsql.ir.column import Column
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable, FoundView
from dpsql.policy.model import CsvRule, Policy, TableRule
from dpsql.policy.names import fold
from dpsql.policy.toml_positions import document_of

View = Callable[[Sequence[Path]], str]
"""Prints a table's view over files at these paths."""

_WAY_OUT = "write it anew, such as by iconv -f latin1 -t utf-8"


class Folder(DuckDB):
    """Open files as tables. Without a policy (for the draft of one), the types of csv files are guessed."""

    def __init__(self, path: Path, policy: Policy | None = None, threads: int | None = None) -> None:
        self._path, self._place = path, Path(os.path.abspath(path))
        self._lock = threading.RLock()
        self._policy = policy
        try:
            self._listed = self._files_now()  # first: what comes after it shows in ``unchanged``
            files = all_files(path) if policy is None else files_of(path, policy)
            self._states = states_of(path for table in files for path in table.paths)
            listed = {state.path for state in self._listed}
            self._behind_links = tuple(state for state in self._states if state.path not in listed)
            self._connection = connect(":memory:", configuration(threads))
        except OSError:
            raise refuse("D602", f"{path.name} cannot be read", help="check who may read it") from None
        try:
            self._paths = {table.table: table.paths for table in files}
            paths = [part for table in files for part in table.paths]
            self._timezone = "UTC" if policy is None else policy.timezone
            lock_down(self._connection, self._timezone, paths, (*WITHOUT, *PUSHING))
            self._views: dict[str, str] = {}
            self._tables = tuple(map(self._create_view, files))
            self.unchanged()
        except BaseException:  # Ctrl-C too: closed, and raised again
            self._connection.close()
            raise

    # ---- catalogue ---------------------------------------------------------------------------------

    def _create_view(self, files: Files) -> FoundTable:
        """Describe a table and create its view."""
        rule = None if self._policy is None else self._policy.table(files.table)
        try:
            described, view = self._csv(files, rule) if files.csv else self._parquet(files)
            if "." in files.table:
                schema = quote(files.table.split(".", 1)[0])
                self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            self._connection.execute(f"CREATE VIEW {table_sql(files.table)} AS {view(files.paths)}")
            self._views[files.table] = view(())
        except (duckdb.Error, OSError):
            raise self._read_error(files, files.paths[0]) from None
        return described

    def _parquet(self, files: Files) -> tuple[FoundTable, View]:
        first: list[FoundColumn] = []
        for path in files.paths:
            try:
                described = self._all(f"DESCRIBE FROM {parquet_files([path])}")
            except duckdb.Error:
                raise self._read_error(files, path) from None
            columns = [FoundColumn(str(name), str(type_), True) for name, type_, *_ in described]
            if first and columns != first:
                raise refuse(
                    "D602",
                    f"{path.name} and {files.paths[0].name} have different schemas",
                    help="the files of a table need the same columns, of the same types, in the same order",
                )
            first = columns
        names = [column.name for column in first]
        return FoundTable(files.table, tuple(first), files=files.pattern), lambda at: parquet_sql(at, names)

    def _csv(self, files: Files, rule: TableRule | None) -> tuple[FoundTable, View]:
        if rule is None:
            csv, names, types = sniffed(self._connection, files.paths[0])
        else:
            csv = rule.csv or CsvRule()
            names = (
                header_of(files.paths[0], csv)
                if csv.header
                else tuple(column.name for column in rule.columns)
            )
            types = {fold(column.name): column.type for column in rule.columns if column.type is not None}
        self._same_headers(files, csv, names)
        typed = [(place, name, types[fold(name)]) for place, name in enumerate(names) if fold(name) in types]
        if rule is not None:
            self._readable(rule, files, [name for _, name, _ in typed])
        table = FoundTable(
            files.table,
            tuple(FoundColumn(name, type_, True) for _, name, type_ in typed),
            csv=csv,
            untyped=tuple(name for name in names if fold(name) not in types),
            files=files.pattern,
        )
        return table, lambda at: csv_sql(at, csv, len(names), typed)

    def _same_headers(self, files: Files, csv: CsvRule, names: tuple[str, ...]) -> None:
        for path in files.paths if csv.header else ():
            if header_of(path, csv) != names:
                raise refuse(
                    "D602",
                    f"{path.name} and {files.paths[0].name} have different headers",
                    help="the files of a table need the same columns in the same order",
                )

    def _readable(self, rule: TableRule, files: Files, typed: list[str]) -> None:
        """Raise D804 unless the files have at least one typed column, and none twice."""
        twice = [name for name in typed if sum(fold(column) == fold(name) for column in typed) > 1]
        if typed and not twice:
            return
        assert self._policy is not None
        document, place = document_of(self._policy.text, self._policy.name), ("tables", rule.name)
        if twice:
            raise document.refuse(
                "D804",
                f"{files.paths[0].name} has two columns {twice[0]}",
                (*place, "columns", twice[0]),
                on_key=True,
                label="the header names it twice",
                help="rename one of them in the file, or take it out here",
            )
        if any(column.type is not None for column in rule.columns):
            raise document.refuse(
                "D804",
                f"the first line of {files.paths[0].name} names no column of {rule.name}",
                place,
                on_key=True,
                help="if it is a row already, say csv = { header = false }; if delim is wrong, say that",
            )
        raise document.refuse(
            "D804",
            f"no column of {rule.name} has a type",
            place,
            on_key=True,
            label="a csv file says none, and none is guessed",
            help=f'[tables.{rule.name}.columns] age = {{ type = "INTEGER" }}; policy draft proposes them',
        )

    def _read_error(self, files: Files, path: Path) -> DatabaseError:
        if not os.access(path, os.R_OK):
            return refuse("D602", f"{path.name} may not be read", help="check who may read it")
        kind = "csv" if files.csv else "parquet"
        return refuse("D602", f"{path.name} cannot be read as a {kind} file", help="check the file")

    def describe(self) -> Catalogue:
        """Return the policy's tables, and the names of other files, which errors may suggest."""
        known = {fold(table.name) for table in self._tables}
        unknown = {
            fold(name): FoundTable(name, ()) for name in names_in(self._path) if fold(name) not in known
        }
        return Catalogue((*self._tables, *unknown.values()))

    def is_readable(self, table: str, columns: Sequence[Column]) -> bool:
        """Also read all values: parquet pages may be damaged, and text may not be UTF-8. csv cannot fail."""
        described = next(found for found in self._tables if found.name == table)
        if described.csv is not None:
            return True
        hashes = [
            f"max(hash({quote(column.name)}))" for column in columns
        ]  # count() would not decode the values
        with self._lock:
            self.unchanged()
            try:
                self._all(f"SELECT {', '.join(hashes)} FROM {table_sql(table)}")
            except duckdb.InterruptException:
                raise interrupted() from None
            except duckdb.Error:
                return False
        return super().is_readable(table, columns)

    def views(self) -> tuple[FoundView, ...]:
        return ()

    def misread(self) -> tuple[str, ...]:
        """Describe tables with many lines that give no row: for the owner, and without numbers."""
        notes = []
        with self._reading():
            for table in self._tables:
                if table.csv is not None:
                    lines = lines_sql(self._paths[table.name], table.csv)
                    query = (
                        f"SELECT (SELECT count(*) FROM {table_sql(table.name)}) * 2 < count(*) FROM ({lines})"
                    )
                    if self._all(query) == [(True,)]:
                        notes.append(f"{table.name}: less than half of its lines are rows; delim, quote?")
                    if any(map(foreign, self._paths[table.name])):
                        notes.append(f"{table.name}: lines that are not UTF-8 are no rows; {_WAY_OUT}")
        return tuple(notes)

    def version(self, contents: Contents, tables: Collection[str] | None = None) -> str:
        """The bytes of each table's files, how its view reads them, and the time zone.

        A new file is a new version of its own table, and of no other. What files are called, and where the
        folder is, changes nothing.
        """
        chosen = sorted(self._views if tables is None else {*tables} & {*self._views})
        with self._lock:
            self.unchanged()
            try:
                held = [(name, self._views[name], contents.digest(self._contents(name))) for name in chosen]
            except OSError:
                raise changed(self._path) from None
            self.unchanged()
        return hashed((held, self._timezone))

    def _contents(self, table: str) -> list[Content]:
        states = {state.path: state.file for state in self._states}
        return [Content(states[str(path)], partial(chunks, path)) for path in self._paths[table]]

    def identity(self) -> str:
        return named_by_path(self._path)

    # ---- housekeeping ------------------------------------------------------------------------------

    def _slow_to_read(self) -> frozenset[str]:
        """Lines are read into values at every pass."""
        return frozenset(table.name for table in self._tables if table.csv is not None)

    def unchanged(self) -> None:
        """Raise D602 unless the policy would find the same files now, in the same states."""
        spill_folder()
        try:
            listed = self._files_now()
            behind_links = states_of(Path(state.path) for state in self._behind_links)
        except OSError:
            raise changed(self._path) from None
        if (listed, behind_links) != (self._listed, self._behind_links):
            raise changed(self._path)

    def _files_now(self) -> tuple[State, ...]:
        """Return what belongs to the tables; the draft of a policy is of the files that it began with."""
        return () if self._policy is None else files_now(self._place, self._policy)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

"""Copies of a small database: without the rows of one unit, or with shuffled rows.

The rows of a unit are those reached by the policy's paths, in every private table. Rows that belong to no
unit stay. A unit of several columns is a value of each, as a tuple.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from dpsql.engines.identifiers import quote, table_sql, text
from dpsql.ir.relation import Columns, names_of
from dpsql.policy.catalogue import Known, KnownTable


def units_of(database: Path, known: Known) -> list[object]:
    """Return every unit that has a row in any table."""
    units: set[object] = set()
    with duckdb.connect(str(database), read_only=True) as connection:
        for table in known.tables:
            if not table.public:
                several = len(names_of(table.unit_column or "")) > 1
                rows = connection.execute(f"SELECT DISTINCT {owner_sql(table)}").fetchall()
                units |= {tuple(row[0].values()) if several else row[0] for row in rows if row[0] is not None}
    return sorted(units, key=str)


def without(source: Path, target: Path, known: Known, unit: object) -> None:
    """Copy a database without one unit's rows."""
    twin(source, target)
    with duckdb.connect(str(target)) as connection:
        for sql in deletions(known, unit):
            connection.execute(sql)


def deletions(known: Known, unit: object) -> list[str]:
    """Return the statements that delete one unit's rows."""
    parts = [text(str(part)) for part in (unit if isinstance(unit, tuple) else (unit,))]
    statements = []
    # the longest paths first: they lead through rows that are deleted later
    for table in sorted(known.tables, key=lambda entry: -len(entry.links)):
        if not table.public:
            # as text: a number may be beyond the column's type
            pairs = zip(_reaches(table), parts, strict=True)
            its = " AND ".join(f"CAST({reached} AS VARCHAR) = {part}" for reached, part in pairs)
            statements.append(f"DELETE FROM {table_sql(table.name)} WHERE {its}")
    return statements


def shuffled(source: Path, target: Path, known: Known, salt: int) -> None:
    """Copy a database with the rows of every private table in another order."""
    twin(source, target)
    with duckdb.connect(str(target)) as connection:
        for table in known.tables:
            if table.public:
                continue
            name = table_sql(table.name)
            connection.execute(
                f"CREATE TEMP TABLE shuffled AS SELECT * FROM {name} AS t ORDER BY hash(t, rowid, {salt})"
            )
            connection.execute(f"DELETE FROM {name}")
            connection.execute(f"INSERT INTO {name} SELECT * FROM shuffled")
            connection.execute("DROP TABLE shuffled")


def twin(source: Path, target: Path) -> None:
    """Copy the file of a database that nobody writes to, whose log is empty."""
    if source.with_name(f"{source.name}.wal").exists():
        copy(source, target)
    else:
        shutil.copyfile(source, target)


def copy(source: Path, target: Path) -> None:
    """Copy a database into a new file."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {text(str(source))} AS source (READ_ONLY)")
        connection.execute(f"ATTACH {text(str(target))} AS target")
        connection.execute("COPY FROM DATABASE source TO target")


def owner_sql(table: KnownTable, name: str = "owner") -> str:
    """Return ``unit AS name FROM table JOIN ...`` along the path to the unit."""
    assert table.unit_column is not None
    tables = f"{table_sql(table.name)} AS t0"
    for step, link in enumerate(table.links):
        on = _equal(f"t{step}", link.column, f"t{step + 1}", link.key)
        tables += f" JOIN {table_sql(link.table)} AS t{step + 1} ON {on}"
    columns = [f"t{len(table.links)}.{quote(column)}" for column in names_of(table.unit_column)]
    unit = columns[0]
    if len(columns) > 1:
        there = " AND ".join(f"{column} IS NOT NULL" for column in columns)
        fields = ", ".join(f"'{place}': {column}" for place, column in enumerate(columns))
        unit = f"CASE WHEN {there} THEN {{{fields}}} END"
    return f"{unit} AS {quote(name)} FROM {tables}"


def _equal(one: str, columns: Columns, other: str, keys: Columns) -> str:
    pairs = zip(names_of(columns), names_of(keys), strict=True)
    return " AND ".join(f"{one}.{quote(column)} = {other}.{quote(key)}" for column, key in pairs)


def _reaches(table: KnownTable) -> list[str]:
    """The columns of the unit of a row of the table, as expressions over that row."""
    assert table.unit_column is not None
    names = [table_sql(table.name), *(table_sql(link.table) for link in table.links)]
    reached = []
    for column in names_of(table.unit_column):
        sql = f"{names[-1]}.{quote(column)}"
        for step in range(len(table.links) - 1, -1, -1):
            link, holder, target = table.links[step], names[step], names[step + 1]
            on = _equal(target, link.key, holder, link.column)
            sql = f"(SELECT any_value({sql}) FROM {target} WHERE {on})"
        reached.append(sql)
    return reached

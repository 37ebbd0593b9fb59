"""Copies of a small database: without the rows of one unit, or with shuffled rows.

The rows of a unit are those reached by the policy's paths, in every private table. Rows that belong to no
unit stay.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpsql.engines.identifiers import quote, table_sql
from dpsql.policy.catalogue import Known, KnownTable


def units_of(database: Path, known: Known) -> list[object]:
    """Return every unit that has a row in any table."""
    units: set[object] = set()
    with duckdb.connect(str(database), read_only=True) as connection:
        for table in known.tables:
            if not table.public:
                rows = connection.execute(f"SELECT DISTINCT {owner_sql(table)}").fetchall()
                units |= {row[0] for row in rows if row[0] is not None}
    return sorted(units, key=str)


def without(source: Path, target: Path, known: Known, unit: object) -> None:
    """Copy a database without one unit's rows."""
    _copy(source, target)
    with duckdb.connect(str(target)) as connection:
        # the longest paths first: they lead through rows that are deleted later
        for table in sorted(known.tables, key=lambda entry: -len(entry.links)):
            if not table.public:
                # as text: a number may be beyond the column's type
                its = f"CAST({_reaches(table)} AS VARCHAR) = ?"
                connection.execute(f"DELETE FROM {table_sql(table.name)} WHERE {its}", [str(unit)])


def shuffled(source: Path, target: Path, known: Known, salt: int) -> None:
    """Copy a database with the rows of every private table in another order."""
    _copy(source, target)
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


def _copy(source: Path, target: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{source}' AS source (READ_ONLY)")
        connection.execute(f"ATTACH '{target}' AS target")
        connection.execute("COPY FROM DATABASE source TO target")


def owner_sql(table: KnownTable, name: str = "owner") -> str:
    """Return ``unit AS name FROM table JOIN ...`` along the path to the unit."""
    assert table.unit_column is not None
    tables = f"{table_sql(table.name)} AS t0"
    for step, link in enumerate(table.links):
        on = f"t{step}.{quote(link.column)} = t{step + 1}.{quote(link.key)}"
        tables += f" JOIN {table_sql(link.table)} AS t{step + 1} ON {on}"
    return f"t{len(table.links)}.{quote(table.unit_column)} AS {quote(name)} FROM {tables}"


def _reaches(table: KnownTable) -> str:
    """The unit of a row of the table, as an expression over that row."""
    assert table.unit_column is not None
    names = [table_sql(table.name), *(table_sql(link.table) for link in table.links)]
    sql = f"{names[-1]}.{quote(table.unit_column)}"
    for step in range(len(table.links) - 1, -1, -1):
        link, holder, target = table.links[step], names[step], names[step + 1]
        on = f"{target}.{quote(link.key)} = {holder}.{quote(link.column)}"
        sql = f"(SELECT any_value({sql}) FROM {target} WHERE {on})"
    return sql

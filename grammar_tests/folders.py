"""A world as a folder of parquet or csv files, and its policy for that folder.

world.duckdb -> csv/patients.csv, csv/sales.orders.csv, ...     age = { type = "INTEGER", range = [0, 120] }
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

_NULL = r"\N"


def exported(database: Path, folder: Path, ending: str) -> None:
    """Every table of a database as a file, called like the table."""
    folder.mkdir(parents=True)
    with duckdb.connect(str(database), read_only=True) as connection:
        for schema, table in _tables(connection):
            name = table if schema == "main" else f"{schema}.{table}"
            how = f"HEADER, NULLSTR '{_NULL}'" if ending == "csv" else "FORMAT parquet"
            connection.execute(f"COPY {schema}.{table} TO '{folder / name}.{ending}' ({how})")


def typed_policy(text: str, database: Path) -> str:
    """A policy that says of every column of a csv file what it is."""
    with duckdb.connect(str(database), read_only=True) as connection:
        types = {
            (table if schema == "main" else f"{schema}.{table}"): {
                str(name): _type(str(kind))
                for name, kind, *_ in connection.execute(f"DESCRIBE {schema}.{table}").fetchall()
            }
            for schema, table in _tables(connection)
        }
    lines, tables, listed, inside = [], set[str](), set[str](), ""
    for line in text.split("\n"):
        header = re.fullmatch(r'\[tables\."?([a-z_.]+?)"?(\.columns)?\]', line)
        if line.startswith("["):
            inside = ""
        if header:
            table = header[1]
            if table not in tables:
                tables.add(table)
                lines += [f'[tables."{table}"]', f"csv = {{ nullstr = '{_NULL}' }}"]
            if header[2]:
                listed.add(table)
                inside = table
                lines.append(line)
            continue
        column = re.match(r"(\w+) = \{", line)
        if inside and column:
            kind = f'type = "{types[inside][column[1]]}"'
            line = (
                line.replace("{}", f"{{ {kind} }}")
                .replace("{ ", f"{{ {kind}, ", 1)
                .replace(f"{kind}, {kind}", kind)
            )
        lines.append(line)
    for table in sorted(tables - listed):
        lines.append(f'[tables."{table}".columns]')
        lines += [f'{name} = {{ type = "{kind}" }}' for name, kind in types[table].items()]
    return "\n".join(lines)


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    asked = "SELECT schema_name, table_name FROM duckdb_tables() ORDER BY 1, 2"
    return [(str(schema), str(table)) for schema, table in connection.execute(asked).fetchall()]


def _type(kind: str) -> str:
    """What is neither a number nor a time is text in a csv file."""
    nested = kind == "JSON" or kind.endswith("[]") or kind.startswith(("STRUCT(", "MAP("))
    return "VARCHAR" if nested or kind.startswith("ENUM(") else kind

"""What the engine says of a database's tables, beside what DuckDB's own catalogue says."""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpsql.engines.open_database import open_database

SCRIPT = """
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE TABLE people (
    id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, pay DECIMAL(10, 2), mood mood, scores INTEGER[],
    place STRUCT(x INT, "y z" VARCHAR), words MAP(INT, VARCHAR), seen TIMESTAMPTZ, bits BIT, key UUID,
    nick VARCHAR COLLATE NOCASE, next INTEGER GENERATED ALWAYS AS (id + 1), big HUGEINT DEFAULT 3
);
CREATE SCHEMA old;
CREATE TABLE old."t.x" (x INT, y INT NOT NULL, PRIMARY KEY (x, y));
CREATE TABLE old."Q""uote" ("Q""uote" INT CHECK ("Q""uote" > 0), "select" INT UNIQUE);
CREATE VIEW seen AS SELECT * FROM people;
"""


def test_the_columns_of_every_table(tmp_path: Path) -> None:
    path = tmp_path / "all.duckdb"
    with duckdb.connect(str(path)) as plain:
        plain.execute(SCRIPT)
        told = plain.execute(
            "SELECT schema_name, table_name, column_name, data_type, is_nullable FROM duckdb_columns() "
            "WHERE NOT internal AND database_name = current_database() AND table_name <> 'seen' "
            "ORDER BY schema_name, table_name, column_index"
        ).fetchall()
    engine = open_database(path)
    try:
        found = engine.describe().tables
    finally:
        engine.close()
    prefix = {"main": "", "old": "old."}
    columns = [(table.name, each.name, each.sql, each.nullable) for table in found for each in table.columns]
    assert columns == [(prefix[schema] + table, *rest) for schema, table, *rest in told]
    assert [(table.name, table.unique) for table in found] == [
        ("people", (("id",),)),
        ('old.Q"uote', (("select",),)),
        ("old.t.x", (("x", "y"),)),
    ]
    assert [each.name for each in found[0].columns if each.collation is not None] == ["nick"]

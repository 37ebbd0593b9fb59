"""What the engine says of a database's tables, beside what DuckDB's own catalogue says."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql
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


def test_a_schema_that_is_named_like_a_database(tmp_path: Path) -> None:
    """DuckDB reads sales.orders as a table of the database sales: no query pays for it."""
    path = tmp_path / "sales.duckdb"
    with duckdb.connect(str(path)) as plain:
        plain.execute("CREATE SCHEMA sales.sales; CREATE TABLE sales.sales.orders (id INT)")
    path.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 1\naccountant = "pure"\n[unit]\ncolumn = "id"\n[tables."sales.orders"]\n'
    )
    with pytest.raises(dpsql.Error) as refused, dpsql.connect(path) as opened:
        opened.execute("SELECT 1")
    assert refused.value.code == "D804"
    assert "rename the schema" in str(refused.value)

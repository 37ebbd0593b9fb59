"""Types of DuckDB as PostgreSQL's, for every type that a policy's column may have."""

from __future__ import annotations

from pathlib import Path

import pytest
from client_statements import columns

import dpsql
from dpsql.server.catalogue import Catalogue, Relation, relations_of

TYPES = {
    "BOOLEAN": "boolean",
    "TINYINT": "smallint",
    "UTINYINT": "smallint",
    "USMALLINT": "integer",
    "UINTEGER": "bigint",
    "BIGINT": "bigint",
    "UBIGINT": "numeric(20,0)",
    "HUGEINT": "numeric(39,0)",
    "DECIMAL(10,2)": "numeric(10,2)",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "ENUM('a', 'b')": "text",
    "INTEGER[]": "text",
    "STRUCT(a INTEGER)": "text",
    "DATE": "date",
    "TIMESTAMP_NS": "timestamp without time zone",
    "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
    "INTERVAL": "interval",
    "UUID": "uuid",
    "BLOB": "bytea",
    "JSON": "json",
}


@pytest.mark.parametrize(("duckdb", "postgres"), TYPES.items())
def test_a_type_has_a_name_in_postgresql(duckdb: str, postgres: str) -> None:
    made = Catalogue("x", "ana", [Relation("main", "t", "table", columns(c=duckdb))])
    asked = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass"
    assert made.answer(asked).rows == ((postgres,),)
    asked = "SELECT data_type, is_nullable FROM information_schema.columns WHERE table_name = 't'"
    assert made.answer(asked).rows == ((postgres.partition("(")[0], "YES"),)


def test_a_table_in_a_schema_of_its_own() -> None:
    made = Catalogue("x", "ana", [Relation("main", "sales.orders", "table", columns(amount="DOUBLE!"))])
    assert made.answer("SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg%'").rows == (
        ("information_schema",),
        ("public",),
        ("sales",),
    )
    asked = "SELECT table_schema, is_nullable FROM information_schema.columns WHERE table_name = 'orders'"
    assert made.answer(asked).rows == (("sales", "NO"),)
    assert made.answer("SELECT 'sales.orders'::regclass::oid, 16384::regclass").rows == (
        (16384, "sales.orders"),
    )


def test_what_the_owner_says_of_a_table_is_its_comment(clinics: Path, tmp_path: Path) -> None:
    with dpsql.connect(clinics / "clinic" / "clinic.duckdb", ledger=tmp_path / "x.ledger") as connection:
        made = Catalogue("clinic", "ana", relations_of(connection))
    [(comment,)] = made.answer("SELECT obj_description('patients'::regclass, 'pg_class')").rows
    assert str(comment).startswith("private rows of a patient: ask for aggregates")
    asked = "SELECT description FROM pg_description WHERE objsubid = 0 AND objoid = 'patients'::regclass"
    assert made.answer(asked).rows == ((comment,),)

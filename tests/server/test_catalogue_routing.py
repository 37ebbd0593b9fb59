"""Which statements ask the catalogue is decided by the tables that they read, once they are parsed."""

from __future__ import annotations

import pytest
from client_statements import catalogue, columns

from dpsql.server.catalogue import Catalogue, CatalogueError, Relation

CATALOGUE = catalogue()

ASKED = """
SELECT relname FROM pg_class
select * from INFORMATION_SCHEMA.Tables
SELECT * FROM clinic.pg_catalog.pg_class
WITH t AS (SELECT relname FROM pg_class) SELECT * FROM t
WITH pg_class AS (SELECT 1 AS relname) SELECT * FROM pg_catalog.pg_class
SELECT (SELECT COUNT(*) FROM pg_attribute a WHERE a.attrelid = c.oid) FROM pg_class c
SELECT relname FROM pg_class UNION ALL SELECT nspname FROM pg_namespace
SELECT word FROM pg_get_keywords()
SELECT version()
SELECT pg_catalog.version() AS v;
SELECT current_schema(), current_user, session_user
SELECT user
SELECT pg_backend_pid()
SELECT 'patients'::regclass::oid
SELECT 1
SELECT 1 AS one, 'a', NULL, true
SELECT current_setting('server_version_num')::int / 10000
"""

NOT_ASKED = """
SELECT COUNT(*) FROM patients
SELECT COUNT(*) FROM patients WHERE ward <> 'pg_class'
SELECT COUNT(*) FROM patients -- pg_catalog.pg_class
SELECT COUNT(*) AS pg_class FROM patients
SELECT COUNT(*) FROM patients WHERE ward = current_schema()
SELECT COUNT(*) FROM patients WHERE ward IN (SELECT relname FROM pg_class)
SELECT * FROM pg_class, patients
SELECT * FROM pg_class WHERE EXISTS (SELECT 1 FROM patients)
SELECT relname FROM pg_class UNION ALL SELECT ward FROM patients
WITH pg_class AS (SELECT * FROM patients) SELECT COUNT(*) FROM pg_class
WITH x AS (SELECT * FROM patients), patients AS (SELECT relname FROM pg_class) SELECT * FROM x
SELECT * FROM public.pg_class
SELECT * FROM other.pg_catalog.pg_class
SELECT * FROM pg_class, read_text('/etc/passwd')
SELECT * FROM nothing
SELECT 7 / 2
SELECT upper('a')
SELECT 1 LIMIT 0
SELECT 1 FROM patients LIMIT 1
SHOW server_version
SET search_path = pg_catalog
DELETE FROM pg_class
SELECT relname FROM pg_class; SELECT COUNT(*) FROM patients
SELECT (
"""


@pytest.mark.parametrize("sql", ASKED.strip().splitlines())
def test_what_reads_the_catalogue_alone_asks_it(sql: str) -> None:
    assert CATALOGUE.asks(sql)
    CATALOGUE.answer(sql)


@pytest.mark.parametrize("sql", NOT_ASKED.strip().splitlines())
def test_what_names_anything_else_does_not(sql: str) -> None:
    assert not CATALOGUE.asks(sql)
    with pytest.raises(CatalogueError, match="alone"):
        CATALOGUE.answer(sql)


@pytest.mark.parametrize("schema", ["main", "public"])
def test_a_table_of_the_policy_hides_a_catalogue_table_of_its_name(schema: str) -> None:
    hidden = Catalogue("clinic", "ana", [Relation(schema, "pg_class", "table", columns(relname="VARCHAR"))])
    assert not hidden.asks("SELECT COUNT(*) FROM pg_class")
    assert not hidden.asks("SELECT COUNT(*) FROM PG_CLASS")
    assert hidden.answer("SELECT relname FROM pg_catalog.pg_class").rows == (("pg_class",),)


def test_a_schema_of_the_policy_hides_one_of_the_catalogue() -> None:
    hidden = Catalogue(
        "x", "ana", [Relation("main", "information_schema.tables", "table", columns(a="DATE"))]
    )
    assert not hidden.asks("SELECT COUNT(*) FROM information_schema.tables")
    assert not hidden.asks("SELECT COUNT(*) FROM Information_Schema.TABLES")


def test_a_table_named_like_a_function_of_the_catalogue_is_a_table() -> None:
    version = Catalogue("clinic", "ana", [Relation("public", "version", "table", columns(x="INTEGER"))])
    assert not version.asks("SELECT x FROM version")


def test_names_fold_as_in_postgresql() -> None:
    assert not CATALOGUE.asks('SELECT * FROM "PG_CLASS"')
    [(name, _)] = CATALOGUE.answer("SELECT nspname AS TABLE_SCHEM FROM PG_NAMESPACE").columns
    assert name == "table_schem"

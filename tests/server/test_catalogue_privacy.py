"""Answers of the catalogue are equal on full, empty and neighbouring databases, and nothing else is in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from client_statements import statements

import dpsql
from dpsql.server.catalogue import Catalogue, CatalogueError, Relation, relations_of
from dpsql.server.catalogue.contents import World, rows_in
from dpsql.server.catalogue.engine import SealedEngine
from dpsql.server.catalogue.reference import relations

NAMES = sorted(relations())
ASKED = (
    "Npgsql 8: enums",
    "Power BI: its list",
    "DBeaver 24: tables",
    "Metabase 0.50: tables",
    "Grafana 11: columns",
)
NAMED = [statement for statement in statements("bi_statements.sql") if statement.client.startswith(ASKED)]


def rows(made: Catalogue) -> Iterator[object]:
    """Return all rows that the sealed engine is given."""
    for name in NAMES:
        yield name, rows_in(made._world, name)


def answers(made: Catalogue) -> Iterator[object]:
    """Return these rows, and what clients ask of them."""
    yield from rows(made)
    for statement in NAMED:
        yield statement.client, made.answer(statement.sql, statement.given)


def catalogues(clinics: Path, ledgers: Path) -> Iterator[tuple[str, tuple[Relation, ...]]]:
    for name in ("clinic", "neighbour", "single", "empty"):
        database = clinics / name / "clinic.duckdb"
        with dpsql.connect(database, ledger=ledgers / f"{name}.ledger") as connection:
            made = relations_of(connection)
        yield name, made


def test_answers_are_equal_on_all_databases_with_this_policy(clinics: Path, tmp_path: Path) -> None:
    made = [each for _, each in catalogues(clinics, tmp_path)]
    first, *others = ([*answers(Catalogue("clinic", "ana", each))] for each in made)
    assert all(other == first for other in others)


def test_a_planted_size_would_be_found(clinics: Path, tmp_path: Path) -> None:
    made = []
    for name, plain in catalogues(clinics, tmp_path):
        sized = [_with_its_size(clinics / name / "clinic.duckdb", relation) for relation in plain]
        made.append([*rows(Catalogue("clinic", "ana", sized))])
    assert all(each != made[0] for each in made[1:])


def _with_its_size(database: Path, relation: Relation) -> Relation:
    import duckdb

    with duckdb.connect(str(database), read_only=True) as owner:
        [(size,)] = owner.execute(f"SELECT COUNT(*) FROM {relation.name}").fetchall()
    return replace(relation, comment=f"{size} rows")


def test_an_analyst_sees_what_exists_for_her(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text() + "\n[analysts.eve]\nepsilon = 1.0\ntables = ['visits.cost']\n")
    with dpsql.connect(clinic, analyst="eve") as connection:
        [relation] = relations_of(connection)
        assert [column.name for column in relation.columns] == ["cost"]
        made = Catalogue("clinic", "eve", relations_of(connection))
    everything = repr(list(answers(made)))
    assert "cost" in everything
    assert "patient" not in everything.replace("private rows of a patient", "")


def test_the_engine_is_sealed() -> None:
    """What a statement says reaches no file, setting or other engine, even past the translation."""
    engine = SealedEngine(World("clinic", "ana", ()))
    for sql in (
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "COPY (SELECT 1) TO '/tmp/catalogue.csv'",
        "ATTACH '/tmp/catalogue.duckdb' AS x",
        "SET enable_external_access = true",
        "SET memory_limit = '10GB'",
        "INSTALL httpfs",
        "LOAD httpfs",
    ):
        with pytest.raises(CatalogueError, match="cannot answer"):
            engine.run(sql, ())
    engine.end()


HOSTILE = [
    "WITH x AS (DELETE FROM pg_class RETURNING 1) SELECT * FROM x",
    "SELECT * FROM pg_settings WHERE EXISTS (WITH pg_settings AS (SELECT 1) SELECT 1)",
    "WITH pg_settings AS (SELECT * FROM pg_settings) SELECT * FROM pg_settings",
    "SELECT repeat('x', 1000000) FROM pg_type",
    "SELECT levenshtein(relname, relname) FROM pg_class",
    "SELECT relname FROM pg_class WHERE relname = $3000000",
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_what_would_write_or_read_the_engine_itself_is_not_answered(sql: str) -> None:
    """A WITH that deletes, names out of their scope, functions that no limit stops, numbers without end."""
    catalogue = Catalogue("clinic", "ana", [])
    with pytest.raises(CatalogueError):
        catalogue.answer(sql, ("x",))
    assert catalogue.answer("SELECT 'pg_class'::regclass::text", ()).rows == (("pg_class",),)

"""Keys in the catalogue: of public tables all, of private ones the unit's and those that links name."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from client_statements import columns

import dpsql
from dpsql.server.catalogue import Catalogue, Relation, relations_of
from dpsql.server.catalogue.relations import Reference

DATA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, card INTEGER UNIQUE NOT NULL, age INTEGER);
CREATE TABLE orders (order_no INTEGER PRIMARY KEY, person INTEGER NOT NULL, serial INTEGER UNIQUE NOT NULL);
CREATE TABLE items (order_no INTEGER NOT NULL, "Line" INTEGER NOT NULL, price DOUBLE);
CREATE TABLE places (region INTEGER, "No" INTEGER, name VARCHAR NOT NULL, PRIMARY KEY (region, "No"));
"""
POLICY = """
[budget]
epsilon = 1.0
delta = 1e-6
[query]
epsilon = 0.1
[unit]
name = "person"
table = "people"
key = "id"
[tables.people]
key = "card"
[tables.orders]
unit = { column = "person" }
rows_per_unit = 5
key = "order_no"
[tables.items]
unit = { column = "order_no", references = "orders.order_no" }
rows_per_unit = 5
[tables.places]
public = true
key = ["region", "No"]
"""


def made() -> Catalogue:
    people = Relation("main", "people", "table", columns(id="INTEGER!", age="INTEGER"), keys=(("id",),))
    visits = Relation(
        *("main", "visits", "table", columns(person="INTEGER!", cost="DOUBLE")),
        reference=Reference(("person",), "people", ("id",)),
    )
    places = Relation(
        *("main", "Places", "table", columns(a="INTEGER!", b="INTEGER!", c="VARCHAR!")),
        keys=(("a", "b"), ("c",)),
    )
    return Catalogue("x", "ana", [people, visits, places])


def test_constraints_are_written_as_postgresql_writes_them() -> None:
    asked = (
        "SELECT conrelid::regclass, conname, contype, pg_get_constraintdef(oid, true), conkey "
        "FROM pg_constraint ORDER BY oid"
    )
    assert made().answer(asked).rows == (
        ("people", "people_pkey", "p", "PRIMARY KEY (id)", [1]),
        ("Places", "Places_pkey", "p", "PRIMARY KEY (a, b)", [1, 2]),
        ("Places", "Places_c_key", "u", "UNIQUE (c)", [3]),
        ("visits", "visits_person_fkey", "f", "FOREIGN KEY (person) REFERENCES people(id)", [1]),
    )
    asked = (
        "SELECT pg_get_indexdef(indexrelid), pg_get_indexdef(indexrelid, 2, false) "
        "FROM pg_index ORDER BY indexrelid"
    )
    assert made().answer(asked).rows == (
        ("CREATE UNIQUE INDEX people_pkey ON public.people USING btree (id)", None),
        ('CREATE UNIQUE INDEX "Places_pkey" ON public."Places" USING btree (a, b)', "b"),
        ('CREATE UNIQUE INDEX "Places_c_key" ON public."Places" USING btree (c)', None),
    )


def test_psql_asks_for_foreign_keys_where_there_are_any() -> None:
    """PostgreSQL's tables on both sides of one have triggers; psql reads nothing of them without."""
    asked = "SELECT relname, relhastriggers FROM pg_class WHERE relkind = 'r' ORDER BY oid"
    assert made().answer(asked).rows == (("people", True), ("visits", True), ("Places", False))
    asked = (
        "SELECT conname FROM pg_constraint WHERE confrelid IN (SELECT pg_partition_ancestors('people') "
        "UNION ALL VALUES ('people'::regclass))"
    )
    assert made().answer(asked).rows == (("visits_person_fkey",),)


def test_information_schema_says_the_same() -> None:
    asked = (
        "SELECT t.table_name, t.constraint_type, k.column_name, k.ordinal_position, u.table_name, "
        "u.column_name "
        "FROM information_schema.table_constraints t "
        "JOIN information_schema.key_column_usage k USING (constraint_name) "
        "JOIN information_schema.constraint_column_usage u USING (constraint_name) "
        "WHERE t.constraint_type <> 'UNIQUE' AND t.table_name <> 'Places' ORDER BY 1"
    )
    assert made().answer(asked).rows == (
        ("people", "PRIMARY KEY", "id", 1, "people", "id"),
        ("visits", "FOREIGN KEY", "person", 1, "people", "id"),
    )
    asked = "SELECT constraint_name, unique_constraint_name FROM information_schema.referential_constraints"
    assert made().answer(asked).rows == (("visits_person_fkey", "people_pkey"),)


def test_a_key_of_a_private_table_that_nothing_names_is_not_said(tmp_path: Path) -> None:
    """The policy's link names orders.order_no; a person's card and an order's serial are named by nothing."""
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as owner:
        owner.execute(DATA)
    (tmp_path / "shop.toml").write_text(POLICY)
    with dpsql.connect(tmp_path / "shop.duckdb") as db:
        known = {each.name: each.keys for each in db.tables}
        assert ("card",) in known["people"], "the policy does, and the table's page shows it"
        relations = {each.name: each for each in relations_of(db)}
    assert {name: each.keys for name, each in relations.items()} == {
        "people": (("id",),),
        "orders": (("order_no",),),
        "items": (),
        "places": (("region", "No"),),
    }
    assert relations["items"].reference == Reference(("order_no",), "orders", ("order_no",))
    assert relations["orders"].reference == Reference(("person",), "people", ("id",))


def test_who_may_not_see_a_key_column_sees_no_key(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text() + "\n[analysts.eve]\nepsilon = 1.0\ntables = ['visits.cost']\n")
    with dpsql.connect(clinic, analyst="eve") as connection:
        [relation] = relations_of(connection)
    assert (relation.keys, relation.reference) == ((), None)


@pytest.mark.parametrize("relation", ["pg_constraint", "pg_index", "information_schema.key_column_usage"])
def test_without_keys_there_are_none(relation: str) -> None:
    plain = Catalogue("x", "ana", [Relation("main", "t", "table", columns(a="INTEGER"))])
    assert plain.answer(f"SELECT * FROM {relation}").rows == ()

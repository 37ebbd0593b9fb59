"""The first policy drafted from a schema: it reads back, it fits, it says what is to be decided."""

from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.check import declared_keys, known
from dpsql.policy.draft import draft
from dpsql.policy.model import Policy, unit_text
from dpsql.policy.names import fold
from dpsql.policy.toml_spelling import key, quoted
from dpsql.session.checks import parse_policy


def table(name: str, *columns: str, unique: tuple[tuple[str, ...], ...] = ()) -> FoundTable:
    found = (each.partition(" ") for each in columns)
    return FoundTable(name, tuple(FoundColumn(column, sql, True) for column, _, sql in found), unique)


def drafted(*tables: FoundTable) -> Policy:
    """The draft, read back and held against the catalogue it came from."""
    policy = parse_policy(draft(Catalogue(tables), "db.duckdb"), "db.toml")
    known(policy, Catalogue(tables), {}, set(declared_keys(policy, Catalogue(tables))))
    return policy


def test_a_clinic() -> None:
    text = draft(
        Catalogue(
            (
                table("places", "place_id INTEGER", "name VARCHAR", unique=(("place_id",),)),
                table(
                    "patients",
                    "patient_id INTEGER",
                    "ward ENUM('A', 'it''s')",
                    "born DATE",
                    "note VARCHAR",
                    "well BOOLEAN",
                    unique=(("patient_id",),),
                ),
                table(
                    "visits", "visit_id INTEGER", "patient_id INTEGER", "cost DOUBLE", unique=(("visit_id",),)
                ),
            )
        ),
        "clinic.duckdb",
    )
    assert (
        text.partition("[unit]")[2]
        == """    # decide: whom the promise protects; guessed from names and keys
name = "patient"
table = "patients"
key = "patient_id"
# about = 30_000    # decide: about how many there are ("patient"), if that may be public

# decide: nothing in the schema links this table to "patient". Is it public, or what is its unit?
# [tables.places]
# public = true

[tables.patients]
[tables.patients.columns]    # decide: take out what analysts need not know of
patient_id = { }
ward = { values = ["A", "it's"] }    # decide: public from now on; was it built from the data?
born = { }    # decide: a range, such as { range = [2000-01-01, 2030-12-31] }
# note = { }    # decide: left out, it may name one person
well = { }

[tables.visits]
unit = { column = "patient_id" }    # decide: guessed from the names
rows_per_unit = 10    # decide: where the clipping of one unit's rows starts ("patient")
key = ["visit_id"]    # the database enforces it
[tables.visits.columns]    # decide: take out what analysts need not know of
visit_id = { }    # decide: a range if it is summed, such as { range = [0, 100] }
patient_id = { }
cost = { }    # decide: a range if it is summed, such as { range = [0, 100] }
"""
    )


def test_guesses() -> None:
    tpch = (
        table("lineitem", "l_orderkey BIGINT", "l_partkey BIGINT", "l_suppkey BIGINT"),
        table("orders", "o_orderkey BIGINT", "o_custkey BIGINT"),
        table("nation", "n_nationkey INTEGER", "n_name VARCHAR"),
        table("customer", "c_custkey BIGINT", "c_nationkey INTEGER"),
    )
    assert unit_text(drafted(*tpch)) == (
        "unit customer.c_custkey\nlineitem: l_orderkey -> orders.o_orderkey\norders: o_custkey"
    )
    shop = (
        table("shop.items", "id INTEGER", "basket_id INTEGER", unique=(("id",),)),
        table("shop.baskets", "id INTEGER", "user_id INTEGER", unique=(("id",),)),
        table("shop.users", "id INTEGER", unique=(("id",),)),
    )
    assert unit_text(drafted(*shop)) == (
        'unit "shop.users".id\n"shop.baskets": user_id\n"shop.items": basket_id -> "shop.baskets".id'
    )
    riders = (table("trips", "rider VARCHAR", "km DOUBLE"), table("riders", "rider VARCHAR"))
    assert unit_text(drafted(*riders)) == "unit riders.rider\ntrips: rider"


def test_nothing_to_guess_from() -> None:
    for tables in ((), (table("readings", "at TIMESTAMP", "value DOUBLE"),)):
        policy = parse_policy(draft(Catalogue(tables), "x"), "x.toml")
        assert policy.unit.table == "people"
        assert "# decide" in policy.text


NAMES = st.one_of(
    st.sampled_from(
        ["id", "user_id", "users", "user", "order_id", "orders", "sales.orders", "a b", 'q"q', "it's"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="."), min_size=1, max_size=5),
    st.text("ab_\n\t\x00\x7f\\\"'#[]=é", min_size=1, max_size=5),
)
SQL = st.sampled_from(
    [
        *(
            "INTEGER",
            "BIGINT",
            "VARCHAR",
            "UUID",
            "DOUBLE",
            "DECIMAL(9,2)",
            "DATE",
            "TIMESTAMP",
            "BOOLEAN",
            "TIME",
        ),
        *("JSON", "INTEGER[]", "ENUM('a', 'it''s', '\n\"\\')", "ENUM()", "HUGEINT", "UHUGEINT"),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> FoundTable:
    columns = tuple(
        FoundColumn(name, draw(SQL), draw(st.booleans()), draw(st.sampled_from([None, None, None, "NOCASE"])))
        for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=fold))
    )
    names = [column.name for column in columns]
    unique = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True).map(tuple)
    return FoundTable(draw(NAMES), columns, tuple(draw(st.lists(unique, max_size=2))))


@given(st.lists(tables(), max_size=4, unique_by=lambda each: fold(each.name)), NAMES)
@settings(max_examples=250, deadline=None)
def test_every_draft_is_a_policy(found: list[FoundTable], name: str) -> None:
    """It reads; and it fits its own catalogue, unless the kinds of two guessed columns clash."""
    policy = parse_policy(draft(Catalogue(tuple(found)), name), "draft.toml")
    if policy.unit.table is None or fold(policy.unit.table) in {fold(each.name) for each in found}:
        wide = {column.sql for each in found for column in each.columns} >= {"HUGEINT", "UHUGEINT"}
        if not wide:
            keys = declared_keys(policy, Catalogue(tuple(found)))
            known(policy, Catalogue(tuple(found)), {}, set(keys))
        guessed = ("[unit]", "unit = ", "rows_per_unit = ")
        assert all("# decide" in line for line in policy.text.split("\n") if line.startswith(guessed))


@given(st.text())
def test_a_name_is_spelled_on_one_line_without_signs_for_a_terminal(name: str) -> None:
    assert quoted(name).isprintable()
    assert tomllib.loads(f"{key(name)} = {quoted(name)}") == {name: name}

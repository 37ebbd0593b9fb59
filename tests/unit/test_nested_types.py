"""The parts of nested types, from DuckDB's own spelling of them."""

from __future__ import annotations

import duckdb
import pytest

from dpsql.ir.column import INTEGER, VARCHAR, Sized, Type, entry_types, field_types, item_type, type_named
from dpsql.policy.domain import Mismatch, size_of


def spelled(declared: str) -> Type:
    """A type as DuckDB spells it in its catalogue."""
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t (x {declared})")
        found = database.execute("SELECT data_type FROM duckdb_columns()").fetchone()
    assert found is not None
    return type_named(found[0])


def test_items_of_lists() -> None:
    assert item_type(spelled("INTEGER[]")) == INTEGER
    assert item_type(spelled("VARCHAR[][]")) == type_named("VARCHAR[]")
    assert item_type(spelled("STRUCT(a INTEGER, b VARCHAR)[]")) == spelled("STRUCT(a INTEGER, b VARCHAR)")
    assert item_type(spelled("ENUM('a', 'b[]')[]")) == spelled("ENUM('a', 'b[]')")


@pytest.mark.parametrize("other", ["JSON", "INTEGER[3]", "MAP(VARCHAR, INTEGER)", "STRUCT(a INTEGER[])"])
def test_no_lists(other: str) -> None:
    assert item_type(spelled(other)) is None


def test_declared_lengths_are_of_texts_and_lists() -> None:
    assert size_of(VARCHAR, 7) == size_of(spelled("DOUBLE[]"), 7) == Sized(7)
    for other in (INTEGER, spelled("JSON"), spelled("DATE")):
        with pytest.raises(Mismatch, match="has no length"):
            size_of(other, 7)


def test_entries_of_maps() -> None:
    assert entry_types(spelled("MAP(VARCHAR, INTEGER)")) == (VARCHAR, INTEGER)
    nested = spelled("MAP(ENUM('a, b', 'c'), MAP(VARCHAR, DECIMAL(9, 2)))")
    assert entry_types(nested) == (spelled("ENUM('a, b', 'c')"), spelled("MAP(VARCHAR, DECIMAL(9, 2))"))
    assert entry_types(VARCHAR) is None
    assert entry_types(spelled("STRUCT(a INTEGER, b VARCHAR)")) is None


def test_fields_of_structs() -> None:
    inner = "STRUCT(y DECIMAL(4, 1))"
    whole = spelled(f"""STRUCT(a INTEGER, "b, c" VARCHAR, "say ""x"" y" {inner}, e ENUM('p, q'))""")
    assert field_types(whole) == {
        "a": INTEGER,
        "b, c": VARCHAR,
        'say "x" y': spelled(inner),
        "e": spelled("ENUM('p, q')"),
    }
    assert field_types(spelled("MAP(VARCHAR, INTEGER)")) == {}

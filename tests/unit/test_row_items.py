"""Rows of the items of a list: those of DuckDB's own UNNEST, cut, and as many as the facts say."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from dpsql.bind.private.row_items import with_items
from dpsql.bind.scope.scope import Fresh
from dpsql.engines.relation_sql import relation_sql
from dpsql.facts.list_items import items_counted
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.unit_mass import mass_of
from dpsql.ir.column import INTEGER, Fact, type_named
from dpsql.ir.relation import Owner, Project, Relation, Scan, ScanColumn
from dpsql.ir.scalar import Ref
from dpsql.policy.catalogue import Known

KNOWN = Known("patient", "id", INTEGER, (), timezone="UTC")
ITEMS = {
    "VARCHAR": ("'a'", "'a longer text than a register holds'", "''", "NULL"),
    "DOUBLE": ("1.5", "'nan'", "-0.0", "NULL"),
    "VARCHAR[]": ("[]", "['x', NULL]", "NULL"),
}


def scanned(item: str) -> Scan:
    """One row of each unit, with a list."""
    columns = (
        ScanColumn("id", "id", Fact(INTEGER, nullable=False)),
        ScanColumn("items", "items", Fact(type_named(f"{item}[]"))),
    )
    owner = Owner("id", Fact(INTEGER, nullable=False), "id", (), 1, 1, filled=True)
    return Scan("t", columns, (("id",),), owner)


def grown(item: str, most: int, left: bool) -> tuple[Relation, Ref]:
    return with_items(scanned(item), Ref("items"), most, left, KNOWN, Fresh(("id", "items")), None)


@pytest.fixture(params=ITEMS)
def held(request: pytest.FixtureRequest) -> Iterator[tuple[str, duckdb.DuckDBPyConnection]]:
    """Rows with lists of none to fourteen items, some NULL; the seed is fixed."""
    draw, item = random.Random(7), request.param
    written = [f"CAST({each} AS {item})" for each in ITEMS[item]]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (id INTEGER, items {item}[])")
    lengths = (draw.choice((0, 1, 2, 14)) if draw.random() < 0.9 else None for _ in range(400))
    lists = (
        "NULL" if length is None else f"[{', '.join(draw.choices(written, k=length))}]" for length in lengths
    )
    rows = ", ".join(f"({number}, {each})" for number, each in enumerate(lists))
    connection.execute(f"INSERT INTO t VALUES {rows}")
    yield item, connection
    connection.close()


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("most", [1, 3, 20])
def test_rows_are_those_of_unnest(held: tuple[str, duckdb.DuckDBPyConnection], most: int, left: bool) -> None:
    """As often as DuckDB gives them; a number that is shown as text tells -0.0 from 0.0."""
    item, connection = held
    relation, column = grown(item, most, left)
    counted = "SELECT id, CAST(x AS VARCHAR) AS x, COUNT(*) FROM ({}) GROUP BY ALL ORDER BY ALL"
    ours = connection.execute(
        counted.format(f'SELECT id, "{column.name}" AS x FROM ({relation_sql(relation)})')
    ).fetchall()
    join = "LEFT JOIN" if left else "JOIN"
    plain = f"SELECT id, x FROM t {join} unnest(items[1:{most}]) AS u(x) ON true"
    assert ours == connection.execute(counted.format(plain)).fetchall()


@pytest.mark.parametrize("most", [1, 3, 20])
def test_facts_say_at_most_so_many_rows(most: int) -> None:
    """A unit's one row becomes ``most``; only one item leaves the row's key a key, and settles nothing."""
    relation, column = grown("VARCHAR", most, left=False)
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    assert (owned.rows, owned.at_most, owned.fan) == (most, most, most)
    assert bool(owned.row_keys) == (most == 1)
    assert column.name not in owned.settled
    assert items_counted(relation) == (most,)


def test_a_list_of_a_list() -> None:
    """Two lists multiply: the pairs of their items."""
    first, column = grown("VARCHAR[]", 4, left=True)
    both, _ = with_items(first, column, 5, True, KNOWN, Fresh(("id", "items", "place", "item")), None)
    owned = ownership_of(both)
    assert isinstance(owned, Owned)
    assert owned.at_most == 20
    assert items_counted(both) == (4, 5)
    assert isinstance(both, Project)
    assert mass_of(both, Ref("id")) is None

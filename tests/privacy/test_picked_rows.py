"""An aggregate that picks a row of a unit gives the same whatever rows others have, and wherever they lie.

DuckDB's own ARG_MIN breaks ties by place: where rows lie otherwise it changes for hundreds of units.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import shuffled, without
from dpsql.engines.relation_sql import relation_sql

UNITS, REMOVED = 2_001, 7
POLICY = """
[budget]
epsilon = 10.0
delta = 1e-6
[query]
epsilon = 1.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people]
[tables.visits]
unit = { column = "id" }
rows_per_unit = 8
[tables.visits.columns]
x = { range = [-5, 5] }
y = {}
t = {}
e = {}
d = {}
v = {}
"""
ROWS = """
CREATE TYPE size AS ENUM ('small', 'big');
CREATE TABLE people AS SELECT i::INTEGER AS id FROM range(2001) AS r(i);
CREATE TABLE visits AS
SELECT
    (i // 8 * 7919 % 2001)::INTEGER AS id,
    [NULL, 'nan'::DOUBLE, -0.0, 0.0, 1.5, -2][1 + (hash(i) % 6)::INTEGER] AS x,
    [NULL, 'nan'::DOUBLE, -'nan'::DOUBLE, -0.0, 0.0][1 + (hash(i, 1) % 5)::INTEGER] AS y,
    ['a', 'A', 'a ', 'é', NULL][1 + (hash(i, 2) % 5)::INTEGER] AS t,
    ['small', 'big', NULL][1 + (hash(i, 3) % 3)::INTEGER]::size AS e,
    [DATE '2024-01-01', 'infinity'::DATE, NULL][1 + (hash(i, 4) % 3)::INTEGER] AS d,
    [INTERVAL 30 DAY, INTERVAL 1 MONTH][1 + (hash(i, 5) % 2)::INTEGER] AS v
FROM range(8 * 2001) AS r(i);
"""
PICKED = (
    "ARG_MIN(t, y)",
    "ARG_MAX(t, x)",
    "ARG_MIN(x, e)",
    "ARG_MAX_NULL(e, y)",
    "ARG_MIN_NULLS_LAST(d, e)",
    "FIRST(t ORDER BY y)",
    "FIRST(x ORDER BY t DESC NULLS FIRST)",
    "LAST(e ORDER BY x, y)",
    "ANY_VALUE(t)",
    "ANY_VALUE(x ORDER BY d)",
    "ARBITRARY(d ORDER BY lower(t))",
    "STRING_AGG(t, '>' ORDER BY y)",
    "STRING_AGG(e, '' ORDER BY x DESC)",
    "MODE(t)",
    "MODE(x)",
    "MODE(e ORDER BY y)",
    "MODE(d) FILTER (WHERE t <> 'a')",
    "FIRST(v ORDER BY x)",
    "ARG_MAX(v, e)",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database, three with its rows in other orders, and one without a unit, in another order too."""
    folder = tmp_path_factory.mktemp("picked")
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute(ROWS)
    (folder / "d.toml").write_text(POLICY)
    with dpsql.connect(folder / "d.duckdb") as db:
        known = db._open().known
    for salt in (0, 1, 2):
        shuffled(folder / "d.duckdb", folder / f"{salt}.duckdb", known, salt)
    without(folder / "d.duckdb", folder / "lacking.duckdb", known, REMOVED)
    shuffled(folder / "lacking.duckdb", folder / "less.duckdb", known, 3)
    return folder


@pytest.fixture(scope="module")
def owner(folder: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(folder / "d.duckdb") as db:
        yield db


def values(path: Path, threads: int, rows: str) -> dict[int, str | None]:
    """The value of each unit, as text, so that one NaN is like another and -0.0 is not 0.0."""
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute(f"SET threads = {threads}")
        shown = f"SELECT unit, CAST(value AS VARCHAR) FROM ({rows}) AS r(unit, value)"
        return dict(connection.execute(shown).fetchall())


@pytest.mark.parametrize("picked", PICKED)
def test_a_picked_value_depends_on_the_rows_of_its_unit_alone(
    folder: Path, owner: dpsql.Connection, picked: str
) -> None:
    asked = f"SELECT COUNT(m) FROM (SELECT id, {picked} AS m FROM visits GROUP BY id)"
    (planned,) = plan_of(owner._open(), asked, 1.0).stages[0].measures
    rows = relation_sql(planned.measure.relation)
    first = values(folder / "0.duckdb", 1, rows)
    assert len(first) == UNITS
    assert len(set(first.values())) > 1
    for name, threads in (("0", 4), ("1", 1), ("2", 3)):
        assert values(folder / f"{name}.duckdb", threads, rows) == first
    less = values(folder / "less.duckdb", 2, rows)
    assert less == {unit: value for unit, value in first.items() if unit != REMOVED}


@pytest.mark.parametrize("picked", ["arg_min(t, y)", "mode(t)", "any_value(t)", "first(t ORDER BY y)"])
def test_duckdbs_own_depends_on_where_rows_lie(folder: Path, picked: str) -> None:
    """Or the test above would show nothing."""
    rows = f"SELECT id, {picked} FROM visits GROUP BY id"
    first, less = (values(folder / f"{name}.duckdb", 1, rows) for name in ("2", "less"))
    assert sum(first[unit] != value for unit, value in less.items()) > 100


def test_orders_make_plans_of_their_own(owner: dpsql.Connection) -> None:
    """A repeat shows the first answer again, so plans that pick other rows must not be taken for one."""
    orders = ("y", "y DESC", "y NULLS FIRST", "e", "y, e")
    asked = "SELECT COUNT(m) FROM (SELECT id, FIRST(t ORDER BY {}) AS m FROM visits GROUP BY id)"
    assert len({owner.price(asked.format(order)).digest for order in orders}) == len(orders)

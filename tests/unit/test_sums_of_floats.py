"""Floats of a unit are added up in steps of a grid, which are the same however the value is printed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from dpsql.aggregates.sum import grid_of, on_grid
from dpsql.ir.column import Fact, Interval, Kind, Type

STEP = 2.0**-40
EDGES = (
    *(0.0, -0.0, 1.0, 2.0, -1.0, 1e308, -1e308, 5e-324, 2.0000000000000004, 1.9999999999999998),
    *(float("nan"), float("inf"), float("-inf"), None),
    *(sign * (k + 0.5) * STEP for k in range(200) for sign in (1, -1)),
)


@pytest.fixture(scope="module", params=["DOUBLE", "FLOAT"])
def plain(request: pytest.FixtureRequest) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    drawn = random.Random(1)
    values = [*EDGES, *(drawn.uniform(-5, 5) for _ in range(5_000))]
    with duckdb.connect() as connection:
        read = f"SELECT TRY_CAST(unnest(?::DOUBLE[]) AS {request.param}) AS x"
        connection.execute(f"CREATE TABLE t AS {read}", [values])
        yield connection, request.param


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-1, 1), (-3, -1), (0, 0), (1, 1e6), (-1e3, 1e3)])
def test_a_column_is_cut_as_what_is_computed_is(
    plain: tuple[duckdb.DuckDBPyConnection, str], low: float, high: float
) -> None:
    connection, kind = plain
    fact = Fact(Type(Kind.FLOAT, kind), Interval(low, high), nullable=True)
    column, computed = (on_grid(argument, fact)[1] for argument in ('"x"', '("x")'))
    assert column != computed
    counted = f"count(*), count(*) FILTER (({column}) IS DISTINCT FROM ({computed})), count({column})"
    ends = f"min({column}) >= {low / grid_of(fact)[0]!r}, max({column}) <= {high / grid_of(fact)[0]!r}"
    [found] = connection.execute(f"SELECT {counted}, {ends} FROM t").fetchall()
    assert found[0] > found[2] > 5_000  # NULL and NaN are not added up
    assert (found[1], *found[3:]) == (0, True, True)

"""Running totals from noise on sums of runs of groups: how exact they are, how far one unit moves them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql import audit
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity, without_noise
from dpsql.detail_kinds import Draw
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import MeasurePlan, Norm, Shape
from dpsql.ir.table import ExactTable
from dpsql.mechanisms import mechanism, prefix
from dpsql.post.finish import finish
from dpsql.release.matrices import measured
from dpsql.release.release import release

GRID = 2**20

# ---- the matrices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "branching", "expected"),
    [
        # root mean squared error of a running total, in 1/epsilon: column norm * sqrt(2 * mean variance).
        # Trees with their root, as they are usually told, have 7.3, 10.1 and 13.2 (branching 4) and 7.8, 9.8
        # and 13.6 (16), one group after the other 8.1, 16.0 and 32.0 = sqrt(groups + 1).
        (64, 4, 6.64),
        (64, 16, 5.94),
        (256, 4, 9.46),
        (256, 8, 8.45),
        (256, 16, 8.97),
        (1024, 16, 11.01),
    ],
)
def test_laplace_error(groups: int, branching: int, expected: float) -> None:
    totals = prefix.variances(branching, groups)[1]
    found = prefix.column(branching, groups, Norm.L1) * math.sqrt(2 * totals.mean())
    assert found == pytest.approx(expected, abs=0.005)
    assert found < math.sqrt(groups + 1)


@pytest.mark.parametrize(("groups", "expected"), [(64, 2.23), (256, 2.67), (1024, 3.11)])
def test_gaussian_error(groups: int, expected: float) -> None:
    """In deviations per unit of sensitivity; one group after the other has sqrt((groups + 1) / 2)."""
    totals = prefix.variances(prefix.ROOT, groups)[1]
    found = prefix.column(prefix.ROOT, groups, Norm.L2) * math.sqrt(totals.mean())
    assert found == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("branching", [*prefix.BRANCHINGS, prefix.ROOT])
@pytest.mark.parametrize("groups", [2, 3, 5, 16, 17, 100])
def test_columns_bound_what_a_unit_moves(branching: int, groups: int) -> None:
    """A of a vector is within its L1 norm times the norm of the largest column; of one group, exactly so."""
    chosen = np.random.default_rng(groups)
    found = prefix.matrix(branching, groups)
    for _ in range(50):
        vector = chosen.integers(-(2**40), 2**40, groups) * chosen.integers(0, 2, groups)
        moved = prefix.measured(branching, vector.tolist())
        assert moved == [int(n) for n in found.astype(object) @ vector.astype(object)]
        whole = sum(abs(int(n)) for n in vector)
        assert sum(map(abs, moved)) <= whole * prefix.column(branching, groups, Norm.L1)
        assert sum(n * n for n in moved) <= (whole * prefix.column(branching, groups, Norm.L2)) ** 2
    alone = max(
        sum(abs(n) for n in prefix.measured(branching, [7 * (i == j) for j in range(groups)]))
        for i in range(groups)
    )
    assert alone == 7 * prefix.column(branching, groups, Norm.L1)


@pytest.mark.parametrize("branching", [*prefix.BRANCHINGS, prefix.ROOT])
def test_without_noise_the_groups_come_back(branching: int) -> None:
    groups = (np.random.default_rng(1).integers(-100, 100_000, 300) * GRID).tolist()
    found = prefix.groups_from(branching, 300, prefix.measured(branching, groups), GRID)
    assert found.tolist() == groups


def test_roundings_do_not_add_up() -> None:
    """Groups of a half each: totals are whole numbers beside 0.5, 1, 1.5..., never further than a half."""
    halves = [GRID // 2] * 200
    found = prefix.groups_from(4, 200, prefix.measured(4, halves), GRID)
    assert all(n % GRID == 0 for n in found.tolist())
    assert np.abs(np.cumsum(found) - np.cumsum(halves)).max() <= GRID // 2


# ---- in a query ------------------------------------------------------------------------------------------

POLICY = """\
[budget]
epsilon = 1000.0
delta = {delta}
accountant = "{accountant}"
[query]
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = {{ range = [0, 254] }}
[tables.visits]
unit = {{ column = "id" }}
rows_per_unit = 4
[tables.visits.columns]
day = {{ range = [0, 63] }}
paid = {{ range = [0, 50] }}
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People of all ages, and visits; person 1 has 300 visits, on all days, and a neighbour without them."""
    folder = tmp_path_factory.mktemp("prefix")
    for name, fewer in (("whole", ""), ("fewer", "DELETE FROM visits WHERE id = 1")):
        with duckdb.connect(str(folder / f"{name}.duckdb")) as connection:
            connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER)")
            connection.execute("INSERT INTO people SELECT i, nullif(i % 260, 7) FROM range(1000) t(i)")
            connection.execute("CREATE TABLE visits (id INTEGER, day INTEGER, paid INTEGER)")
            connection.execute("INSERT INTO visits SELECT i % 400 + 2, i % 67, i % 60 FROM range(800) t(i)")
            connection.execute("INSERT INTO visits SELECT 1, i % 64, 50 FROM range(300) t(i)")
            if fewer:
                connection.execute(fewer)
    for accountant, delta in (("pure", 0.0), ("zcdp", 1e-6)):
        (folder / f"{accountant}.toml").write_text(POLICY.format(accountant=accountant, delta=delta))
    return folder


@pytest.fixture(scope="module", params=["pure", "zcdp"])
def db(request: pytest.FixtureRequest, database: Path) -> Iterator[dpsql.Connection]:
    name: str = request.param
    with dpsql.connect(
        database / "whole.duckdb", database / f"{name}.toml", database / f"{name}.ledger"
    ) as connection:
        yield connection


@pytest.fixture(scope="module")
def plain(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database / 'whole.duckdb'}' AS other (READ_ONLY)")
        connection.execute("USE other")
        yield connection


def seeded(words: random.Random) -> Draw:
    return lambda noise, size: mechanism(noise.mechanism).draw(noise.scale, size, words.randbytes)


def planned(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return each


AGES = "SELECT age // 1 AS a, SUM(COUNT(*)) OVER (ORDER BY age // 1) AS n FROM people GROUP BY 1"
DAYS = "SELECT day // 1 AS d, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY d) AS m FROM visits GROUP BY 1"
PAID = "SELECT day // 1 AS d, SUM(SUM(paid)) OVER (ORDER BY d DESC) AS m FROM visits GROUP BY 1"


def test_the_plan_says_what_is_measured(db: dpsql.Connection) -> None:
    """256 groups: ages, and NULL."""
    each = planned(db, AGES)
    assert each.runs is not None
    assert (each.runs.groups, each.runs.clip, each.runs.unit) == (256, GRID, GRID)
    if each.noise.mechanism == "laplace":
        assert (each.runs.branching, each.runs.column, each.noise.sensitivity) == (8, 3, 3 * GRID)
        assert each.noise.scale == pytest.approx(3 * GRID)
    else:
        assert each.runs.branching == prefix.ROOT
        assert each.noise.sensitivity == GRID * each.runs.column
    assert "least squares, since running totals are asked for" in str(db.explain(AGES))


@pytest.mark.parametrize("sql", [AGES, DAYS, PAID])
def test_meaning(db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Without person 1, whose visits are scaled down, and what is not on the lists."""
    few = sql.replace("FROM visits", "FROM (SELECT * FROM visits WHERE id > 1 AND day < 64)")
    few = few.replace("FROM people", "FROM (SELECT * FROM people WHERE age < 255 OR age IS NULL)")
    ours = {row[0]: row for row in without_noise(db, few, 1.0)}
    theirs = plain.execute(few.replace("SUM(paid)", "SUM(LEAST(paid, 50))")).fetchall()
    assert planned(db, few).runs is not None
    assert len(theirs) >= 64
    assert all(ours[row[0]] == row for row in theirs)


@pytest.mark.parametrize("sql", [DAYS, PAID])
def test_one_unit_moves_no_more_than_is_declared(db: dpsql.Connection, database: Path, sql: str) -> None:
    each = planned(db, sql)
    assert each.runs is not None
    assert each.shape in (Shape.L1, Shape.CELLS)
    whole, fewer = DuckDB(database / "whole.duckdb"), DuckDB(database / "fewer.duckdb")
    plan = plan_of(db._open(), sql, 1.0)
    assert sensitivity(plan, whole, [("person 1", fewer)]) == []
    ours, theirs = (measured(engine.measure(each), each) for engine in (whole, fewer))
    moved = [a - b for a, b in zip(ours, theirs, strict=True)]
    power = each.noise.norm.value
    assert sum(abs(n) ** power for n in moved) > (each.noise.sensitivity // 4) ** power
    (report,) = audit.measure(db, sql)
    (noise,) = report.noises
    assert (noise.norm, noise.sensitivity) == (1, each.runs.clip)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age // 1 AS a, COUNT(*) AS n FROM people GROUP BY 1",
        "SELECT age // 1 AS a, SUM(COUNT(*)) OVER (ORDER BY COUNT(*)) AS n FROM people GROUP BY 1",
        "SELECT age // 1 AS a, SUM(COUNT(*)) OVER (PARTITION BY a ORDER BY a) AS n FROM people GROUP BY 1",
        "SELECT age // 1 AS a, SUM(COUNT(*)) OVER (ORDER BY a ROWS 2 PRECEDING) AS n FROM people GROUP BY 1",
        "SELECT age // 1 AS a, AVG(COUNT(*)) OVER (ORDER BY a) AS n FROM people GROUP BY 1",
        "SELECT age // 1 AS a, SUM(COUNT(*)) OVER (ORDER BY a) AS n, AVG(age) AS m FROM people GROUP BY 1",
        "SELECT age // 1 AS a, SUM(COUNT(*)) OVER (ORDER BY a) AS n FROM people GROUP BY ROLLUP (1)",
        "SELECT age // 1 AS a, day // 1 AS b, SUM(COUNT(*)) OVER (ORDER BY a) AS n "
        "FROM people JOIN visits USING (id) GROUP BY ALL",
    ],
)
def test_other_shapes_are_measured_as_they_are(db: dpsql.Connection, sql: str) -> None:
    assert planned(db, sql).runs is None


@pytest.mark.parametrize("sql", [AGES, AGES.replace(") AS n", " ROWS UNBOUNDED PRECEDING) AS n")])
def test_error_of_what_is_released(db: dpsql.Connection, sql: str) -> None:
    """Over 60 releases of 256 totals, the mean squared error is what the plan expects.

    A release's mean over its totals is led by few large errors: its relative deviation is below 1, that of
    the mean over 60 releases below 0.13. The bytes are seeded: nothing fails by chance.
    """
    words = random.Random(sql)
    each = planned(db, sql)
    assert each.runs is not None
    found = []
    for _ in range(60):
        nothing = ExactTable([], np.zeros((0, 1), dtype=np.int64))
        table = release(nothing, each, seeded(words))
        (values,) = (column.values for column in finish(table, each)[1:])
        found.append(np.mean(np.cumsum(np.array(values, dtype=np.float64)) ** 2))
    deviation = mechanism(each.noise.mechanism).deviation(each.noise.scale) / GRID
    expected = prefix.variances(each.runs.branching, 256)[1].mean() * deviation**2 + 1 / 12
    assert 0.35 < np.mean(found) / expected < 1.65


def test_margins_of_groups(db: dpsql.Connection) -> None:
    """A group's half-width holds the noise of 95 % of 1,280 groups, or more: 91 % are 6.5 deviations less.

    The bytes are seeded: nothing fails by chance.
    """
    words = random.Random("groups")
    each = planned(db, DAYS)
    assert each.runs is not None
    inside, count = 0, 0
    for _ in range(20):
        table = release(ExactTable([], np.zeros((0, 1), dtype=np.int64)), each, seeded(words))
        (column,) = finish(table, each)[1:]
        assert column.margins is not None
        inside += int((np.abs(np.array(column.values, dtype=np.float64)) <= column.margins).sum())
        count += len(column.values)
    assert 0.91 < inside / count <= 1

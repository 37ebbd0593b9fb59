"""Overlapping conditions: what their numbers cost together, and that no row counts more than is declared."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest
from conditions import COLUMNS, argument, condition, make, policy

import dpsql
from dpsql import audit
from dpsql.audit import plan_of
from dpsql.audit.oracles import without_noise
from dpsql.ir.plan import MeasurePlan, Norm
from dpsql.ir.statistic import Part
from dpsql.ir.table import ExactTable
from dpsql.mechanisms import mechanism
from dpsql.post.finish import finish
from dpsql.release.release import from_system, release

GRID = 2**20
ROWS = 300


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("atoms") / "people.duckdb"
    make(path, ROWS)
    pure = policy(ROWS).replace("delta = 1e-6", 'delta = 0.0\naccountant = "pure"')
    path.with_name("pure.toml").write_text(pure)
    return path


@pytest.fixture(scope="module")
def zcdp(database: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(database) as connection:
        yield connection


@pytest.fixture(scope="module")
def pure(database: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(
        database, database.with_name("pure.toml"), database.with_name("pure.ledger")
    ) as connection:
        yield connection


@pytest.fixture(scope="module")
def plain(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{database}' AS other (READ_ONLY)")
        connection.execute("USE other")
        yield connection


def planned(db: dpsql.Connection, sql: str, epsilon: float = 1.0) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, epsilon).stages[0].measures
    return each


def counts(*conditions: str, by: str = "") -> str:
    listed = [f"COUNT(*) FILTER (WHERE {each})" for each in conditions]
    asked = ", ".join([by, *listed] if by else listed)
    return f"SELECT {asked} FROM people {by and f'GROUP BY {by}'}"


def variances(each: MeasurePlan) -> list[float]:
    """Of every number, from the plan."""
    one = mechanism(each.noise.mechanism).deviation(each.noise.scale) / GRID
    return [len(cells) * one**2 for finish in each.measure.finishes for cells in finish.statistics]


CLASSIC = ("s = 'a'", "s = 'a' AND x < 2", "s = 'b'", "s = 'b' AND x < 2")
NESTED = ("x < 18.5", "x < 25", "x < 30", "true")
CROSSING = ("true", "s = 'a'", "x < 25", "s = 'a' AND x < 25")


@pytest.mark.parametrize(
    ("conditions", "cells", "total"),
    [
        # one row is in one cell: 2/epsilon^2 for each cell of each number, where four counts of which three
        # or four go together would have 4 * 2 * 4^2/epsilon^2 = 128/epsilon^2
        (CLASSIC, [2, 1, 2, 1], 12),
        (NESTED, [1, 2, 3, 4], 20),
        (CROSSING, [4, 2, 2, 1], 18),
        (("s = 'a'", "s = 'b'", "s = 'c'"), [1, 1, 1], 6),
        (("i < 1", "i >= 1", "i IS NULL", "true"), [1, 1, 1, 3], 12),
        (("n < 1", "n >= 1", "true"), [1, 1, 2], 8),
    ],
)
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_error_of_disjoint_cells(
    pure: dpsql.Connection, conditions: tuple[str, ...], cells: list[int], total: int, epsilon: float
) -> None:
    each = planned(pure, counts(*conditions), epsilon)
    assert each.noise.sensitivity == GRID
    (one,) = {round(found / number, 9) for found, number in zip(variances(each), cells, strict=True)}
    assert one <= 2 / epsilon**2 + 1e-6  # whole noise on counts has a little less than Laplace noise
    assert sum(variances(each)) == pytest.approx(sum(cells) * one)
    assert total == 2 * sum(cells)


def test_the_classic_example_as_it_is_released(pure: dpsql.Connection) -> None:
    """Males, males below a BMI of 25, and the same of females: at most 24/epsilon^2 in all, 12 expected.

    With a and b the Laplace noises of two cells, (a + b)^2 + a^2 has a variance of 116/epsilon^4 (E a^2 = 2,
    E a^4 = 24); two of these over 8,100 groups leave the mean a deviation of 0.17, and nine of them are less
    than 1.6. False alarms: below one in 10^12, with room for the tails.
    """
    each = planned(pure, counts(*CLASSIC, by="k"))
    repeats = 27
    total = 0.0
    for _ in range(repeats):
        nothing = ExactTable([], np.zeros((0, len(each.measure.statistics)), dtype=np.int64))
        table = release(nothing, each, from_system)
        assert len(table.groups) == ROWS
        noise = table.sums / GRID
        numbers = [noise[:, list(cells)].sum(axis=1) for f in each.measure.finishes for cells in f.statistics]
        total += float(sum((number**2).sum() for number in numbers))
    expected = sum(variances(each))
    assert expected <= 12 + 1e-6
    assert abs(total / (repeats * ROWS) - expected) < 1.6


def test_what_is_shown_is_the_sum_of_its_cells(pure: dpsql.Connection) -> None:
    each = planned(pure, counts(*CLASSIC))
    cells = np.array([[5, 7, 11, 13]], dtype=np.int64) * GRID
    table = release(ExactTable([()], cells), each, lambda noise, size: np.zeros(size, dtype=np.int64))
    by_cell = {
        number: sum((5, 7, 11, 13)[i] for i in number)
        for f in each.measure.finishes
        for number in f.statistics
    }
    shown = [column.values for column in finish(table, each)]
    assert shown == [[by_cell[f.statistics[0]]] for f in each.measure.finishes]


def test_margins_of_sums_are_wider(pure: dpsql.Connection) -> None:
    """Two Laplace draws of scale 1 reach 4.1 in 95 %: (1 + w/2) exp(-w) = 0.05 at w = 3.82, and rounding."""
    each = planned(pure, counts(*CLASSIC))
    nothing = ExactTable([()], np.zeros((1, len(each.measure.statistics)), dtype=np.int64))
    widths = [column.margins for column in finish(release(nothing, each, from_system), each)]
    assert all(width is not None for width in widths)
    both, one = (float(width[0]) for width in widths[:2] if width is not None)
    assert one == 3
    assert 3 < both <= 5


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT AVG(n) FILTER (WHERE s = 'a'), AVG(n) FILTER (WHERE s = 'b') FROM people", 1),
        ("SELECT AVG(n) FILTER (WHERE s = 'a'), COUNT(*) FILTER (WHERE s = 'b') FROM people", 1),
        ("SELECT AVG(n) FILTER (WHERE b), SUM(i) FILTER (WHERE NOT b), COUNT_IF(b IS NULL) FROM people", 1),
        ("SELECT SUM(CASE WHEN b THEN n ELSE 0 END), SUM(CASE WHEN b THEN 0 ELSE i END) FROM people", 1),
        ("SELECT SUM(n * CASE WHEN b THEN 1 ELSE 0 END), SUM(i * (NOT b)::INT) FROM people", 1),
        ("SELECT AVG(n) FILTER (i < 1), AVG(x) FILTER (i < 2), AVG(d) FILTER (i >= 1) FROM people", 2),
        ("SELECT AVG(n) FILTER (WHERE i % 2 = 0), AVG(d) FILTER (WHERE i % 3 = 0) FROM people", 2),
        ("SELECT SUM(n), SUM(n) FILTER (WHERE b), SUM(n) FILTER (WHERE NOT b) FROM people", 1),
        ("SELECT SUM(b), SUM((NOT b)::INT), COUNT(CASE WHEN b IS NULL THEN 1 END) FROM people", 1),
        ("SELECT k, AVG(n) FILTER (WHERE s = 'a'), AVG(n) FILTER (WHERE s = 'b') FROM people GROUP BY k", 1),
        # a threshold's hidden count of people is a number of its own
        ("SELECT e, COUNT(*), COUNT_IF(b), COUNT_IF(NOT b) FROM people GROUP BY e", 2),
    ],
)  # fmt: skip
def test_conditions_that_exclude_each_other(zcdp: dpsql.Connection, sql: str, most: int) -> None:
    each = planned(zcdp, sql).measured
    norm, bound = each.bound
    assert bound <= (most if norm is Norm.L1 else most**0.5) * GRID + 1
    assert len(each.measure.families) == most


def test_an_average_and_its_count_are_still_one_family(pure: dpsql.Connection) -> None:
    sql = "SELECT COUNT_IF(b), SUM(CASE WHEN b THEN 1 ELSE 0 END), AVG(n) FILTER (WHERE b) FROM people"
    each = planned(pure, sql)
    assert [s.part for s in each.measure.statistics] == [Part.REST, Part.VALUE]
    assert without_noise(pure, sql, 1.0)[0][0] == without_noise(pure, sql, 1.0)[0][1]


def test_many_conditions_are_looked_at_in_parts(pure: dpsql.Connection) -> None:
    for number, together in ((300, 1), (301, 2)):
        each = planned(pure, counts(*(f"l = {i}" for i in range(number))))
        assert each.noise.sensitivity == together * GRID


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
def test_more_nested_conditions_cost_little_more(request: pytest.FixtureRequest, accountant: str) -> None:
    """n conditions that hold one another make n cells and about root n runs of cells.

    A number is the sum of half the runs and half the cells of one, on average. With noise for two numbers in
    place of one that is a variance of 2^2 * 2 * root n under Laplace noise, where cells alone give n / 2 * 2.
    """
    db: dpsql.Connection = request.getfixturevalue(accountant)

    def error(number: int) -> float:
        found = variances(planned(db, counts(*(f"l > {i}" for i in range(number)))))
        return float(np.sqrt(np.mean(found)))

    few = error(64)
    assert error(65) < 1.1 * few
    assert error(300) < 1.6 * few
    assert error(301) < 2.7 * few  # two parts


def test_runs_and_cells_mean_what_each_condition_means(
    pure: dpsql.Connection, zcdp: dpsql.Connection, plain: duckdb.DuckDBPyConnection
) -> None:
    asked = ", ".join(f"COUNT(*) FILTER (WHERE x > {i / 10} OR l > {i})" for i in range(20))
    nested = ", ".join(f"COUNT(*) FILTER (WHERE l > {i}), SUM(n) FILTER (WHERE l > {i})" for i in range(90))
    for db, listed in ((pure, nested), (zcdp, nested), (pure, asked), (zcdp, asked)):
        sql = f"SELECT k, {listed} FROM people GROUP BY k"
        ours, theirs = without_noise(db, sql, 1.0), plain.execute(sql.replace("SUM(n)", _CLAMPED)).fetchall()
        assert sorted(ours) == sorted(tuple(each or 0 for each in row) for row in theirs)
    each = planned(pure, f"SELECT k, {nested} FROM people GROUP BY k")
    assert len(each.measure.families) == 2  # runs, and their cells


_CLAMPED = "SUM(LEAST(GREATEST(n, 0), 3))"


def test_conditions_of_many_columns_are_looked_at_in_pairs(pure: dpsql.Connection) -> None:
    """64 steps of l beside 64 of x: together too many ways, of any two few enough."""
    each = planned(pure, counts(*(f"l = {i} AND x < {i}" for i in range(64))))
    assert each.noise.sensitivity == GRID


# ---- random conditions, every row a group of its own -------------------------------------------------


def drawn(chosen: random.Random, columns: list[str]) -> tuple[str, bool]:
    """An aggregate, and whether it is a count."""
    when = condition(chosen, columns, chosen.choice((0, 0, 1, 2)))
    match chosen.randrange(11):
        case 9:
            return (
                f"{chosen.choice(('VAR_POP', 'STDDEV'))}({chosen.choice('ndx')}) FILTER (WHERE {when})",
                False,
            )
        case 10:
            return (
                f"{chosen.choice(('CORR', 'REGR_SLOPE'))}(n, {chosen.choice('dix')}) FILTER (WHERE {when})",
                False,
            )
        case 0:
            return f"AVG({chosen.choice('ndx')}) FILTER (WHERE {when})", False
        case 1:
            return f"SUM({chosen.choice('ndi')}) FILTER (WHERE {when})", False
        case 2:
            return f"SUM(CASE WHEN {when} THEN {chosen.choice('ni')} ELSE 0 END)", False
        case 3:
            return f"COUNT({argument(chosen, columns)})", True
        case 4:
            return f"COUNT({chosen.choice('xis')}) FILTER (WHERE {when})", True
        case 5:
            return f"SUM(CASE WHEN {when} THEN 1 ELSE 0 END)", True
        case _:
            return f"COUNT(*) FILTER (WHERE {when})", True


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
@pytest.mark.parametrize("seed", range(20))
def test_no_row_adds_more_than_is_declared(
    request: pytest.FixtureRequest, plain: duckdb.DuckDBPyConnection, accountant: str, seed: int
) -> None:
    db: dpsql.Connection = request.getfixturevalue(accountant)
    chosen = random.Random(f"{accountant} {seed}")
    columns = chosen.sample(sorted(set(COLUMNS) - {"n"}), chosen.choice((1, 1, 2)))
    asked = [drawn(chosen, columns) for _ in range(chosen.choice((2, 3, 5, 8)))]
    sql = f"SELECT k, {', '.join(each for each, _ in asked)} FROM people GROUP BY k"
    (measured,) = audit.measure(db, sql)
    (noise,) = measured.noises
    assert len(measured.rows) == ROWS
    for row in measured.rows.values():
        norm = sum(abs(n) for n in row) if noise.norm == 1 else sum(n * n for n in row)
        assert norm <= noise.sensitivity**noise.norm
    ours = sorted(without_noise(db, sql, 1.0))
    theirs = sorted(plain.execute(sql).fetchall())
    for i, (_, counted) in enumerate(asked, 1):
        if counted:
            assert [row[i] for row in ours] == [row[i] for row in theirs]

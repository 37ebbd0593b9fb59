"""Numbers of more cells than one matrix has: the same meaning, sensitivity, margins and sums as of fewer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_joint import AGES, COSTS, CUBE, DAYS, _short, built, planned, seeded
from test_joint import test_margins_hold as margins_hold
from test_joint import test_meaning as meaning
from test_joint import test_the_error_is_the_expected_one as as_expected

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import PublicKeys
from dpsql.mechanisms.strategies import exchangeable
from dpsql.mechanisms.strategies.rows import Crossed
from dpsql.mechanisms.strategies.strategy import column
from dpsql.plan.joint import deviation_of
from dpsql.post.joint import numbers_of
from dpsql.release.matrices import measured
from dpsql.release.release import release
from dpsql.workload import cells

LARGE = (
    "SELECT ward, sex, smoker, age // 2 AS years, COUNT(*) AS n FROM people "
    "GROUP BY CUBE (ward, sex, smoker, age // 2)"
)


@pytest.fixture(autouse=True)
def _no_matrix_is_large_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST", 2)


@pytest.fixture(scope="module", params=["zcdp", "pure"])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("many"), request.param)


@pytest.fixture
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(str(data)) as connection:
        yield connection


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> tuple[DuckDB, list[tuple[str, DuckDB]]]:
    folder = tmp_path_factory.mktemp("neighbours")
    whole = DuckDB(built(folder / "whole", "zcdp"))
    return whole, [("person 1", DuckDB(built(folder / "1", "zcdp", without=1)))]


MANY = [CUBE, DAYS, AGES, COSTS]
"""What is better together without a matrix of its own, whatever the noise."""


@pytest.mark.parametrize("sql", MANY)
def test_meaning(db: dpsql.Connection, data: Path, sql: str) -> None:
    joint = planned(db, sql).joint
    assert joint is not None
    assert isinstance(joint.rows, Crossed)
    meaning(db, data, sql)


@pytest.mark.parametrize("sql", MANY)
def test_one_unit_moves_no_more_than_is_declared(
    db: dpsql.Connection, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], sql: str
) -> None:
    whole, fewer = neighbours
    assert sensitivity(plan_of(db._open(), sql, 1.0), whole, fewer) == []


def test_a_norm_that_is_too_small_is_found(
    db: dpsql.Connection, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]]
) -> None:
    whole, fewer = neighbours
    assert sensitivity(_short(plan_of(db._open(), DAYS, 1.0)), whole, fewer) != []


@pytest.mark.parametrize("sql", [CUBE, AGES])
def test_margins_hold(db: dpsql.Connection, sql: str) -> None:
    margins_hold(db, sql)


@pytest.mark.parametrize("sql", [CUBE, AGES])
def test_the_error_is_the_expected_one(db: dpsql.Connection, sql: str) -> None:
    as_expected(db, sql)


def test_the_declared_norm_is_no_smaller_than_any_column(db: dpsql.Connection) -> None:
    for sql in MANY:
        inner = planned(db, sql).measured
        assert inner.applied is not None
        exact = column(inner.applied.strategy, inner.noise.norm)
        assert exact <= inner.applied.column <= exact * 1.01 + 1
        assert inner.noise.sensitivity == inner.applied.clip * inner.applied.column


def test_a_cube_of_thousands_of_cells(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Totals are the sums of their parts, and no table of all numbers by all cells is made."""
    monkeypatch.undo()
    each = planned(db, LARGE)
    assert isinstance(each.rule, PublicKeys)
    assert each.joint is not None
    assert each.joint.applied.strategy.cells > cells.MOST
    monkeypatch.delattr(Crossed, "dense")
    inner = each.measured
    exact = db._open().engine.measure(inner)
    assert measured(exact, inner) == measured(exact, inner)
    table = numbers_of(release(exact, inner, seeded("large")), each, every_group=True)
    by_keys = {positions: number for number, positions in each.rule.sets}
    found = dict(zip(table.groups, table.sums[:, 0].tolist(), strict=True))
    parts = Counter[tuple[object, ...]]()
    for (number, ward, sex, _, years), rows in found.items():
        if number == by_keys[1, 2, 3, 4]:
            parts[ward, sex, years] += rows
    totals = {(ward, sex, years): n for (k, ward, sex, _, years), n in found.items() if k == by_keys[1, 2, 4]}
    assert totals == parts
    answer = db.execute(LARGE, epsilon=1.0)
    assert len(list(answer)) > 100


def test_it_is_more_exact_than_one_by_one(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is in 16 grouping sets."""
    monkeypatch.undo()
    together = planned(db, LARGE)
    monkeypatch.setattr(cells, "MOST_CROSSED", 1_000)
    apart = planned(db, LARGE.replace("AS n", "AS m"))
    assert (together.joint is None, apart.joint is None) == (False, True)
    assert deviation_of(together) < 0.8 * deviation_of(apart)


def test_last_bits_change_no_digest(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan_of(db._open(), CUBE, 1.0)
    whole_numbers = exchangeable.whole_numbers
    monkeypatch.setattr(exchangeable, "whole_numbers", lambda places: whole_numbers(places * (1 - 1e-12)))
    after = plan_of(db._open(), CUBE, 1.0)
    assert after.digest == before.digest
    assert after.measures[0].noise == before.measures[0].noise


def test_explain_says_what_is_measured_instead(db: dpsql.Connection) -> None:
    assert re.search(r"sums of the \d+ cells that their conditions tell apart", str(db.explain(CUBE)))


def test_cells_that_are_not_negative(db: dpsql.Connection) -> None:
    """Sums of the same cells, all of them raised."""
    sql = CUBE.replace("SELECT ", "SELECT OPTIONS(non_negative = true) ", 1)
    found = [row[-1] for row in db.execute(sql, epsilon=0.1)]
    assert min(found) >= 0


def test_a_repeat_is_free_and_the_same(data: Path) -> None:
    with dpsql.connect(str(data)) as first:
        paid = first.execute(CUBE, epsilon=0.7)
        rows, margins = list(paid), list(paid.margins)
    with dpsql.connect(str(data)) as second:
        again = second.execute(CUBE, epsilon=0.7)
        assert (again.cost, again.repeated) == (0.0, True)
        assert (list(again), list(again.margins)) == (rows, margins)


def test_conditions_that_read_several_columns_are_one(db: dpsql.Connection, data: Path) -> None:
    """Sex and smoker are one column of the patterns, ward is another."""
    sql = (
        "SELECT ward, COUNT(*) FILTER (WHERE smoker OR sex = 'F') AS a, "
        "COUNT(*) FILTER (WHERE sex = 'F') AS b, COUNT(*) AS n FROM people GROUP BY ROLLUP (ward)"
    )
    joint = planned(db, sql).joint
    assert joint is not None
    assert isinstance(joint.rows, Crossed)
    assert sorted(joint.rows.sizes) == [4, 5]
    meaning(db, data, sql)

"""Sums of one column under conditions that leave each a range of its own: measured together all the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from test_joint import built, planned, seeded

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity, without_noise
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import Norm
from dpsql.ir.statistic import Statistic
from dpsql.plan import joint
from dpsql.post.finish import finish
from dpsql.post.joint import numbers_of
from dpsql.release.release import release
from dpsql.workload.added_value import added_value

NESTED = (
    "SELECT "
    + ", ".join(f"SUM(age) FILTER (WHERE age < {age}) AS n{age}" for age in range(10, 100, 10))
    + " FROM people"
)
DAYS = (
    "SELECT kind, "
    + ", ".join(f"SUM(day) FILTER (WHERE day >= 5 AND day < {last}) AS d{last}" for last in range(30, 100, 9))
    + " FROM visits GROUP BY ROLLUP (kind)"
)
ASKED = [NESTED, DAYS]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("sums"), "pure")


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> tuple[DuckDB, list[tuple[str, DuckDB]]]:
    """Person 1 has many visits; whoever is just below 90 moves the sums most."""
    folder = tmp_path_factory.mktemp("neighbours")
    whole = built(folder / "whole", "pure")
    with duckdb.connect(str(whole.with_name("plain.duckdb")), read_only=True) as plain:
        ((old,),) = plain.execute(
            "SELECT id FROM people WHERE age < 90 ORDER BY age DESC, id LIMIT 1"
        ).fetchall()
    fewer = [(f"person {each}", DuckDB(built(folder / str(each), "pure", without=each))) for each in (1, old)]
    return DuckDB(whole), fewer


@pytest.mark.parametrize("sql", ASKED)
def test_meaning(data: Path, sql: str) -> None:
    own = "FROM (SELECT * FROM visits WHERE id <> 1)"  # without the one whose visits are scaled down
    sql = sql.replace("FROM visits", own)
    with dpsql.connect(str(data)) as db:
        assert planned(db, sql).joint is not None
        ours = without_noise(db, sql, 1.0)
    with duckdb.connect(str(data.with_name("plain.duckdb")), read_only=True) as plain:
        theirs = plain.execute(sql).fetchall()
    assert Counter(map(str, ours)) >= Counter(map(str, theirs))


@pytest.mark.parametrize("sql", ASKED)
def test_one_unit_moves_no_more_than_is_declared(
    data: Path, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], sql: str
) -> None:
    """And a quarter of the norm is not enough: planted, it is found."""
    with dpsql.connect(str(data)) as db:
        plan = plan_of(db._open(), sql, 1.0)
    assert sensitivity(plan, *neighbours) == []
    (stage,) = plan.stages
    inner = plan.measures[0].measured
    assert inner.bound[0] is Norm.L1
    short = replace(inner, noise=replace(inner.noise, sensitivity=inner.noise.sensitivity // 4))
    assert sensitivity(replace(plan, stages=(replace(stage, measures=(short,)),)), *neighbours) != []


def test_the_least_of_the_ranges_is_found(
    data: Path,
    neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: a cell that declares the most of the narrowest number, and clamps to the widest."""

    def narrow(statistics: Sequence[Statistic]) -> Statistic | None:
        one = added_value(statistics)
        return one and replace(one, most=math.ceil(min(s.most * s.step for s in statistics) / one.step))

    monkeypatch.setattr(joint, "added_value", narrow)
    with dpsql.connect(str(data)) as db:
        plan = plan_of(db._open(), NESTED, 1.0)
    assert plan.measures[0].joint is not None
    assert sensitivity(plan, *neighbours) != []


@pytest.mark.parametrize("sql", ASKED)
def test_errors_are_the_expected_ones_and_margins_hold(data: Path, sql: str) -> None:
    """Of 100 releases; the bytes are seeded."""
    with dpsql.connect(str(data)) as db:
        each = planned(db, sql)
        inner = each.measured
        exact = db._open().engine.measure(inner)
    truth = numbers_of(
        release(exact, each.measured, lambda noise, size: np.zeros(size, np.int64)), each, True
    )
    held, relative = list[float](), list[float]()
    most = [statistic.most for statistic in each.measure.statistics]
    for number in range(100):
        table = numbers_of(release(exact, inner, seeded((sql, number))), each, True)
        relative.append(float(np.square((table.sums - truth.sums) / most).sum()))
        for at, column in enumerate(finish(table, each)[len(each.keys) :]):
            assert column.margins is not None
            true = truth.sums[:, at] * float(each.measure.statistics[at].step)
            away = np.abs(np.array(column.values, dtype=np.float64) - true)
            held.append(float((away <= column.margins + 1e-6).mean()))
    assert np.mean(relative) == pytest.approx(joint.variance(each), rel=0.15)
    assert 0.93 <= np.mean(held) <= 0.985


def test_what_is_no_sum_of_one_column_stays_as_it_is(data: Path) -> None:
    with dpsql.connect(str(data)) as db:
        for sums in ("SUM(age), SUM(age + 1)", "SUM(age), COUNT(*)", "AVG(age)"):
            assert planned(db, f"SELECT ward, {sums} FROM people GROUP BY CUBE (ward, smoker)").joint is None

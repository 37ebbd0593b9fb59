"""The oracles find planted errors: a judge who never says no would be worth nothing.

Each error is planted in a plan that the oracle accepts, or in an answer that it accepts.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import shuffled, units_of, without
from dpsql.audit.oracles import coarseness, meaning, sensitivity, without_noise
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import MeasurePlan, Noise, Plan, Shape, Threshold
from dpsql.ir.statistic import Statistic
from dpsql.post.finish import finish
from dpsql.release.release import release

HONEST = {
    "SELECT COUNT(*) FROM patients": Shape.ROWS,
    "SELECT SUM(age) FROM patients": Shape.ROWS,
    "SELECT ward, COUNT(*), AVG(income) FROM patients GROUP BY ward": Shape.ROWS,
    "SELECT city, COUNT(*) FROM patients GROUP BY city": Shape.ROWS,
    "SELECT ward, COUNT(*) FROM patients GROUP BY ROLLUP (ward)": Shape.ROWS,
    "SELECT city, COUNT(*) FROM patients GROUP BY CUBE (city, ward)": Shape.ROWS,
    "SELECT COUNT(*), SUM(cost) FROM visits": Shape.UNIT,
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind": Shape.CELLS,
    "SELECT minutes, SUM(cost) FROM visits GROUP BY minutes": Shape.CELLS,
    "SELECT kind, minutes, SUM(cost), COUNT(*) FROM visits GROUP BY ROLLUP (kind, minutes)": Shape.CELLS,
}


@dataclass(frozen=True)
class Judged:
    """The clinic, its owner's connection, and the clinic without patient 1, who has 3,000 visits."""

    db: dpsql.Connection
    whole: DuckDB
    neighbour: DuckDB

    def plan(self, sql: str) -> Plan:
        return plan_of(self.db._open(), sql, 1.0)

    def verdict(self, plan: Plan) -> list[str]:
        return sensitivity(plan, self.whole, [("patient 1", self.neighbour)])


@pytest.fixture(scope="module")
def judged(clinics: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    path = clinics / "clinic" / "clinic.duckdb"
    ledger = tmp_path_factory.mktemp("judged") / "ledger"
    engines = DuckDB(path), DuckDB(clinics / "neighbour" / "clinic.duckdb")
    with dpsql.connect(path, ledger=ledger) as db:
        yield Judged(db, *engines)
    for engine in engines:
        engine.close()


def one(plan: Plan) -> MeasurePlan:
    (each,) = plan.stages[0].measures
    return each


def with_measure(plan: Plan, **changed: Any) -> Plan:
    """The plan with something else in its only measure."""
    stage = plan.stages[0]
    return replace(plan, stages=(replace(stage, measures=(replace(one(plan), **changed),)),))


def with_statistics(plan: Plan, *statistics: Statistic) -> Plan:
    return with_measure(plan, measure=replace(one(plan).measure, statistics=statistics))


# ---- sensitivity -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sql", HONEST)
def test_honest_plans_are_accepted(sql: str, judged: Judged) -> None:
    plan = judged.plan(sql)
    assert one(plan).shape is HONEST[sql]
    assert judged.verdict(plan) == []


def test_half_the_sensitivity(judged: Judged) -> None:
    """One patient counts 2^20 steps where 2^19 were declared."""
    plan = judged.plan("SELECT COUNT(*) FROM patients")
    noise = one(plan).noise
    found = judged.verdict(with_measure(plan, noise=replace(noise, sensitivity=noise.sensitivity // 2)))
    assert found == [f"without patient 1: L2 moves by {4**20}, declared {4**19}"]


def test_a_step_less_than_the_sensitivity(judged: Judged) -> None:
    plan = judged.plan("SELECT COUNT(*) FROM patients")
    noise = one(plan).noise
    assert judged.verdict(with_measure(plan, noise=replace(noise, sensitivity=noise.sensitivity - 1)))


def test_the_copies_of_a_row_move_by_the_root_of_their_number(judged: Judged) -> None:
    """Two copies of 2^20 steps in two groups: sqrt(2) 2^20 steps, and not one less."""
    plan = judged.plan("SELECT ward, COUNT(*) FROM patients GROUP BY ROLLUP (ward)")
    noise = one(plan).noise
    assert noise.sensitivity == math.isqrt(2 * 4**20) + 1
    found = judged.verdict(with_measure(plan, noise=replace(noise, sensitivity=noise.sensitivity - 1)))
    assert found == [f"without patient 1: L2 moves by {2 * 4**20}, declared {(noise.sensitivity - 1) ** 2}"]


@pytest.mark.parametrize("sql", [sql for sql, shape in HONEST.items() if shape is not Shape.ROWS])
def test_no_clip(sql: str, judged: Judged) -> None:
    """All 3,000 visits count in full."""
    found = judged.verdict(with_measure(judged.plan(sql), shape=Shape.ROWS))
    assert len(found) >= 1
    assert "moves by" in found[0]


def test_a_range_wider_than_the_noise_was_made_for(judged: Judged) -> None:
    """Patient 1 is 21 years old: one more than a declared range of twenty years."""
    sql = "SELECT SUM(LEAST(age, 20)) FROM patients"
    plan = judged.plan(sql)
    (narrow,) = one(plan).measure.statistics
    assert (narrow.low, narrow.high) == (0, 20)
    assert judged.verdict(plan) == []
    (full,) = one(judged.plan("SELECT SUM(age) FROM patients")).measure.statistics
    wide = replace(narrow, argument=full.argument, high=120, most=6 * narrow.most)
    assert judged.verdict(with_measure(plan, measure=_measuring(judged, wide)))


def _measuring(judged: Judged, statistic: Statistic) -> Any:
    """SUM(age)'s measure with another statistic."""
    return replace(one(judged.plan("SELECT SUM(age) FROM patients")).measure, statistics=(statistic,))


def test_a_finer_grid_than_the_noise_was_made_for(judged: Judged) -> None:
    plan = judged.plan("SELECT SUM(age) FROM patients")
    (statistic,) = one(plan).measure.statistics
    finer = replace(statistic, step=statistic.step / 8, most=statistic.most * 8)
    assert judged.verdict(with_statistics(plan, finer))


def test_a_statistic_that_no_noise_was_made_for(judged: Judged) -> None:
    plan = judged.plan("SELECT COUNT(*) FROM patients")
    (statistic,) = one(plan).measure.statistics
    assert judged.verdict(with_statistics(plan, statistic, statistic))


def test_a_group_of_one_unit_that_is_shown(judged: Judged) -> None:
    """Only patient 1 lives in Nome: a threshold of one step, or a delta that is declared too small."""
    plan = judged.plan("SELECT city, COUNT(*) FROM patients GROUP BY city")
    rule = one(plan).rule
    assert isinstance(rule, Threshold)
    (found,) = judged.verdict(with_measure(plan, rule=replace(rule, steps=1)))
    assert "groups of one unit are shown" in found
    event = replace(rule.event, delta=rule.event.delta / 2)
    assert judged.verdict(with_measure(plan, rule=replace(rule, event=event)))
    lower = one(plan).noise.scale / 5
    assert judged.verdict(with_measure(plan, rule=replace(rule, steps=rule.steps - int(lower))))


def test_a_scale_larger_than_the_threshold_was_made_for(judged: Judged) -> None:
    plan = judged.plan("SELECT city, COUNT(*) FROM patients GROUP BY city")
    noise = one(plan).noise
    assert judged.verdict(with_measure(plan, noise=replace(noise, scale=noise.scale * 1.1)))


def test_every_neighbour_is_looked_at(judged: Judged) -> None:
    """Violations carry the name of the unit; a neighbour that is the same database has none."""
    plan = with_measure(judged.plan("SELECT kind, COUNT(*) FROM visits GROUP BY kind"), shape=Shape.ROWS)
    names = [("nobody", judged.whole), ("patient 1", judged.neighbour), ("one", judged.neighbour)]
    found = sensitivity(plan, judged.whole, names)
    assert [each.split(":")[0] for each in found] == ["without patient 1", "without one"]


# ---- neighbours --------------------------------------------------------------------------------------


def test_a_neighbour_lacks_all_rows_of_one_unit_and_nothing_else(
    clinics: Path, tmp_path: Path, judged: Judged
) -> None:
    """Along foreign keys too: what is made is what the fixture wrote by hand."""
    known = judged.db._open().known
    source, target, mixed, by_hand = (tmp_path / f"{name}.duckdb" for name in ("a", "b", "c", "d"))
    shutil.copy(clinics / "clinic" / "clinic.duckdb", source)
    shutil.copy(clinics / "neighbour" / "clinic.duckdb", by_hand)
    assert units_of(source, known) == sorted(range(1, 241), key=str)
    without(source, target, known, 1)
    shuffled(source, mixed, known, 7)
    assert rows_of(target) == rows_of(by_hand)
    assert rows_of(target) != rows_of(source)
    assert rows_of(mixed) != rows_of(source)
    for ours, theirs in zip(rows_of(mixed), rows_of(source), strict=True):
        assert sorted(ours) == sorted(theirs)


def rows_of(path: Path) -> list[list[str]]:
    """Every row of every table, in order; as text, so that NaN is itself."""
    with duckdb.connect(str(path)) as connection:
        return [
            list(map(repr, connection.execute(f"SELECT * FROM {table}").fetchall()))
            for table in ("patients", "visits", "drugs", "wards")
        ]


# ---- meaning -----------------------------------------------------------------------------------------


def plain(clinics: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{clinics / 'clinic' / 'clinic.duckdb'}' AS clinic (READ_ONLY)")
        return connection.execute(f"USE clinic; {sql}").fetchall()


RIGHT = {
    "SELECT COUNT(*), COUNT(score), SUM(age), AVG(income) FROM patients": (
        "SELECT COUNT(*), COUNT(*), SUM(age), AVG(income) FROM patients",
        "SELECT COUNT(*), COUNT(score), SUM(income), AVG(income) FROM patients",
        "SELECT COUNT(*), COUNT(score), SUM(age), MEDIAN(income) + 1 FROM patients",
        "SELECT COUNT(*) - 1, COUNT(score), SUM(age), AVG(income) FROM patients",
        "SELECT COUNT(*), COUNT(score), SUM(age) FROM patients",
    ),
    "SELECT ward, SUM(height) FROM patients GROUP BY ward": (
        "SELECT ward, SUM(height) FROM patients WHERE age > 20 GROUP BY ward",
        "SELECT LOWER(ward), SUM(height) FROM patients GROUP BY ward",
        "SELECT ward, SUM(height) FROM patients GROUP BY ALL UNION ALL SELECT 'B', 1",
    ),
    "SELECT city, AVG(age) FROM patients GROUP BY city HAVING COUNT(*) > 2": (
        "SELECT COALESCE(city, 'none'), AVG(age) FROM patients GROUP BY city HAVING COUNT(*) > 2",
        "SELECT city, AVG(age) FROM patients GROUP BY city",
        "SELECT city, AVG(age) + 0.01 FROM patients GROUP BY city HAVING COUNT(*) > 2",
    ),
    "SELECT smoker, COUNT(*) FROM patients GROUP BY smoker": (
        "SELECT NOT smoker, COUNT(*) FROM patients GROUP BY smoker",
        "SELECT smoker::INTEGER, COUNT(*) FROM patients GROUP BY smoker",
    ),
}


@pytest.mark.parametrize("sql", RIGHT)
def test_meaning_tells_an_answer_from_another(sql: str, clinics: Path, judged: Judged) -> None:
    """The query against plain SQL, and against SQL that means something else."""
    ours = without_noise(judged.db, sql, 1.0)
    slack = coarseness(judged.plan(sql))
    assert 0 < slack < 0.01
    assert meaning(ours, plain(clinics, sql), slack, more_allowed=True) == []
    for other in RIGHT[sql]:
        assert meaning(ours, plain(clinics, other), slack, more_allowed=True) != [], other


@pytest.mark.parametrize(
    ("sql", "gone", "answers"),
    [  # every fifth score of 240 is NULL, and every third patient smokes
        ("SELECT COUNT(score) FROM patients", "argument", (192, 240)),
        ("SELECT COUNT(*) FILTER (WHERE smoker) FROM patients", "condition", (80, 240)),
    ],
)
def test_meaning_notices_a_guard_and_a_condition_that_are_gone(
    sql: str, gone: str, answers: tuple[int, int], judged: Judged
) -> None:
    """Without them all rows count."""
    session = judged.db._open()
    plan = judged.plan(sql)
    (guarded,) = one(plan).measure.statistics
    wrong = with_statistics(plan, replace(guarded, **{gone: None}))

    def answer(plan: Plan) -> list[tuple[Any, ...]]:
        each = one(plan)
        silent = release(session.engine.measure(each), each, silence, threshold=1)
        return [tuple(column.values[0] for column in finish(silent, each))]

    assert (answer(plan), answer(wrong)) == ([(answers[0],)], [(answers[1],)])
    assert meaning(answer(wrong), answer(plan), 0.01, more_allowed=True) != []


def silence(noise: Noise, size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ([(1,)], [(1.0,)], True),
        ([(1,)], [(Decimal("1.00"),)], True),
        ([(1.0,)], [(1.0009,)], True),
        ([(1.0,)], [(1.02,)], False),
        ([(1,)], [(True,)], False),
        ([(None,)], [(0,)], False),
        ([(None,)], [(None,)], True),
        ([(math.nan,)], [(math.nan,)], True),
        ([(math.nan,)], [(None,)], False),
        ([(math.inf,)], [(math.inf,)], True),
        ([(math.inf,)], [(-math.inf,)], False),
        ([(7.0,)], [(math.inf,)], False),
        ([(math.inf,)], [(7.0,)], False),
        ([("a",)], [("A",)], False),
        ([(1, 2)], [(1,)], False),
        ([(1,), (2,)], [(2,), (1,)], True),
        ([(1,), (1,)], [(1,)], False),
        ([(1,)], [(1,), (1,)], False),
        ([], [(1,)], False),
        ([(1,)], [], False),
    ],
)
def test_what_counts_as_the_same_answer(ours: list[Any], theirs: list[Any], same: bool) -> None:
    assert (meaning(ours, theirs, 0.001, more_allowed=False) == []) is same


def test_more_rows_are_allowed_where_public_groups_are_empty() -> None:
    assert meaning([("A", 1), ("C", 0)], [("A", 1)], 0.001, more_allowed=True) == []
    assert meaning([("A", 1), ("C", 0)], [("A", 1)], 0.001, more_allowed=False) != []


def test_silent_answers_are_the_owners(clinics: Path, tmp_path: Path) -> None:
    path = clinics / "clinic" / "clinic.duckdb"
    with (
        dpsql.connect(path, ledger=tmp_path / "ledger", analyst="ana") as db,
        pytest.raises(dpsql.OperationalError, match="D508"),
    ):
        without_noise(db, "SELECT COUNT(*) FROM patients", 1.0)

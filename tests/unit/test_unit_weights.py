"""Counts of units beside sums of rows: measured in finer steps where that costs the sums hardly anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import MeasurePlan, Norm, Shape, Threshold
from dpsql.ir.statistic import Part
from dpsql.plan import unit_norms

ROWS = 20
"""Where the queries start clipping."""


@pytest.fixture
def db(clinic: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(clinic) as connection:
        yield connection


def planned(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (measure,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return measure


def steps_of(measure: MeasurePlan, part: Part) -> int:
    """Return the grid steps of one row, or of one unit."""
    (most,) = {each.most for each in measure.measure.statistics if each.part is part}
    return most


def test_the_hidden_count_is_finer_and_the_sums_hardly_coarser(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = f"SELECT OPTIONS(max_rows_contributed = {ROWS}) cost, COUNT(*) FROM visits GROUP BY cost"
    fine = planned(db, sql)
    monkeypatch.setattr("dpsql.plan.plan.weighed", lambda facts: [facts])
    coarse = planned(db, sql)
    assert isinstance(fine.rule, Threshold)
    assert isinstance(coarse.rule, Threshold)
    assert fine.noise.scale < 1.05 * coarse.noise.scale
    assert fine.rule.units < coarse.rule.units / 3


def test_one_vector_is_better_than_a_split_price(db: dpsql.Connection) -> None:
    """Gaussian noise: whatever the split, the counts or the sums are noisier than in one vector."""
    measure = planned(
        db,
        f"SELECT OPTIONS(max_rows_contributed = {ROWS}) cost, SUM(minutes) FROM visits GROUP BY cost",
    )
    assert measure.noise.norm is Norm.L2
    row, unit = steps_of(measure, Part.VALUE), steps_of(measure, Part.UNITS)
    of_rows, of_units = measure.noise.sensitivity / row, measure.noise.sensitivity / unit
    alone = unit_norms.l2_squared(ROWS, None, 1, 0) ** 0.5, unit_norms.l2_squared(ROWS, None, 0, 1) ** 0.5
    for percent in range(1, 100):
        share = percent / 100
        assert of_rows < alone[0] / (1 - share) ** 0.5 or of_units < alone[1] / share**0.5


def test_the_clip_holds_for_the_longest_vector(db: dpsql.Connection) -> None:
    """All rows in one group, and one row in each group."""
    measure = planned(
        db,
        f"SELECT OPTIONS(max_rows_contributed = {ROWS}) cost, COUNT(*) FROM visits GROUP BY cost",
    )
    row, unit = steps_of(measure, Part.ROWS), steps_of(measure, Part.UNITS)
    longest = max((ROWS * row) ** 2 + unit**2, ROWS * (row**2 + unit**2))
    assert (measure.noise.sensitivity - 1) ** 2 < longest <= measure.noise.sensitivity**2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, COUNT(*) FROM patients GROUP BY city",  # one row per unit: nothing to gain
        "SELECT COUNT(DISTINCT patient_id) FROM visits",  # nothing beside them
        "SELECT OPTIONS(weights = [1, 2]) COUNT(DISTINCT patient_id), SUM(cost) FROM visits",  # the query's
    ],
)
def test_weights_stay(sql: str, db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    before = planned(db, sql)
    monkeypatch.setattr("dpsql.plan.plan.weighed", lambda facts: [facts])
    assert planned(db, sql).measure.statistics == before.measure.statistics


def test_a_unit_that_is_never_scaled_gets_whole_noise(tmp_path: Path, clinic: Path) -> None:
    """Where a unit determines its groups, however many rows it has."""
    policy = clinic.with_suffix(".toml").read_text()
    policy = policy.replace('"zcdp"', '"pure"').replace("delta = 1e-6\n", "")
    (tmp_path / "pure.toml").write_text(policy)
    with dpsql.connect(clinic, tmp_path / "pure.toml", tmp_path / "ledger") as db:
        one = planned(db, "SELECT COUNT(DISTINCT patient_id) FROM visits")
        kinds = planned(db, "SELECT kind, COUNT(DISTINCT patient_id) FROM visits GROUP BY kind")
    assert (one.shape, one.noise.mechanism) == (Shape.UNIT, "geometric")
    assert (kinds.shape, kinds.noise.mechanism) == (Shape.CELLS, "laplace")

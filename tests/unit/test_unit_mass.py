"""Mass: what a unit's sums and counts by group add up to, and where that is lost."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.facts.unit_mass import mass_of
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.statistic import Part

ROWS, MINUTES = 5, 60
"""rows_per_unit and the range of the clinic's policy."""

GROUPS = 2
"""Kinds of visits: a unit has no more rows of sums by kind."""

RUNNING = "SUM(s::BIGINT) OVER (PARTITION BY patient_id ORDER BY kind)"
SUMS = "SELECT patient_id, kind, SUM(minutes) AS s, COUNT(*) AS n FROM visits GROUP BY patient_id, kind"


@pytest.fixture
def db(clinic: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(clinic) as connection:
        yield connection


def planned(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (measure,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return measure


def mass(db: dpsql.Connection, sql: str) -> Fraction | None:
    measure = planned(db, sql).measure
    (argument,) = {each.argument for each in measure.statistics if each.part in (Part.VALUE, Part.REST)}
    assert argument is not None
    return mass_of(measure.uncopied, argument)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"SELECT SUM(s) FROM ({SUMS})", ROWS * MINUTES),
        (f"SELECT SUM(n) FROM ({SUMS})", ROWS),
        (f"SELECT SUM(s) FROM ({SUMS}) WHERE n > 1", ROWS * MINUTES),
        (f"SELECT SUM(-s) FROM ({SUMS})", ROWS * MINUTES),
        (f"SELECT SUM(s * 0.5) FROM ({SUMS})", ROWS * MINUTES / 2),
        (f"SELECT SUM(s::DOUBLE) FROM ({SUMS})", ROWS * MINUTES),
        (
            f"SELECT ward, SUM(s) FROM ({SUMS}) JOIN patients USING (patient_id) GROUP BY ROLLUP (ward)",
            300,
        ),
        (f"SELECT SUM(t) FROM (SELECT patient_id, SUM(n) AS t FROM ({SUMS}) GROUP BY patient_id)", ROWS),
        ("SELECT SUM(s) FROM (SELECT patient_id, SUM(LEAST(minutes, 9)) AS s FROM visits GROUP BY 1)", 45),
        (f"SELECT SUM(s + 1) FROM ({SUMS})", ROWS * MINUTES + GROUPS),
        (f"SELECT SUM(5 - s) FROM ({SUMS})", ROWS * MINUTES + 5 * GROUPS),
        (f"SELECT SUM(s - n) FROM ({SUMS})", ROWS * MINUTES + ROWS),
        (f"SELECT SUM(COALESCE(s, 5)) FROM ({SUMS})", ROWS * MINUTES + 5 * GROUPS),
        (f"SELECT SUM(CASE WHEN n > 1 THEN s ELSE 5 END) FROM ({SUMS})", ROWS * MINUTES + 5 * GROUPS),
        (f"SELECT SUM(LEAST(n, 4)) FROM ({SUMS})", ROWS),
        (f"SELECT SUM(LEAST(s, 4)) FROM ({SUMS})", ROWS * MINUTES + 4 * GROUPS),  # of NULL it is 4
        (f"SELECT SUM(GREATEST(s, 10)) FROM ({SUMS})", ROWS * MINUTES + 10 * GROUPS),
    ],
)
def test_groups_of_a_unit_share_its_rows(db: dpsql.Connection, sql: str, expected: int) -> None:
    assert mass(db, sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(s) FROM ({SUMS}) JOIN visits v USING (patient_id)",
        f"SELECT SUM(s * n) FROM ({SUMS})",
        f"SELECT SUM(t) FROM (SELECT {RUNNING} AS t FROM ({SUMS}))",
        "SELECT SUM(m) FROM (SELECT patient_id, kind, AVG(minutes) AS m FROM visits GROUP BY ALL)",
        "SELECT SUM(m) FROM (SELECT patient_id, kind, MAX(minutes) AS m FROM visits GROUP BY ALL)",
        "SELECT SUM(minutes) FROM visits",
    ],
)
def test_what_adds_to_each_row_or_repeats_it_has_no_mass(db: dpsql.Connection, sql: str) -> None:
    assert mass(db, sql) is None


def test_a_sum_of_sums_is_as_exact_as_the_sum(db: dpsql.Connection) -> None:
    """Through a subquery as without it, up to the rounding of a row."""

    def sensitivity(sql: str) -> float:
        measure = planned(db, sql)
        return float(measure.noise.sensitivity * measure.measure.statistics[0].step)

    direct = sensitivity("SELECT kind, SUM(minutes) FROM visits GROUP BY kind")
    assert sensitivity(f"SELECT kind, SUM(s) FROM ({SUMS}) GROUP BY kind") == pytest.approx(direct, rel=1e-4)


def test_an_average_of_sums_is_made_of_a_sum_and_a_count(db: dpsql.Connection) -> None:
    """A pair would take each of a unit's rows for as large as all of them together."""
    measure = planned(db, f"SELECT AVG(s), AVG(minutes) FROM ({SUMS}) JOIN visits v USING (patient_id)")
    assert {each.part for each in measure.measure.statistics} == {Part.REST, Part.VALUE}
    measure = planned(db, f"SELECT AVG(s) FROM ({SUMS.replace('kind', 'cost')})")
    (total,) = (each for each in measure.measure.statistics if each.part is Part.VALUE)
    assert {each.part for each in measure.measure.statistics} == {Part.ROWS, Part.VALUE}
    assert float(measure.noise.sensitivity * total.step) < ROWS * ROWS * MINUTES / 3


def test_sums_of_sums_of_sums_fit_the_grid_whatever_the_rows_hold(clinic: Path) -> None:
    """A range of many rows to the third power, and values far beyond what the policy says."""
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("rows_per_unit = 5", "rows_per_unit = 100000"))
    with duckdb.connect(str(clinic)) as plain:
        plain.execute("ALTER TABLE visits ALTER minutes TYPE BIGINT")
        plain.execute("UPDATE visits SET minutes = 4000000000000000000")
    sql = SUMS
    with dpsql.connect(clinic) as db:
        for _ in range(4):
            assert len(db.execute(f"SELECT SUM(s::BIGINT), AVG(s::BIGINT) FROM ({sql})").rows) == 1
            sql = f"SELECT patient_id, kind, SUM(s::BIGINT) AS s FROM ({sql}) GROUP BY patient_id, kind"

"""What tells units apart, and the arms of a test, which do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.facts.identity import MOST_ARMS

ARMS = [
    "patient_id % 2",
    "patient_id % 100",
    "patient_id % 2 = 0",
    "md5(patient_id::VARCHAR) < '8'",
    "md5_number_lower(patient_id::VARCHAR) % 200",
    "CASE WHEN patient_id % 10 < 3 THEN 'treated' ELSE 'control' END",
    "CASE WHEN patient_id IN (1, 5, 9) THEN patient_id % 7 END",
    "patient_id IS NULL",
]
UNITS = [
    "patient_id",
    "patient_id + 1",
    "-patient_id",
    "patient_id % 101",
    "patient_id // 2",
    "left(patient_id::VARCHAR, 1)",
    "md5(patient_id::VARCHAR)",
    "md5_number_lower(patient_id::VARCHAR) % 201",
    "CASE WHEN patient_id % 2 = 0 THEN patient_id END",
    "COALESCE(patient_id, 0)",
]


@pytest.fixture
def db(clinic: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(clinic) as connection:
        yield connection


@pytest.mark.parametrize("key", ARMS)
def test_an_arm_is_a_public_key_of_few_values_whoever_the_units_are(key: str, db: dpsql.Connection) -> None:
    """The values are counted by plain DuckDB over 40,000 units of either sign."""
    with duckdb.connect() as plain:
        [(values,)] = plain.execute(
            f"SELECT COUNT(DISTINCT {key}) FROM (SELECT (range * 7919 % 2**31)::INTEGER - 2**30::INTEGER "
            "AS patient_id FROM range(40000))"
        ).fetchall()
    assert values <= MOST_ARMS
    db.explain(f"SELECT {key} AS arm, COUNT(*) AS n FROM visits GROUP BY arm")


@pytest.mark.parametrize("key", UNITS)
def test_what_has_more_values_is_refused(key: str, db: dpsql.Connection) -> None:
    for sql in (
        f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY {key}",
        f"SELECT k, COUNT(*) AS n FROM (SELECT {key} AS k, cost FROM visits) GROUP BY k",
    ):
        with pytest.raises(dpsql.Error) as refused:
            db.explain(sql)
        assert refused.value.code == "D403"


@pytest.mark.parametrize("key", ["patient_id % 2 = 0", "md5(patient_id::VARCHAR) < '8'"])
def test_a_unit_is_in_one_arm(key: str, db: dpsql.Connection) -> None:
    """Counted once, in one of the arms: 1, and not the square root of their number or of the rows."""
    sql = f"SELECT {key} AS arm, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY arm"
    (measure,) = plan_of(db._open(), sql, 1.0).measures
    (statistic,) = measure.measure.statistics
    assert measure.noise.sensitivity * statistic.step == 1

"""An expression that is said to make an output less noisy does, by the factor that is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql

GAIN = "minutes - cost"
SEEN = "seen BETWEEN '2020-01-01' AND '2020-12-31' AND born BETWEEN '2019-07-01' AND '2020-12-31'"

ADVISED = {
    f"SELECT AVG({GAIN}) FROM visits": (f"{GAIN} CLAMPED BETWEEN 0 AND 60", 560 / 60),
    f"SELECT kind, SUM({GAIN}) AS s, COUNT(*) FROM visits GROUP BY kind": (
        f"{GAIN} CLAMPED BETWEEN 0 AND 60",
        500 / 60,
    ),
    "SELECT AVG(COALESCE(minutes, 0) - COALESCE(cost, 0)) FROM visits": (
        "GREATEST(COALESCE(minutes, 0) - COALESCE(cost, 0), 0)",
        560 / 60,
    ),
    f"SELECT AVG(CASE WHEN kind = 'surgery' THEN {GAIN} END) FROM visits": (
        f"CASE WHEN {GAIN} IS NOT NULL THEN GREATEST({GAIN}, 0) END",
        560 / 60,
    ),
    f"SELECT AVG(gain) FROM (SELECT *, {GAIN} AS gain FROM visits)": (
        "gain CLAMPED BETWEEN 0 AND 60",
        560 / 60,
    ),
    f"SELECT AVG(date_diff('day', born, seen)) FROM patients WHERE {SEEN}": (
        "date_diff('day', born, seen) CLAMPED BETWEEN 0 AND 550",
        (550 + 366) / 550,
    ),
}

SILENT = [
    "SELECT AVG(a.minutes - b.minutes) FROM visits a JOIN visits b USING (patient_id) "
    "WHERE a.minutes >= b.minutes",  # the order is known
    "SELECT SUM(a.minutes - b.minutes) FROM visits a JOIN visits b USING (patient_id)",  # 60 either way
    "SELECT AVG(cost - minutes) FROM visits",  # 560 beside 500
    "SELECT AVG(income - age) FROM patients",  # an income may be negative by itself
    f"SELECT OPTIONS(within = 1000000) AVG({GAIN}) FROM visits",
    f"SELECT OPTIONS(max_rows_contributed = auto) SUM({GAIN}) FROM visits",  # the clip is still to be chosen
]


def columns(db: dpsql.Connection, sql: str) -> list[dict[str, Any]]:
    (stage,) = db.explain(sql, epsilon=1.0).to_dict()["stages"]
    (measure,) = stage["measures"]
    found: list[dict[str, Any]] = measure["columns"]
    return found


@pytest.mark.parametrize("sql", ADVISED)
def test_what_is_said_comes_true(sql: str, db: dpsql.Connection) -> None:
    """The factor of the ranges, where the family stands alone; a count beside it takes a part of the norm."""
    old, (instead, factor) = columns(db, sql)[0], ADVISED[sql]
    assert old["tighter"]["instead"] == instead
    new = columns(db, sql.replace(old["tighter"]["of"], instead, 1))[0]
    assert "tighter" not in new
    assert old["sensitivity"] / new["sensitivity"] == pytest.approx(old["tighter"]["factor"])
    assert old["tighter"]["factor"] == pytest.approx(factor, rel=0.3 if "COUNT" in sql else 0.01)
    said = f"{instead} has {factor:.2g} times less noise"
    if "COUNT" not in sql:
        assert said in str(db.explain(sql))


@pytest.mark.parametrize("sql", SILENT)
def test_nothing_is_said(sql: str, db: dpsql.Connection) -> None:
    (stage,) = db.explain(sql).to_dict()["stages"]
    assert not [
        column for measure in stage["measures"] for column in measure["columns"] if "tighter" in column
    ]


def test_null_stays_null_and_others_stay_too(clinic: Path) -> None:
    """SQL that keeps what is not negative, NULL and NaN: the sums of both are the same over such rows."""
    rows = "(VALUES (5, 2.0), (7, 7.0), (NULL, 1.0), (3, NULL), (3, 'NaN'::DOUBLE)) AS v(minutes, cost)"
    with dpsql.connect(clinic) as db, duckdb.connect() as plain:
        for instead in {
            columns(db, sql)[0]["tighter"]["instead"] for sql in ADVISED if GAIN in sql and "gain" not in sql
        }:
            bounds = re.fullmatch(r"(.*) CLAMPED BETWEEN (\S+) AND (\S+)", instead)
            spelled = instead
            if bounds is not None:
                value, low, high = bounds.groups()
                spelled = f"CASE WHEN {value} IS NOT NULL THEN LEAST(GREATEST({value}, {low}), {high}) END"
            found = plain.execute(
                f"SELECT count(*) FILTER (WHERE {spelled} IS DISTINCT FROM {GAIN} AND NOT isnan({GAIN})) "
                f"FROM {rows}"
            ).fetchone()
            assert found == (0,)


def test_a_view_is_not_edited(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    view = f'\n[views.gains]\nsql = "SELECT AVG({GAIN}) AS gain FROM visits"\n'
    policy.write_text(policy.read_text() + view)
    with dpsql.connect(clinic) as db:
        assert "tighter" not in columns(db, "SELECT * FROM gains")[0]
        assert "tighter" in columns(db, f"SELECT AVG({GAIN}) AS gain FROM visits")[0]


def test_parameters_keep_their_places(db: dpsql.Connection) -> None:
    sql = "SELECT AVG(minutes * ? - cost) FROM visits WHERE minutes > ?"
    (stage,) = db.explain(sql, (2, 10)).to_dict()["stages"]
    (column,) = stage["measures"][0]["columns"]
    assert column["tighter"]["instead"] == "minutes * ? - cost CLAMPED BETWEEN 0 AND 120"
    assert column["tighter"]["factor"] == pytest.approx(600 / 120, rel=0.1)


def test_only_so_many_queries_are_planned(db: dpsql.Connection) -> None:
    """An output has two spellings here, so that four of twelve are tried."""
    sums = ", ".join(f"AVG({GAIN} - {number} * minutes)" for number in range(12))
    found = columns(db, f"SELECT {sums} FROM visits")
    assert 4 <= sum("tighter" in column for column in found) <= 8

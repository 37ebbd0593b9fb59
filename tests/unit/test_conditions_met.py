"""What conditions say of expressions: the public groups of a query that groups by them."""

from __future__ import annotations

from datetime import date

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import PublicKeys, Threshold

LISTED = (
    ("upper(city)", "upper(city) IN ('OSLO', 'ROME')", ["OSLO", "ROME"]),
    ("upper(city)", "'OSLO' = upper(city) AND age > 20", ["OSLO"]),
    ("upper(city)", "upper(city) = 'OSLO' OR upper(city) = 'ROME'", ["OSLO", "ROME"]),
    ("length(city)", "length(city) BETWEEN 3 AND 5", [3, 4, 5]),
    ("length(city)", "NOT (length(city) < 3 OR length(city) > 4)", [3, 4]),
    ("year(seen)", "year(seen) IN (2020, 2021)", [2020, 2021]),
    ("year(born)", "year(born) BETWEEN 1990 AND 1992", [1990, 1991, 1992]),
    ("age // 10", "age // 10 < 3", [0, 1, 2]),
    ("age // 50", "age // 50 >= 1", [1, 2]),
    ("age >= 18", "age >= 18", [True]),
    ("date_trunc('year', born)", "date_trunc('year', born) IN ('1990-01-01', '1991-01-01')", [1990, 1991]),
    (
        "date_trunc('year', born)",
        "date_trunc('year', born) BETWEEN '1990-01-01' AND '1992-06-01'",
        [1990, 1991, 1992],
    ),
    (
        "date_trunc('year', seen)",
        "date_trunc('year', seen) BETWEEN '1990-01-01' AND '1992-06-01'",
        [1990, 1991, 1992],
    ),
    ("date_trunc('year', born)", "born BETWEEN '1990-03-01' AND '1992-06-01'", [1990, 1991, 1992]),
    ("floor(age / 50)", "floor(age / 50) <= 1", [0.0, 1.0]),
)
"""A key, a condition, and the groups that it leaves (of days, their years)."""

PRIVATE = (
    ("upper(city)", "lower(city) IN ('oslo', 'rome')"),
    ("upper(city)", "upper(city) NOT IN ('OSLO', 'ROME')"),
    ("upper(city)", "upper(city) IN ('OSLO', 'ROME') OR age > 20"),
    ("upper(city)", "upper(city) > 'OSLO'"),
    ("length(city) * 3", "length(city) * 3 BETWEEN 0 AND 30"),
    ("date_trunc('hour', seen)", "date_trunc('hour', seen) BETWEEN '2024-01-01' AND '2024-01-02'"),
    ("length(city)", "length(city) > 3"),
    ("length(upper(city))", "upper(city) LIKE 'O%'"),
)


def planned(db: dpsql.Connection, sql: str) -> PublicKeys | Threshold:
    (measure,) = plan_of(db._open(), sql, 1.0).measures
    assert isinstance(measure.rule, PublicKeys | Threshold)
    return measure.rule


def years(group: tuple[object, ...]) -> object:
    return group[0].year if isinstance(group[0], date) else group[0]


@pytest.mark.parametrize(("key", "condition", "groups"), LISTED)
def test_the_groups_are_those_of_the_condition(
    db: dpsql.Connection, key: str, condition: str, groups: list[object]
) -> None:
    of = f"patients JOIN visits USING (patient_id) WHERE {condition}"
    for sql in (
        f"SELECT {key} AS k, COUNT(*) AS n FROM {of} GROUP BY k",
        f"SELECT k, COUNT(*) AS n FROM (SELECT {key} AS k, ward FROM {of}) AS t WHERE ward = 'A' GROUP BY k",
    ):
        rule = planned(db, sql)
        assert isinstance(rule, PublicKeys)
        assert [years(group) for group in rule.groups()] == groups


@pytest.mark.parametrize(("key", "condition"), PRIVATE)
def test_other_conditions_list_nothing(db: dpsql.Connection, key: str, condition: str) -> None:
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM patients WHERE {condition} GROUP BY k"
    assert isinstance(planned(db, sql), Threshold)


def test_the_side_that_may_be_missing_meets_no_condition(db: dpsql.Connection) -> None:
    """Its rows may be NULL, and its groups are private."""
    some = "SELECT patient_id, city FROM patients WHERE upper(city) IN ('OSLO', 'ROME')"
    joined = f"visits AS v {{}} JOIN ({some}) AS p USING (patient_id)"
    sql = f"SELECT upper(city) AS k, COUNT(*) AS n FROM {joined} GROUP BY k"
    assert isinstance(planned(db, sql.format("LEFT")), Threshold)
    assert isinstance(planned(db, sql.format("INNER")), PublicKeys)

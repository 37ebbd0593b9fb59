"""What conditions say of expressions: the public groups of a query that groups by them."""

from __future__ import annotations

import struct
from datetime import date

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import PublicKeys, Threshold

(_IN_32_BITS,) = struct.unpack("f", struct.pack("f", 0.7))

LISTED = (
    ("upper(city)", "upper(city) IN ('OSLO', 'ROME')", ["OSLO", "ROME"]),
    ("upper(city)", "'OSLO' = upper(city) AND age > 20", ["OSLO"]),
    ("upper(city)", "upper(city) = 'OSLO' OR upper(city) = 'ROME'", ["OSLO", "ROME"]),
    ("length(city)", "length(city) BETWEEN 3 AND 5", [3, 4, 5]),
    ("length(city)", "length(city) > 3.5 AND length(city) < 6.00000000000000000001", [4, 5, 6]),
    ("length(city) + 1", "length(city) + 1 BETWEEN 3 AND 5", [3, 4, 5]),
    ("(age / 10)::REAL", "(age / 10)::REAL = 0.7", [_IN_32_BITS]),
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
"""A key, a condition, and the groups that it leaves (of days, their years); None: all of them."""

PRIVATE = (
    ("upper(city)", "lower(city) IN ('oslo', 'rome')"),
    ("upper(city)", "upper(city) NOT IN ('OSLO', 'ROME')"),
    ("upper(city)", "upper(city) IN ('OSLO', 'ROME') OR age > 20"),
    ("upper(city)", "upper(city) > 'OSLO'"),
    ("length(city) * 3", "length(city) * 3 BETWEEN 0 AND 30"),
    (
        "date_trunc('year', born)::DATE",
        "date_trunc('year', born)::DATE BETWEEN '2000-01-01' AND '2002-01-01'",
    ),
    ("length(city)", "length(city) BETWEEN 1 AND 4.0::REAL"),
    ("length(city)", "length(city) BETWEEN 1 AND age"),
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
    db: dpsql.Connection, key: str, condition: str, groups: list[object] | None
) -> None:
    of = f"patients JOIN visits USING (patient_id) WHERE {condition}"
    for sql in (
        f"SELECT {key} AS k, COUNT(*) AS n FROM {of} GROUP BY k",
        f"SELECT k, COUNT(*) AS n FROM (SELECT {key} AS k, ward FROM {of}) AS t WHERE ward = 'A' GROUP BY k",
    ):
        rule = planned(db, sql)
        assert isinstance(rule, PublicKeys)
        shown = [years(group) for group in rule.groups()]
        assert shown == groups


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


def test_a_guess_lists_nothing(db: dpsql.Connection) -> None:
    """Nobody promises how many visits a person has: a person may have more, and be a row of another group."""
    counted = "(SELECT patient_id, COUNT(*) AS c FROM visits GROUP BY patient_id) AS v"
    for key, condition in (
        ("age // 10", "age // 10 <= c"),
        ("age", "age <= c * 8"),
        ("age // 10", "age <= c"),
    ):
        sql = f"SELECT {key} AS k, COUNT(*) AS n FROM patients JOIN {counted} USING (patient_id) "
        assert isinstance(planned(db, f"{sql} WHERE {condition} GROUP BY k"), Threshold)
        assert isinstance(planned(db, f"{sql} WHERE c > 2 GROUP BY k"), PublicKeys)


def test_a_column_may_have_any_name(db: dpsql.Connection) -> None:
    rows = '(SELECT patient_id, city AS "the expression" FROM patients) AS p(patient_id, x)'
    rule = planned(db, f"SELECT length(x) AS k, COUNT(*) AS n FROM {rows} WHERE x IN ('a', 'b') GROUP BY k")
    assert isinstance(rule, PublicKeys)
    assert rule.groups() == ((1,),)

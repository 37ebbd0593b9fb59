"""PostgreSQL's spellings are read as what they mean there, and carets lead back to the client's text.

The values in postgres_values.json are what PostgreSQL 15.18 gave once; DuckDB must give the same for what the
dialect made of the statement.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.server.dialect import understood

VALUES = json.loads((Path(__file__).parent / "postgres_values.json").read_text("utf-8"))


def read(sql: str, *schemas: str) -> str:
    return understood(sql, "clinic", schemas).text


@pytest.mark.parametrize("format", VALUES["formats"])
def test_to_char_gives_what_postgresql_gives(format: str) -> None:
    calls = ", ".join(f"TO_CHAR(TIMESTAMP '{moment}', '{format}')" for moment in VALUES["moments"])
    asked = read(f"SELECT {calls}")
    assert "TO_CHAR" not in asked
    with duckdb.connect() as engine:
        assert list(engine.execute(asked).fetchall()[0]) == VALUES["formats"][format]


@pytest.mark.parametrize(("operator", "pattern", "matches"), VALUES["patterns"])
def test_a_pattern_matches_what_it_matches_in_postgresql(operator: str, pattern: str, matches: str) -> None:
    literal = pattern.replace("'", "''")
    asked = read(f"SELECT x {operator} '{literal}' FROM (SELECT unnest($1) AS x)")
    with duckdb.connect() as engine:
        found = engine.execute(asked, [VALUES["texts"]]).fetchall()
    assert "".join("1" if match else "0" for (match,) in found) == matches


UNTOUCHED = """
SELECT TO_CHAR(day, 'Month') FROM visits
SELECT TO_CHAR(day, 'Q') FROM visits
SELECT TO_CHAR(day, 'DDth') FROM visits
SELECT TO_CHAR(day, 'DDTHH24') FROM visits
SELECT TO_CHAR(day, 'WW') FROM visits
SELECT TO_CHAR(day, 'MON') FROM visits
SELECT TO_CHAR(day, 'am') FROM visits
SELECT TO_CHAR(cost, '999D99') FROM visits
SELECT TO_CHAR(cost, 'FM999.00') FROM visits
SELECT TO_CHAR(day, '') FROM visits
SELECT TO_CHAR(day, ward) FROM visits
SELECT TO_CHAR(day) FROM visits
SELECT TO_CHAR(day, 'YYYY' || 'MM') FROM visits
SELECT "TO_CHAR"(day, 'YYYY') FROM visits
SELECT 'TO_CHAR(day, ''YYYY'')' FROM visits
SELECT to_date(ward, 'YYYY-MM-DD') FROM visits
SELECT to_date('2024-02-30', 'YYYY-MM-DD')
SELECT to_date('2024-1-5', 'YYYY-MM-DD')
SELECT to_date('24-01-05', 'YY-MM-DD')
SELECT to_date('2024', 'YYYY')
SELECT to_timestamp('2024-01-01 25:00', 'YYYY-MM-DD HH24:MI')
SELECT to_timestamp(5)
SELECT 7 / 2, x::numeric, age(day), initcap(ward) FROM visits
SELECT COUNT(*) FROM patients WHERE ward ~ 'Card' AND ward ~ town
SELECT COUNT(*) FROM patients WHERE ward ~ '\\d.' AND ward ~* '(?i)x' AND ward ~* 'x{2}'
SELECT E'\\x41', E'\\u0041'
SELECT public.age FROM patients AS public
SELECT clinic.age FROM patients clinic
SELECT COUNT(*) FROM other.public.patients
SELECT 'public.patients', "public.patients" FROM patients
SELECT COUNT(*) FROM patients -- public.patients TO_CHAR(x, 'YYYY')
SELECT 'open
"""


@pytest.mark.parametrize("sql", UNTOUCHED.strip().split("\n"))
def test_what_is_not_the_same_is_left_as_it_is(sql: str) -> None:
    assert read(sql) == sql


READ = [
    ("SELECT TO_CHAR(x, 'YYYY')", "SELECT strftime(x, '%Y')"),
    ("SELECT to_char(date_trunc('month', a), 'MM')", "SELECT strftime(date_trunc('month', a), '%m')"),
    ("SELECT to_date('2024-01-05', 'YYYY-MM-DD')", "SELECT DATE '2024-01-05'"),
    ("SELECT to_timestamp('20240105 1030', 'YYYYMMDD HH24MI')", "SELECT TIMESTAMP '2024-01-05 10:30:00'"),
    (
        "SELECT to_timestamp('2024-01-05 10:00:00.000250', 'YYYY-MM-DD HH24:MI:SS.US')",
        "SELECT TIMESTAMP '2024-01-05 10:00:00.000250'",
    ),
    ("SELECT a FROM public.t", "SELECT a FROM        t"),
    ('SELECT "main"."t"."a" FROM "PUBLIC"."t"', 'SELECT        "t"."a" FROM          "t"'),
    ("SELECT a FROM clinic.public.t", "SELECT a FROM               t"),
    ('SELECT a FROM "Clinic"."sales"."t"', 'SELECT a FROM          "sales"."t"'),
    ("SELECT x ~* 'a.[b-c]'", "SELECT x ~  '[aA](?s:.)[b-cB-C]'"),
    ("SELECT x !~* 'k'", "SELECT x !~  '[kK]'"),
    (r"SELECT E'it\'s', e'a\\b', E'c'", r"SELECT 'it''s', 'a\b', 'c'"),
    ("SELECT btrim(a), every(b)", "SELECT trim(a), bool_and(b)"),
]


@pytest.mark.parametrize(("sql", "made"), READ)
def test_a_spelling_is_read(sql: str, made: str) -> None:
    assert read(sql, "sales") == made


def test_a_schema_of_the_policy_keeps_its_name() -> None:
    assert read("SELECT a FROM public.t", "public") == "SELECT a FROM public.t"
    assert read("SELECT a FROM clinic.public.t", "public") == "SELECT a FROM        public.t"


def test_places_lead_back_to_the_text() -> None:
    sql = "SELECT TO_CHAR(day, 'YYYY-MM'), every(x) FROM clinic.public.visits WHERE nothing"
    asked = understood(sql, "clinic")
    for word in ("SELECT", "day", "x)", "FROM", "visits", "WHERE", "nothing"):
        assert asked.original(asked.text.index(word)) == sql.index(word)
    assert asked.original(asked.text.index("strftime") + 3) == sql.index("TO_CHAR")
    assert asked.original(asked.text.index("'%Y-%m'") + 2) == sql.index("'YYYY-MM'")
    assert asked.original(len(asked.text)) == len(sql)


def test_the_caret_of_a_refusal_stands_under_the_words_of_the_client(db: dpsql.Connection) -> None:
    sql = "SELECT TO_CHAR(born, 'YYYY'), SUM(age / income) FROM public.patients GROUP BY 1"
    asked = understood(sql, "clinic")
    with pytest.raises(dpsql.Error) as refused:
        db.execute(asked.text)
    assert refused.value.code == "D301"
    start, end = refused.value.start, refused.value.end
    assert start is not None
    assert end is not None
    assert sql[asked.original(start) : asked.original(end)] == "age / income"


@pytest.mark.parametrize(
    "call", ["to_char(5, 'FM999')", "to_char(DATE '2024-01-05', 'Q')", "to_number('12', '99')"]
)
def test_what_is_left_alone_is_refused(db: dpsql.Connection, call: str) -> None:
    with pytest.raises(dpsql.Error) as refused:
        db.execute(read(f"SELECT {call}"))
    assert refused.value.code == "D204"


@pytest.mark.parametrize("behind", ["|| 'b|c'", "::text", "COLLATE x", "+ 1"])
def test_a_pattern_that_goes_on_is_left_alone(behind: str) -> None:
    """Only its first part would be read in both cases."""
    asked = f"SELECT COUNT(*) FROM t WHERE w ~* 'a' {behind}"
    assert understood(asked, "clinic").text == asked


@pytest.mark.parametrize("pattern", ["(a|" * 20_000, "(" * 51 + "a" + ")" * 51, "a" * 2_001])
def test_a_pattern_that_is_too_long_or_deep_is_left_alone(pattern: str) -> None:
    sql = f"SELECT COUNT(*) FROM patients WHERE ward ~* '{pattern}'"
    assert understood(sql, "clinic").text == sql

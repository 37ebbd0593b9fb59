"""Margins of ratios: none where the denominator may be zero; elsewhere they hold as often as they say."""

from __future__ import annotations

import math
from collections.abc import Iterator

import duckdb
import numpy as np
import pytest
import sqlglot

import dpsql
from dpsql.bind.released.error_formulas import formula_of
from dpsql.post.derived_margins import evaluated

POLICY = """
[budget]
epsilon = 100000
delta = 1e-6
[unit]
table = "people"
key = "id"
[tables.people.columns]
id = {}
a = { range = [0, 10] }
b = { range = [-10, 10] }
c = { range = [-10, 10] }
kind = { values = ["x", "y"] }
"""
ASKED = 300


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    """SUM(b) is 0; where two sums are asked for at epsilon 1, each deviates by about 70."""
    path = tmp_path_factory.mktemp("ratios") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 10 AS a, i % 3 - 1 AS b, 1 AS c, "
            "if(i % 2 = 0, 'x', 'y') AS kind FROM range(3000) t(i)"
        )
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


@pytest.mark.parametrize(
    "spelled",
    [
        "SUM(a) / SUM(b)",
        "1 + COUNT(*) / NULLIF(SUM(b), 0)",
        "-2 * (SUM(a) / SUM(b))",
        "CASE WHEN SUM(b) <> 0 THEN SUM(a) / SUM(b) END",
    ],
)
def test_a_ratio_by_what_may_be_zero_has_no_margin(db: dpsql.Connection, spelled: str) -> None:
    answers = [db.execute(f"SELECT {spelled} FROM people", epsilon=1 + n / 1e6) for n in range(20)]
    bare = [answer for answer in answers if answer.margins == [(None,)] and answer.rows != [(None,)]]
    assert len(bare) >= 15  # a denominator may come out large
    assert all("± ?" in str(answer) and "Nobody can say how far off" in answer.note for answer in bare)


@pytest.mark.parametrize(
    ("ratio_sql", "where", "least"),
    [
        ("SUM(a) / SUM(c)", "id < 200", 0.5),
        ("SUM(a) / SUM(c)", "true", 1.0),
        ("CASE WHEN SUM(c) > 0 THEN SUM(a) / SUM(c) ELSE 0 END", "true", 1.0),
    ],
)
def test_other_ratios_hold_as_often_as_they_say(
    db: dpsql.Connection, ratio_sql: str, where: str, least: float
) -> None:
    """Of 200 rows the denominator is about three of its deviations: most answers have a margin."""
    sql = f"SELECT {ratio_sql} FROM people WHERE {where}"
    held = margins = 0
    for n in range(ASKED):
        answer = db.execute(sql, epsilon=1 + n / 1e6)
        ((ratio,),), ((margin,),) = answer.rows, answer.margins
        margins += margin is not None
        held += margin is not None and abs(ratio - 4.5) <= margin
    assert margins >= least * ASKED
    assert held >= 0.9 * margins


def test_a_number_that_rests_on_noise_is_not_said_to_have_too_much(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT COUNT(*) FROM people WHERE a > (SELECT AVG(a) FROM people)")
    assert "rests on others" in answer.note
    assert "Nobody can say" not in answer.note


def test_a_value_that_is_chosen_by_votes_has_no_margin_to_miss(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT MODE(a) FROM people")
    assert "±" not in str(answer)
    assert "Nobody can say" not in answer.note


@pytest.mark.parametrize(
    "spelled",
    [
        "CASE WHEN SUM(b) > 0 THEN SUM(c) ELSE 0 END",
        "IF(COUNT(*) > 3000 AND SUM(b) > -9000, SUM(a), 1e6)",
        "1 + CASE WHEN SUM(b) = 0 THEN 7 WHEN SUM(c) > 5 THEN COUNT(*) END",
    ],
)
def test_a_case_whose_condition_noise_may_change_has_no_margin(db: dpsql.Connection, spelled: str) -> None:
    """SUM(b) is 0, and there are 3,000 rows."""
    answers = [db.execute(f"SELECT {spelled} FROM people", epsilon=1 + n / 1e6) for n in range(20)]
    assert sum(answer.margins == [(None,)] for answer in answers) >= 15  # noise may bring it far from 0


@pytest.mark.parametrize(
    "spelled",
    [
        "COALESCE(AVG(a), 0)",
        "1 + GREATEST(STDDEV(a), 2)",
        "LEAST(AVG(b), 7)",
        "COALESCE(MEDIAN(a), 0)",
        "COALESCE(CORR(a, b), 0)",
        "COALESCE(NULLIF(COUNT(*), 2), 9)",
        "SQRT(ABS(COUNT(*)))",
        "POWER(ABS(SUM(a)), 0.5)",
    ],
)
def test_what_may_be_null_or_next_to_zero_has_no_margin_by_another_name(
    db: dpsql.Connection, spelled: str
) -> None:
    """There are two rows. Of 3,000, noise makes nothing NULL, and brings nothing near zero."""
    few = [
        db.execute(f"SELECT {spelled} FROM people WHERE id < 2", epsilon=1 + n / 1e6).margins
        for n in range(20)
    ]
    assert few.count([(None,)]) >= 15
    if "MEDIAN" not in spelled and "NULLIF" not in spelled:
        ((margin,),) = db.execute(f"SELECT {spelled} FROM people", epsilon=20.0).margins
        assert margin


def test_a_case_whose_condition_is_sure_has_that_of_its_arm(db: dpsql.Connection) -> None:
    arms = "COUNT(*), CASE WHEN SUM(c) > 100 AND NOT SUM(a) BETWEEN 0 AND 5 THEN COUNT(*) ELSE SUM(b) END"
    ((count, chosen),) = db.execute(f"SELECT {arms} FROM people", epsilon=20.0).margins
    assert count is not None
    assert chosen is not None
    assert count <= chosen <= count + 1


@pytest.mark.parametrize(
    "spelled",
    [
        "CASE WHEN 1 = 1 THEN COUNT(*) * 2 END",
        "IF(2 > 3, 5, SUM(a) / SUM(c))",
        "CASE WHEN NULL IS NULL THEN 1 + COUNT(*) END",
        "IF(1 = 1, 5, COUNT(*))",
        "IF(COUNT(*) > -1e9, 5, COUNT(*) + 1)",
        "CASE WHEN COUNT(*) > NULL THEN COUNT(*) END",
        "COUNT(*) + CASE WHEN NOT NULL THEN 1 ELSE 2 END",
    ],
)
@pytest.mark.parametrize("keyed", [False, True])
def test_constants_choose_and_are_chosen(db: dpsql.Connection, spelled: str, keyed: bool) -> None:
    keys = (", kind", " WHERE kind IN ('x', 'y') GROUP BY kind") if keyed else ("", "")
    answer = db.execute(f"SELECT {spelled} AS v{keys[0]} FROM people{keys[1]}", epsilon=20.0)
    assert all(
        (row[0] is None) == (margin[0] is None)
        for row, margin in zip(answer.rows, answer.margins, strict=True)
    )


@pytest.mark.parametrize(
    "sql",
    [
        "CASE WHEN x > 0 AND y > 0 THEN x / y END",
        "CASE WHEN x > 0 OR y >= 0 THEN x WHEN NOT (x < y) THEN y ELSE 7 END",
        "IF(x IS NULL OR NOT x BETWEEN -1 AND y, y, x + 1)",
        "CASE WHEN x <> y AND NOT y IS NULL THEN 1 WHEN x = y THEN 2 WHEN x <= y THEN NULL ELSE x END",
    ],
)
def test_draws_take_the_arm_that_duckdb_takes(sql: str) -> None:
    """NULL is neither true nor false, and its negation neither."""
    values = [None, -2.0, -1.0, 0.0, 1.0, 3.0]
    named = sql.replace("x", "r.x").replace("y", "r.y")
    formula = formula_of(sqlglot.parse_one(named, dialect="duckdb"), "r", {})
    assert formula is not None
    rows = duckdb.execute(
        f"SELECT x, y, {sql} FROM (SELECT unnest($1) AS x), (SELECT unnest($1) AS y)", [values]
    ).fetchall()
    numbers = np.array([[math.nan if each is None else float(each) for each in row] for row in rows])
    x, y, expected = numbers.T
    np.testing.assert_array_equal(evaluated(formula, {"x": x, "y": y}), expected)

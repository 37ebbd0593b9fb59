"""Margins of ratios: none where the denominator may be zero; elsewhere they hold as often as they say."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import dpsql

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
"""
ASKED = 300


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    """SUM(b) is 0; where two sums are asked for at epsilon 1, each deviates by about 70."""
    path = tmp_path_factory.mktemp("ratios") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, i % 10 AS a, i % 3 - 1 AS b, 1 AS c FROM range(3000) t(i)"
        )
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


@pytest.mark.parametrize(
    "spelled", ["SUM(a) / SUM(b)", "1 + COUNT(*) / NULLIF(SUM(b), 0)", "-2 * (SUM(a) / SUM(b))"]
)
def test_a_ratio_by_what_may_be_zero_has_no_margin(db: dpsql.Connection, spelled: str) -> None:
    answers = [db.execute(f"SELECT {spelled} FROM people", epsilon=1 + n / 1e6) for n in range(20)]
    bare = [answer for answer in answers if answer.margins == [(None,)] and answer.rows != [(None,)]]
    assert len(bare) >= 15  # a denominator may come out large
    assert all("± ?" in str(answer) and "too much noise" in answer.note for answer in bare)


@pytest.mark.parametrize(("where", "least"), [("id < 200", 0.5), ("true", 1.0)])
def test_other_ratios_hold_as_often_as_they_say(db: dpsql.Connection, where: str, least: float) -> None:
    """Of 200 rows the denominator is about three of its deviations: most answers have a margin."""
    sql = f"SELECT SUM(a) / SUM(c) FROM people WHERE {where}"
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
    assert "too much noise" not in answer.note


def test_a_value_that_is_chosen_by_votes_has_no_margin_to_miss(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT MODE(a) FROM people")
    assert "±" not in str(answer)
    assert "too much noise" not in answer.note

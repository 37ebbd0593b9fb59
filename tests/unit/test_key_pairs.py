"""Combinations of public keys that conditions exclude: never one that has a row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from listed_groups import occurring, session_over, shown

from dpsql.audit import plan_of
from dpsql.facts import conditions_met
from dpsql.ir.plan import PublicKeys
from dpsql.ir.relation import JoinKind
from dpsql.session import Session

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
max_epsilon = 100.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
cohort = { range = [1, 4] }
week = { range = [1, 4] }
size = { range = [0, 9] }
sex = { values = ["f", "m"] }
[tables.visits]
unit = { column = "id" }
rows_per_unit = 5
[tables.visits.columns]
week = { range = [1, 4] }
day = { range = [1, 4] }
"""

TABLES = """
CREATE TABLE people (id INTEGER PRIMARY KEY, cohort INTEGER, week INTEGER, size INTEGER, sex VARCHAR);
INSERT INTO people SELECT
    i, nullif(i % 5, 0), nullif(i // 5 % 5, 0), i % 10, [NULL, 'f', 'm'][1 + i % 3]
FROM range(3000) AS t(i);
CREATE TABLE visits (id INTEGER, week INTEGER, day INTEGER);
INSERT INTO visits SELECT i % 2000, nullif(hash(i) % 5, 0), nullif(hash(i + 9000) % 5, 0)
FROM range(6000) AS t(i);
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with session_over(tmp_path_factory.mktemp("pairs"), TABLES, POLICY) as found:
        yield found


LATE_VISITS = "(SELECT id, week, day FROM visits WHERE day > week)"
PEOPLE = "(SELECT id, cohort AS c, week AS w FROM people WHERE size > 0)"

EXACT = {
    "a comparison": "SELECT cohort, week, COUNT(*) FROM people WHERE week >= cohort GROUP BY cohort, week",
    "over a subquery": f"SELECT c, w, COUNT(*) FROM {PEOPLE} WHERE w > c AND c + w < 6 GROUP BY c, w",
    "of computed keys": "SELECT cohort + 1 AS next, week * 2 AS twice, COUNT(*) FROM people "
    "WHERE week * 2 > cohort + 1 GROUP BY next, twice",
    "an alternative": "SELECT cohort, sex, COUNT(*) FROM people WHERE sex = 'f' OR cohort = 1 GROUP BY ALL",
    "NULL beside what is": "SELECT cohort, sex, COUNT(*) FROM people WHERE sex IS NULL OR cohort = 1 "
    "GROUP BY cohort, sex",
    "an inner join's condition": "SELECT p.cohort, v.week, COUNT(*) FROM people p JOIN visits v "
    "ON p.id = v.id AND v.week >= p.cohort GROUP BY p.cohort, v.week",
    "within units": "SELECT c, n, COUNT(*) FROM (SELECT id, cohort AS c, week AS n FROM people "
    "WHERE week > cohort GROUP BY id, cohort, week) GROUP BY c, n",
}


@pytest.mark.parametrize("kind", EXACT)
def test_what_is_left_is_what_occurs(kind: str, session: Session) -> None:
    """Every combination that the condition allows has a row in this table."""
    assert shown(session, EXACT[kind]) == occurring(TABLES, EXACT[kind])


WHOLE = {
    "a condition with another column": (
        "SELECT cohort, week, COUNT(*) FROM people WHERE week >= cohort OR size > 4 GROUP BY cohort, week",
        25,
    ),
    "the side of an outer join that may be missing": (
        f"SELECT v.week, v.day, COUNT(*) FROM people LEFT JOIN {LATE_VISITS} v USING (id) GROUP BY ALL",
        16,  # of weeks before 4 and days after 1, and NULL
    ),
    "a FILTER of one aggregate": (
        "SELECT cohort, week, COUNT(*) FILTER (WHERE week >= cohort) FROM people GROUP BY cohort, week",
        25,
    ),
    "an outer join's condition": (
        "SELECT p.cohort, v.week, COUNT(*) FROM people p LEFT JOIN visits v "
        "ON p.id = v.id AND v.week > p.cohort GROUP BY p.cohort, v.week",
        25,
    ),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_other_conditions_exclude_none(kind: str, session: Session) -> None:
    sql, size = WHOLE[kind]
    listed = shown(session, sql)
    assert len(listed) == size
    assert listed >= occurring(TABLES, sql)


def test_subtotals_are_of_what_is_left(session: Session) -> None:
    sql = "SELECT cohort, week, COUNT(*) FROM people WHERE week > cohort GROUP BY ROLLUP (cohort, week)"
    (planned,) = plan_of(session, sql, 1.0).measures
    assert isinstance(planned.rule, PublicKeys)
    assert planned.rule.sizes() == {0: 6, 1: 3, 2: 1}


def test_a_condition_below_an_outer_join_is_caught(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: a LEFT join is taken for an inner one; the group of those without visits is gone."""
    sql, _ = WHOLE["the side of an outer join that may be missing"]
    kinds = {"INNER": JoinKind.LEFT, "LEFT": JoinKind.INNER, "FULL": JoinKind.FULL}
    monkeypatch.setattr(conditions_met, "JoinKind", type("Planted", (), kinds))
    assert not shown(session, sql) >= occurring(TABLES, sql)

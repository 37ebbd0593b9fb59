"""Margins of what is computed above a release: of sums, shares, differences, moving averages and ratios.

The truth is plain DuckDB's answer to the same query. All noise is seeded here, so no test fails by chance;
with a fresh seed each would fail less than once in a million.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.aggregates import Floats
from dpsql.answer import Answer
from dpsql.audit import plan_of
from dpsql.ir.measure import REPLICAS
from dpsql.ir.plan import MeasurePlan, Noise, Plan
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.post import replicas as drawing
from dpsql.post import sealed
from dpsql.post.finish import finish
from dpsql.post.replicas import replicas_of
from dpsql.post.sealed import Sealed
from dpsql.post.stages import types_of_stages
from dpsql.release.release import release
from dpsql.releasing import answer_of
from dpsql.session import Session

DAYS = 360
NEAR_95 = (0.93, 0.97)
"""Of 21,600 margins (60 draws of 360 days), of which seven depend on each other: 0.95 +- 5 deviations."""

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
accountant = "{accountant}"
[query]
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
day = {{ range = [1, 360] }}
spent = {{ range = [0, 100] }}
sex = {{ values = ["f", "m"] }}
town = {{}}
[tables.weeks]
public = true
"""

TABLES = f"""
CREATE TABLE people (id INTEGER PRIMARY KEY, day INTEGER NOT NULL, spent INTEGER, sex VARCHAR, town VARCHAR);
INSERT INTO people SELECT i, 1 + i % {DAYS}, 20 + i % 50, if(i % 3 = 0, 'f', 'm'), 'town ' || (i % 20)
FROM range(90 * {DAYS}) AS t(i);
CREATE TABLE weeks (day INTEGER, week INTEGER);
INSERT INTO weeks SELECT i + 1, i // 5 FROM range({DAYS}) AS t(i);
"""


ACCOUNTANTS = ("zcdp", "approx")
"""Gaussian noise and Laplace noise."""


def in_turn(kinds: Iterable[str]) -> pytest.MarkDecorator:
    """Try each kind under one accountant, in turn: it takes long, and knows nothing of the noise."""
    tried = [(ACCOUNTANTS[place % 2], kind) for place, kind in enumerate(kinds)]
    return pytest.mark.parametrize(("session", "kind"), tried, indirect=["session"])


@pytest.fixture(scope="module", params=ACCOUNTANTS)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = tmp_path_factory.mktemp("replicas") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    path.with_suffix(".toml").write_text(POLICY.format(accountant=request.param))
    with dpsql.connect(path) as connection:
        yield connection._open()


class Drawn:
    """Answers of one plan of one stage, each with noise of its own, from a seed."""

    def __init__(self, session: Session, sql: str, epsilon: float = 1.0) -> None:
        self.plan: Plan = plan_of(session, sql, epsilon)
        self._session, self._words = session, random.Random(sql).randbytes
        self._types = types_of_stages(self.plan.stages, session.sealed)
        self._exact: list[ExactTable] = [session.engine.measure(each) for each in self.plan.measures]

    def released(self) -> list[ReleasedTable]:
        pairs = zip(self._exact, self.plan.measures, strict=True)
        return [release(exact, each, self._noise) for exact, each in pairs]

    def answer(self) -> Answer:
        self._session.sealed.begin()
        return answer_of(self._session, self.plan, self.released(), self._types, 1.0, False)

    def _noise(self, noise: Noise, size: int) -> NDArray[np.int64]:
        return mechanism(noise.mechanism).draw(noise.scale, size, self._words)


BY_DAY = "(SELECT day, COUNT(*) AS n, SUM(spent) AS s FROM people GROUP BY day)"
BY_SEX = "(SELECT day, sex, COUNT(*) AS n FROM people GROUP BY day, sex)"

LINEAR = {
    "n + 1": f"SELECT n + 1 FROM {BY_DAY} ORDER BY day",
    "a difference": f"SELECT 2 * n - s / 30 FROM {BY_DAY} ORDER BY day",
    "a moving average": f"SELECT AVG(n) OVER (ORDER BY day ROWS 6 PRECEDING) FROM {BY_DAY} ORDER BY day",
    "growth": f"SELECT n - LAG(n) OVER (ORDER BY day) FROM {BY_DAY} ORDER BY day",
    "a sum over groups": f"SELECT week, SUM(n) FROM {BY_DAY} JOIN weeks USING (day) GROUP BY week ORDER BY 1",
    "a sum of a part": f"SELECT day, SUM(n) FILTER (WHERE sex = 'f') FROM {BY_SEX} GROUP BY day ORDER BY day",
}

RATIOS = {
    "a share": "SELECT 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () FROM people GROUP BY day ORDER BY day",
    "relative growth": f"SELECT n / LAG(n) OVER (ORDER BY day) - 1 FROM {BY_DAY} ORDER BY day",
    "of a subquery": "SELECT COUNT(*) / (SELECT COUNT(*) FROM people) FROM people GROUP BY day ORDER BY day",
    "a product of a mean": "SELECT n * a FROM "
    "(SELECT day, COUNT(*) AS n, AVG(spent) AS a FROM people GROUP BY day) ORDER BY day",
}


def truth(sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute(TABLES)
        return connection.execute(sql).fetchall()


def share_held(drawn: Drawn, rows: list[tuple[Any, ...]], draws: int) -> float:
    """The share of the margins of the last column that hold the truth; all of its numbers have one."""
    held: list[bool] = []
    for _ in range(draws):
        answer = drawn.answer()
        assert len(answer.rows) == len(rows)
        for found, margins, true in zip(answer.rows, answer.margins, rows, strict=True):
            if found[-1] is None:
                continue
            assert margins[-1] is not None
            held.append(abs(float(found[-1]) - float(true[-1])) <= margins[-1])
    return float(np.mean(held))


@in_turn(LINEAR)
def test_margins_of_linear_outputs_hold_the_truth(kind: str, session: Session) -> None:
    assert NEAR_95[0] < share_held(Drawn(session, LINEAR[kind]), truth(LINEAR[kind]), 60) < NEAR_95[1]


@in_turn(RATIOS)
def test_margins_of_ratios_hold_the_truth(kind: str, session: Session) -> None:
    """At a price at which each denominator is beyond five deviations of zero; counts are in coarse steps."""
    drawn = Drawn(session, RATIOS[kind], 4.0)
    assert NEAR_95[0] < share_held(drawn, truth(RATIOS[kind]), 40) < NEAR_95[1] + 0.015


COARSE = {
    "n + 1": "SELECT n + 1 FROM (SELECT day, COUNT(*) AS n FROM people GROUP BY day) ORDER BY day",
    "a mean of days": "SELECT AVG(n) FROM (SELECT day, COUNT(*) AS n FROM people GROUP BY day) "
    "GROUP BY day // 3 ORDER BY day // 3",
    "rounded": f"SELECT ROUND(n / 6.0) FROM {BY_DAY} ORDER BY day",
}


@pytest.mark.parametrize("epsilon", [1.0, 2.5, 4.0])
@pytest.mark.parametrize("kind", COARSE)
def test_margins_in_coarse_steps_hold_the_truth(kind: str, epsilon: float, session: Session) -> None:
    """A count whose noise is 0 or 1: two deviations of it may be less than the 1."""
    drawn = Drawn(session, COARSE[kind], epsilon)
    assert share_held(drawn, truth(COARSE[kind]), 10) > NEAR_95[0]


NONE = {
    "MAX": f"SELECT MAX(n) AS x FROM {BY_DAY}",
    "MIN": f"SELECT MIN(n) AS x FROM {BY_DAY}",
    "RANK": f"SELECT RANK() OVER (ORDER BY n) AS x FROM {BY_DAY}",
    "in a noisy order": f"SELECT SUM(n) OVER (ORDER BY n) AS x FROM {BY_DAY}",
    "among the first": f"SELECT n + 1 AS x FROM {BY_DAY} ORDER BY n DESC LIMIT 5",
    "by its place": f"SELECT n + 1 AS x FROM {BY_DAY} ORDER BY 1 LIMIT 5",
    "after the first": f"SELECT SUM(n) AS x FROM (SELECT n FROM {BY_DAY} ORDER BY n LIMIT 5)",
    "WHERE": f"SELECT SUM(n) AS x FROM {BY_DAY} WHERE n > 90",
    "HAVING": "SELECT SUM(COUNT(*)) OVER () AS x FROM people GROUP BY day HAVING COUNT(*) > 90",
    "QUALIFY": f"SELECT n + 1 AS x FROM {BY_DAY} QUALIFY RANK() OVER (ORDER BY n) < 9",
    "DISTINCT": f"SELECT DISTINCT n + 1 AS x FROM {BY_DAY}",
    "merged by a number": f"SELECT COUNT(*) AS x FROM {BY_DAY} GROUP BY n",
    "counted by a number": f"SELECT COUNT(*) AS x FROM {BY_DAY} WHERE n > 90",
    "joined by a number": f"SELECT SUM(a.n) AS x FROM {BY_DAY} AS a JOIN {BY_DAY} AS b ON a.n < b.n",
    "a named window over a noisy one": f"SELECT SUM(n) OVER w AS x FROM {BY_DAY} "
    "WINDOW v AS (PARTITION BY n), w AS (v ORDER BY day)",
    "joined using a number": "SELECT COUNT(*) AS x FROM "
    "(SELECT day AS d, COUNT(*) AS day FROM people GROUP BY day) JOIN weeks USING (day)",
    "a noisy condition": f"SELECT CASE WHEN n > 90 THEN n ELSE 0 END AS x FROM {BY_DAY}",
    "distinct values": f"SELECT SUM(DISTINCT n) AS x FROM {BY_DAY}",
    "a root": f"SELECT sqrt(abs(n)) + 1 AS x FROM {BY_DAY}",
    "whole parts": f"SELECT n // 7 AS x FROM {BY_DAY}",
    "a quantile": "SELECT SUM(m) AS x FROM (SELECT sex, MEDIAN(spent) AS m FROM people GROUP BY sex)",
    "an extreme": "SELECT SUM(m) AS x FROM (SELECT sex, MAX(spent) AS m FROM people GROUP BY sex)",
    "a ratio inside a sum": f"SELECT SUM(s / n) AS x FROM {BY_DAY}",
    "another query's rows": f"SELECT SUM(n) AS x FROM {BY_DAY} "
    f"WHERE day IN (SELECT day FROM {BY_DAY} WHERE n > 90)",
    "EXCEPT": f"SELECT day, n AS x FROM {BY_DAY} EXCEPT SELECT day, 0 FROM weeks",
    "INTERSECT": f"SELECT n AS x FROM {BY_DAY} INTERSECT SELECT day FROM range(60, 120) AS t(day)",
    "UNION": f"SELECT day, 2 * n AS x FROM {BY_DAY} UNION SELECT day, 0 FROM weeks",
    "by name": f"SELECT n AS x FROM {BY_DAY} UNION ALL BY NAME SELECT day, 0 AS x FROM weeks",
    "of a number released before": "SELECT SUM(n) AS x FROM (SELECT sex, COUNT(*) AS n FROM people WHERE "
    "spent > (SELECT AVG(spent) FROM people) GROUP BY sex)",
}


@in_turn(NONE)
def test_what_is_chosen_by_numbers_has_no_margin(kind: str, session: Session) -> None:
    answer = answer_without_cost(session, NONE[kind])
    place = answer.columns.index("x")
    assert answer.rows
    assert not any(row[place] is not None for row in answer.margins)
    assert place in answer.without
    assert "No margin: x" in answer.note


def answer_without_cost(session: Session, sql: str) -> Answer:
    from dpsql.post.stages import StageOutputs

    plan = plan_of(session, sql, 4.0)
    types = types_of_stages(plan.stages, session.sealed)
    so_far, tables = StageOutputs(session.sealed), list[ReleasedTable]()
    for stage in plan.stages:
        for each in stage.measures:
            tables.append(release(session.engine.measure(so_far.ready(each)), each, _seeded))
            so_far.add(each, tables[-1])
        so_far.hand_down(stage)
    return answer_of(session, plan, tables, types, 1.0, False)


def _seeded(noise: Noise, size: int) -> NDArray[np.int64]:
    return mechanism(noise.mechanism).draw(noise.scale, size, random.Random(7).randbytes)


KEPT = {
    "a public order": f"SELECT day, n + 1 AS x FROM {BY_DAY} ORDER BY day LIMIT 5",
    "a public condition": f"SELECT SUM(n) AS x FROM {BY_DAY} WHERE day < 90",
    "a public CASE": f"SELECT SUM(CASE WHEN day < 90 THEN n ELSE -n END) AS x FROM {BY_DAY}",
    "a name": f"SELECT n * 2 AS y, y + 1 AS x FROM {BY_DAY}",
    "a union": f"SELECT SUM(n) AS x FROM (SELECT n FROM {BY_DAY} UNION ALL SELECT n FROM {BY_SEX})",
    "an outer join": f"SELECT COALESCE(SUM(n), 0) AS x FROM weeks LEFT JOIN {BY_DAY} AS d USING (day)",
    "a product": f"SELECT SUM(n) * SUM(s) AS x FROM {BY_DAY}",
    "a named window": f"SELECT day, n - LAG(n) OVER w AS x FROM {BY_DAY} WINDOW w AS (ORDER BY day)",
    "a mean of ratios": f"SELECT AVG(r) AS x FROM (SELECT n / SUM(n) OVER () AS r FROM {BY_DAY})",
    "the first": f"SELECT n - FIRST_VALUE(n) OVER (ORDER BY day) AS x FROM {BY_DAY}",
    "subqueries alone": f"SELECT (SELECT SUM(n) FROM {BY_DAY}) + 1 AS x",
    "a subquery as it is": f"SELECT day, (SELECT SUM(n) FROM {BY_DAY}) AS x FROM {BY_DAY}",
    "a histogram": "SELECT HISTOGRAM(spent, [30, 60]) AS x FROM people",
}


@in_turn(KEPT)
def test_what_is_linear_in_the_numbers_has_a_margin(kind: str, session: Session) -> None:
    answer = answer_without_cost(session, KEPT[kind])
    place = answer.columns.index("x")
    assert answer.rows
    missing = [
        row
        for row, margins in zip(answer.rows, answer.margins, strict=True)
        if margins[place] is None and row[place] is not None
    ]
    assert not missing
    assert not answer.without


def test_a_ratio_by_what_may_be_zero_has_no_margin(session: Session) -> None:
    """90 rows a day with noise of more than 18: at a fiftieth of the price."""
    drawn = Drawn(session, RATIOS["relative growth"], 0.02)
    answer = drawn.answer()
    assert not any(margin is not None for row in answer.margins for margin in row)
    assert answer.without == (0,)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT town, COALESCE(n, 0) FROM towns LEFT JOIN {} USING (town)",
        "SELECT town, 2 * COALESCE(n, 7) + 1 FROM towns LEFT JOIN {} USING (town)",
        "SELECT town, n FROM (SELECT town, IFNULL(n, 0) AS n FROM towns LEFT JOIN {} USING (town))",
    ],
)
def test_what_stands_in_for_a_hidden_group_has_no_margin(session: Session, sql: str) -> None:
    """A 0 in the place of a number that was too small to be shown is no exact 0."""
    towns = "WITH towns AS (SELECT 'town 1' AS town UNION ALL SELECT 'nowhere') "
    inner = "(SELECT town, COUNT(*) AS n FROM people GROUP BY town)"
    answer = answer_without_cost(session, towns + sql.format(inner))
    margins = {row[0]: margin[1] for row, margin in zip(answer.rows, answer.margins, strict=True)}
    assert margins["nowhere"] is None
    assert margins["town 1"]
    assert "stands in for" in answer.note


TOWNS = "(SELECT 'town 1' AS town UNION ALL SELECT 'nowhere')"
BY_TOWN = "(SELECT town, COUNT(*) AS n FROM people GROUP BY town)"
FILLED = f"{TOWNS} AS t LEFT JOIN {BY_TOWN} AS r USING (town)"


@pytest.mark.parametrize("way", ["SUM", "AVG"])
def test_what_stands_in_for_a_hidden_group_is_added_up(session: Session, way: str) -> None:
    """As a value of the query, and as one beside others: with the same margin."""
    inner = f"SELECT {way}(COALESCE(n, 0)) FROM {FILLED}"
    ((alone,),) = answer_without_cost(session, inner).margins
    answer = answer_without_cost(session, f"SELECT 1 AS one, ({inner}) AS v")
    assert alone is not None
    assert answer.margins[0][1] == pytest.approx(alone, rel=0.1)
    assert "stands in for" not in answer.note


@pytest.mark.parametrize(
    "outputs",
    [
        "town, COALESCE(n, 0), ROW_NUMBER() OVER (ORDER BY town)",
        "town, COALESCE(n, 0), SUM(n) OVER ()",
        "town, COALESCE(SUM(n), 0), COUNT(*)",
    ],
)
def test_nothing_stands_in_beside_windows_and_sums(session: Session, outputs: str) -> None:
    grouped = " GROUP BY town" * ("SUM(n), 0" in outputs)
    answer = answer_without_cost(session, f"SELECT {outputs} FROM {FILLED}{grouped}")
    margins = {row[0]: margin[1] for row, margin in zip(answer.rows, answer.margins, strict=True)}
    assert margins["nowhere"] is None
    assert margins["town 1"]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(COALESCE(n, 0)) FROM {FILLED} WHERE town = 'nowhere'",
        f"SELECT SUM(n) FROM (SELECT COALESCE(n, 0) AS n FROM {FILLED} WHERE town = 'nowhere')",
        f"SELECT n FROM (SELECT town, IFNULL(n, 0) AS n, SUM(n) OVER() FROM {FILLED}) WHERE town = 'nowhere'",
        f"SELECT SUM(COALESCE(n, 0)) OVER () FROM {FILLED} WHERE town = 'nowhere'",
    ],
)
def test_a_sum_of_what_stands_in_for_hidden_groups_is_no_exact_zero(session: Session, sql: str) -> None:
    answer = answer_without_cost(session, sql)
    assert answer.rows == [(0,)]
    assert answer.margins == [(None,)]
    assert "stands in for" in answer.note


@pytest.mark.parametrize("from_", [BY_TOWN, BY_DAY])
def test_where_nothing_is_missing_nothing_is_said(session: Session, from_: str) -> None:
    answer = answer_without_cost(session, f"SELECT COALESCE(n, 0) AS v FROM {from_}")
    assert all(margin for (margin,) in answer.margins)
    assert "stands in for" not in answer.note


def test_what_is_shown_is_what_the_plain_sql_shows(session: Session) -> None:
    """Replicas ride along: rows, values and their order are those of the SQL without them."""
    for sql in (*LINEAR.values(), *RATIOS.values(), *KEPT.values()):
        session.sealed.begin()
        drawn = Drawn(session, sql)
        tables = drawn.released()
        (stage,) = drawn.plan.stages
        finished = [finish(table, each) for table, each in zip(tables, drawn.plan.measures, strict=True)]
        measures = [each.measure for each in drawn.plan.measures]
        plain = session.sealed.run(stage.post, measures, finished, drawn._types)
        answer = answer_of(session, drawn.plan, tables, drawn._types, 1.0, False)
        assert answer.rows == [row[: len(answer.columns)] for row in plain], sql


def test_a_repeat_has_the_same_margins(session: Session) -> None:
    drawn = Drawn(session, LINEAR["growth"])
    tables = drawn.released()
    first, second = (answer_of(session, drawn.plan, tables, drawn._types, 1.0, False) for _ in range(2))
    assert first.margins == second.margins


# ---- replicas never meet the real noise ----------------------------------------------------------------


def measured(session: Session) -> tuple[ExactTable, MeasurePlan]:
    (planned,) = plan_of(session, f"SELECT SUM(n) FROM {BY_DAY}", 1.0).measures
    return session.engine.measure(planned), planned


def follows_the_noise(session: Session) -> bool:
    """Whether the replicas of 360 counts tell anything about the noise that the release has.

    The middle of the replicas, and each of them, is compared with the real noise: a correlation of 360 pairs
    is beyond 0.35 with a probability of 1e-11, for each of 65 comparisons.
    """
    exact, planned = measured(session)
    released = release(exact, planned, _seeded)
    noise = (released.sums[:, 0] - exact_sums(exact, released)).astype(np.float64)
    found = replicas_of(released, planned, 0)
    assert found is not None
    shown = finish(released, planned)[1]
    away = found[0].numbers - np.array(shown.values, dtype=np.float64)[:, np.newaxis]
    compared = [*away.T, away.mean(axis=1)]
    return any(abs(correlation(each, noise)) > 0.35 for each in compared)


def exact_sums(exact: ExactTable, released: ReleasedTable) -> NDArray[np.int64]:
    by_group = dict(zip(exact.groups, exact.sums[:, 0].tolist(), strict=True))
    return np.array([by_group[group] for group in released.groups])


def correlation(one: Floats, other: Floats) -> float:
    return 0.0 if one.std() < 1e-9 or other.std() < 1e-9 else float(np.corrcoef(one, other)[0, 1])


def test_replicas_tell_nothing_of_the_real_noise(session: Session) -> None:
    assert not follows_the_noise(session)


def test_a_replica_of_the_real_noise_is_caught(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted error: one replica of 64 is the released table less its real noise, the exact one."""
    exact, planned = measured(session)
    released = release(exact, planned, _seeded)
    noise = (released.sums[:, 0] - exact_sums(exact, released)).astype(np.float64)
    honest = drawing._noise

    def planted(released: ReleasedTable, planned: MeasurePlan, number: int) -> Floats:
        drawn = honest(released, planned, number)
        drawn[:, 0, 17] = noise
        return drawn

    monkeypatch.setattr(drawing, "_noise", planted)
    assert follows_the_noise(session)


def test_replicas_are_made_of_the_release_and_the_plan_alone(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is drawn from the system, and there is no other seed: one release, one set of replicas."""
    exact, planned = measured(session)
    released = release(exact, planned, _seeded)

    def forbidden(size: int) -> bytes:
        raise AssertionError("a replica is drawn from the system")

    monkeypatch.setattr(os, "urandom", forbidden)
    again = ReleasedTable(list(released.groups), released.sums.copy())
    np.random.seed(5)  # the global state is not read either
    first = replicas_of(released, planned, 0)
    np.random.seed(6)
    second = replicas_of(again, planned, 0)
    assert first is not None
    assert second is not None
    assert np.array_equal(first[0].numbers, second[0].numbers)
    other = ReleasedTable(list(released.groups), released.sums + 1)
    third = replicas_of(other, planned, 0)
    assert third is not None
    assert not np.array_equal(first[0].numbers, third[0].numbers)


def test_a_number_has_the_deviation_of_its_law(session: Session) -> None:
    exact, planned = measured(session)
    released = release(exact, planned, _seeded)
    found = replicas_of(released, planned, 0)
    assert found is not None
    assert found[0].numbers.shape == (len(released.groups), REPLICAS)
    step = float(planned.measure.statistics[0].step)
    deviation = mechanism(planned.noise.mechanism).deviation(planned.noise.scale) * step
    shown = np.array(finish(released, planned)[1].values, dtype=np.float64)
    away = np.sqrt(np.square(found[0].numbers - shown[:, np.newaxis]).mean(axis=1))
    assert np.allclose(away, deviation, rtol=0.02, atol=0.6)  # rounded to whole numbers


def test_many_numbers_have_no_replicas(session: Session) -> None:
    exact, planned = measured(session)
    released = release(exact, planned, _seeded)
    large = ReleasedTable(released.groups * 12, np.tile(released.sums, (12, 1)))
    assert len(large.groups) > drawing.MOST
    assert replicas_of(large, planned, 0) is None


def test_the_files_and_frames_carry_them(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    path.with_suffix(".toml").write_text(POLICY.format(accountant="zcdp"))
    with dpsql.connect(path) as connection:
        answer = connection.execute(f"SELECT SUM(n) AS total, MAX(n) AS high, COUNT(*) AS days FROM {BY_DAY}")
        frame = answer.fetchnumpy(margins=True)
        assert list(frame) == ["total", "total_margin", "high", "high_margin", "days"]
        assert frame["total_margin"][0] > 0
        assert frame["high_margin"].mask[0]
        assert "No margin: high" in answer.note
        again = connection.execute(f"SELECT SUM(n) AS total, MAX(n) AS high, COUNT(*) AS days FROM {BY_DAY}")
        assert again.repeated
        assert again.margins == answer.margins


SENT = {
    **RATIOS,
    "beside a median": "SELECT 100.0 * n / SUM(n) OVER () FROM "
    "(SELECT day, COUNT(*) AS n FROM people GROUP BY day) JOIN "
    "(SELECT day, MEDIAN(spent) AS m FROM people GROUP BY day) USING (day) ORDER BY day",
    "a mean of what may be no row": "SELECT SUM(n * a) OVER (ORDER BY day) FROM (SELECT day, COUNT(*) AS n, "
    "AVG(spent) FILTER (WHERE day % 2 = 0) AS a FROM people GROUP BY day) ORDER BY day",
}


@pytest.mark.parametrize("name", SENT)
def test_many_are_sent_as_arrays(session: Session, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With the same half-widths, and none where there was none: NaN is not NULL."""
    drawn = Drawn(session, SENT[name])
    released = drawn.released()
    drawn.released = lambda: released  # type: ignore[method-assign]  # the same release both times
    monkeypatch.setattr(sealed, "_AS_LISTS", 10**9)
    listed = drawn.answer()
    sent = list[bool]()
    send = Sealed._send_drawings

    def noted(self: Sealed, table: str, names: list[str], drawings: list[NDArray[np.float64]]) -> None:
        sent.append(any(np.isnan(each).any() for each in drawings))
        send(self, table, names, drawings)

    monkeypatch.setattr(Sealed, "_send_drawings", noted)
    monkeypatch.setattr(sealed, "_AS_LISTS", 0)
    arrays = drawn.answer()
    assert sent
    assert any(sent) == name.startswith("a mean")
    for found, wanted in ((arrays.rows, listed.rows), (arrays.margins, listed.margins)):
        np.testing.assert_allclose(np.array(found, float), np.array(wanted, float), rtol=1e-12)

"""Sums over private views: a measure of their own beside the counts, at a share of the price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from test_private_views import DATA, POLICY, seeded

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import Plan
from dpsql.mechanisms.strategies.strategy import column
from dpsql.post.stages import types_of_stages
from dpsql.release.release import release
from dpsql.releasing import answer_of

BILLS = (
    "CREATE PRIVATE VIEW bills WITH (epsilon = 2, ranges = (day), sums = (cost)) AS "
    "SELECT day, kind, cost FROM visits WHERE cost IS NOT NULL"
)
SOME = "CREATE PRIVATE VIEW part WITH (sums = (cost)) AS SELECT kind, cost FROM visits"
ASKED = "SELECT SUM(cost) AS c, COUNT(*) AS n, AVG(cost) AS a FROM bills WHERE day < 80"


def built(folder: Path, without: int | None = None) -> Path:
    """Each visit has a cost, or NULL; unit 1 has 63 of them, and may have 4."""
    folder.mkdir(exist_ok=True)
    data = folder / "data.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute(DATA)
        connection.execute("ALTER TABLE visits ADD COLUMN cost INTEGER")
        connection.execute("UPDATE visits SET cost = nullif(hash(id, day, kind) % 1000, 7)")
        connection.execute("UPDATE visits SET cost = 1000 WHERE id = 1")
        for table in ("visits", "people") if without is not None else ():
            connection.execute(f"DELETE FROM {table} WHERE id = {without}")
    policy = POLICY.format(oldest=29, ledger="")
    kinds = 'kind = { values = ["x", "y", "z"] }\n'
    data.with_suffix(".toml").write_text(policy.replace(kinds, f"{kinds}cost = {{ range = [0, 1000] }}\n"))
    return data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return built(tmp_path / "owned")


@pytest.fixture
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(data) as connection:
        yield connection


def test_sums_are_bought_with_the_counts_and_asked_free(data: Path) -> None:
    with dpsql.connect(data, analyst="ana") as db:
        assert (db.execute(BILLS).cost, db.execute(BILLS).cost) == (2, 0)
        ((total, count, mean),) = db.execute(ASKED).rows
        answer = db.execute(ASKED)
        assert (answer.cost, answer.note) == (0, "")
        assert answer.types[1:] == ("BIGINT", "DOUBLE")
        assert None not in answer.margins[0]
        assert mean == pytest.approx(total / count)
        rows = db.execute("FROM bills WHERE day < 80").rows
        assert (sum(row[3] for row in rows), sum(row[2] for row in rows)) == (total, count)
        same = (
            "SELECT SUM(cost) FROM (SELECT * FROM bills WHERE day < 80)",
            "SELECT SUM(c) FROM (SELECT cost AS c, n FROM bills WHERE day < 80) AS t",
            "WITH b AS (SELECT kind, cost, n FROM bills WHERE day < 80) SELECT SUM(cost) FROM b",
            "SELECT SUM(cost) FILTER (WHERE day < 80) FROM bills",
        )
        for sql in same:
            assert db.execute(sql).rows == [(total,)], sql
        by_kind = "SELECT kind, AVG(cost) FILTER (WHERE day < 80) AS a FROM bills GROUP BY kind ORDER BY 1"
        assert len(db.execute(by_kind).rows) == 4
        (listed,) = [table for table in db.tables if table.name == "bills"]
        assert [each.name for each in listed.columns] == ["day", "kind", "n", "cost"]
        assert db.synthetic_rows("bills", 5).columns == ("day", "kind")
        spent = db.budget.spent
    with dpsql.connect(data, analyst="ana") as db:
        assert db.execute(ASKED).rows == [(total, count, mean)]
        assert db.budget.spent == spent == 2


def test_each_measure_has_half_of_the_price(db: dpsql.Connection) -> None:
    plan, rules = plan_of(db._open(), BILLS, 1.0), db._open().accountant
    assert [each.measure.finishes[0].call.function for each in plan.measures] == ["count", "sum"]
    whole, most = rules.charge(plan.events), rules.most(plan.epsilon, db._open().budget)
    assert whole.within(most)
    for each in plan.measures:
        assert rules.charge((*each.events, *each.events)).within(most)
        assert not rules.charge((*each.events, *each.events, *each.events)).within(most)


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> tuple[DuckDB, list[tuple[str, DuckDB]]]:
    folder = tmp_path_factory.mktemp("neighbours")
    fewer = [(f"person {each}", DuckDB(built(folder / str(each), without=each))) for each in (1, 2, 7)]
    return DuckDB(built(folder / "whole")), fewer


@pytest.mark.parametrize("sql", [BILLS, SOME])
def test_one_unit_moves_no_more_than_is_declared(
    db: dpsql.Connection, neighbours: tuple[DuckDB, list[tuple[str, DuckDB]]], sql: str
) -> None:
    """A norm that is declared as a quarter is found in either measure."""
    plan = plan_of(db._open(), sql, 1.0)
    assert sensitivity(plan, *neighbours) == []
    for place, planned in enumerate(plan.measures):
        assert planned.applied is not None
        assert column(planned.applied.strategy, planned.noise.norm) <= planned.applied.column
        assert planned.noise.sensitivity == planned.applied.clip * planned.applied.column
        short = replace(planned, noise=replace(planned.noise, sensitivity=planned.noise.sensitivity // 4))
        assert sensitivity(_with(plan, place, short), *neighbours) != []


def _with(plan: Plan, place: int, measure: object) -> Plan:
    (stage,) = plan.stages
    measures = tuple(measure if i == place else each for i, each in enumerate(stage.measures))
    return replace(plan, stages=(replace(stage, measures=measures),))  # type: ignore[arg-type]  # planned measures


def test_margins_hold(db: dpsql.Connection) -> None:
    """Of sums and means, over 6 releases with seeded bytes."""
    session = db._open()
    db.execute(BILLS)
    held = tried = 0
    for sql in (
        "SELECT day // 10, SUM(cost) FROM bills GROUP BY ALL ORDER BY ALL",
        "SELECT kind, SUM(cost) FILTER (WHERE day BETWEEN 10 AND 60) FROM bills GROUP BY kind ORDER BY ALL",
        "SELECT kind, COUNT(*) FROM bills GROUP BY kind ORDER BY ALL",
        "SELECT AVG(cost) FROM bills",
    ):
        plan = db._priced(sql, (), None)[0]
        session.sealed.begin()
        types = types_of_stages(plan.stages, session.sealed)
        exact = [session.engine.measure(each) for each in plan.measures]

        def numbers(draw, plan: Plan = plan, types: list[str] = types, exact=exact):  # type: ignore[no-untyped-def]  # a loop's values
            made = [release(table, each, draw) for table, each in zip(exact, plan.measures, strict=True)]
            answer = answer_of(session, plan, made, types, 0.0, False)
            return [row[-1] for row in answer.rows], [row[-1] for row in answer.margins]

        truth, _ = numbers(lambda noise, size: np.zeros(size, np.int64))
        for number in range(6):
            values, margins = numbers(seeded((sql, number)))
            for value, margin, true in zip(values, margins, truth, strict=True):
                held += abs(float(value) - float(true)) <= margin
                tried += 1
    assert 0.92 <= held / tried <= 0.99


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT MAX(cost) FROM part", "D409"),
        ("SELECT SUM(cost * n) FROM part", "D409"),
        ("SELECT COUNT(cost) FROM part", "D409"),
        ("SELECT AVG(cost) FROM part", "D409"),  # some have none: NULL
        ("SELECT SUM(a.cost) FROM part a JOIN part b USING (kind)", "D409"),
        ("SELECT SUM(r.cost) FROM part JOIN (SELECT 3 AS cost) AS r ON n > 0", "D409"),
        ("SELECT SUM(DISTINCT cost) FROM part", "D409"),
        ("CREATE PRIVATE VIEW v WITH (sums = (kind)) AS SELECT kind, day FROM visits", "D205"),
        ("CREATE PRIVATE VIEW v WITH (sums = (day), ranges = (day)) AS SELECT kind, day FROM visits", "D105"),
        ("CREATE PRIVATE VIEW v WITH (dimensions = day, sums = day) AS SELECT kind, day FROM visits", "D105"),
        ("CREATE PRIVATE VIEW v WITH (sums = (day), method = 'mst') AS SELECT kind, day FROM visits", "D105"),
        ("CREATE PRIVATE VIEW v WITH (sums = (costs)) AS SELECT kind, cost FROM visits", "D202"),
        ("CREATE PRIVATE VIEW v WITH (sums = (cost, Cost)) AS SELECT kind, cost FROM visits", "D105"),
    ],
)
def test_what_sums_cannot_say_is_refused(db: dpsql.Connection, sql: str, code: str) -> None:
    db.execute(SOME)
    spent = db.budget.spent
    with pytest.raises(dpsql.Error) as caught:
        db.execute(sql)
    assert (caught.value.code, db.budget.spent) == (code, spent)
    assert caught.value.help


def test_a_sum_that_was_not_bought_says_how_to_buy_it(db: dpsql.Connection) -> None:
    db.execute("CREATE PRIVATE VIEW plain AS SELECT kind, day FROM visits")
    with pytest.raises(dpsql.Error) as caught:
        db.execute("SELECT SUM(day) FROM plain")
    assert "WITH (sums = (cost))" in str(caught.value)


def test_the_owner_writes_one_into_the_policy(data: Path) -> None:
    policy = data.with_suffix(".toml")
    made = '\n[views.bought]\nsql = "SELECT kind, cost FROM visits"\nprivate = { sums = ["cost"] }\n'
    policy.write_text(policy.read_text() + made)
    with dpsql.connect(data) as db:
        assert db.execute("SELECT SUM(cost) AS c, SUM(n) AS n FROM bought").cost == 1.0
        assert db.execute("SELECT kind, SUM(cost) AS c FROM bought GROUP BY kind").cost == 0

"""Private views of synthetic rows: what a unit moves in what is measured of a table, and what is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from test_private_views import built
from test_synthetic import Recorder, Replay, seeded

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity
from dpsql.engines.coded_groups import coded_sql
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.measure_sql import TOTAL
from dpsql.ir.event import ChoiceEvent, GaussianEvent
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactTable
from dpsql.mechanisms.synthetic import draws
from dpsql.mechanisms.synthetic.methods import METHODS
from dpsql.post import synthetic
from dpsql.post.synthetic import rows_of
from dpsql.release.release import from_system, release
from dpsql.release.synthetic import counts_of

MADE = "CREATE PRIVATE VIEW made WITH (epsilon = 1, method = '{}') AS SELECT age, sex, ward FROM people"
BUSY = (
    "CREATE PRIVATE VIEW busy WITH (method = '{}') AS SELECT day // 10 AS d, day % 3 AS r, kind FROM visits"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return built(tmp_path / "owned")


@pytest.fixture
def db(data: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(data) as connection:
        yield connection


def planned_of(db: dpsql.Connection, sql: str) -> tuple[Plan, MeasurePlan, SyntheticRows]:
    plan = plan_of(db._open(), sql, 1.0)
    (planned,) = plan.measures
    assert isinstance(planned.rule, SyntheticRows)
    return plan, planned, planned.rule


# ---- buying and asking ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_it_is_bought_once_and_asked_free(data: Path, method: str) -> None:
    asked = "SELECT sex, SUM(n) AS n FROM made WHERE age < 20 GROUP BY sex ORDER BY 1"
    with dpsql.connect(data, analyst="ana") as db, dpsql.connect(data, analyst="bo") as bo:
        bought = db.execute(MADE.format(method))
        assert (bought.cost, bought.rows[0][0]) == (1.0, "made")
        assert abs(bought.rows[0][2] - 400) < 3.5 * bought.margins[0][2]
        first = db.execute(asked)
        assert (first.cost, db.execute("SELECT COUNT(*) FROM made").rows[0][0]) == (0, bought.rows[0][2])
        assert {margin for row in first.margins for margin in row} == {None}
        assert f"synthetic ({method})" in first.note
        rows = db.execute("FROM made")
        assert rows.columns == ("age", "sex", "ward", "n")
        assert sum(row[3] for row in rows) == bought.rows[0][2]
        assert len({row[:3] for row in rows}) == len(rows.rows) == bought.rows[0][1]
        assert min(row[3] for row in rows) > 0
        db.execute("GRANT SELECT ON made TO bo")
        assert (bo.execute(asked).rows, bo.execute(asked).cost) == (first.rows, 0)
        db.execute("DROP PRIVATE VIEW made")
        assert db.execute(MADE.format(method)).cost == 0
        made = db.synthetic_rows("made", 2_000)
        assert (len(made.rows), made.manifest["method"], made.cost) == (2_000, method, 0)
        pairs = {tuple(each["columns"]): each["noise"] for each in made.manifest["pairs"]}
        assert 1 <= len(pairs) <= (2 if method == "mst" else 3)
        assert all(0 < noise <= 1 and len(columns) == 2 for columns, noise in pairs.items())
        spent = db.budget.spent
    with duckdb.connect(str(data)) as connection:
        connection.execute("DELETE FROM people WHERE id < 100")
    with dpsql.connect(data, analyst="ana") as db:
        after = db.execute(asked)
        assert (after.rows, db.budget.spent) == (first.rows, spent)
        assert "older than the data" in after.note
        assert db.execute("REFRESH PRIVATE VIEW made").cost == 1.0
        assert db.execute("SELECT COUNT(*) FROM made").rows[0][0] < bought.rows[0][2] + 100
    words = [sys.executable, "-m", "dpsql.cli", "budget", "verify", str(data)]
    verified = subprocess.run(words, capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.parametrize("method", METHODS)
def test_all_is_debited_before_anything_is_read(
    db: dpsql.Connection, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the debit is of all events: an interrupted purchase is completed at no further price."""
    session = db._open()

    def interrupted(planned: MeasurePlan) -> ExactTable:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(session.engine, "measure", interrupted)
        with pytest.raises(KeyboardInterrupt):
            db.execute(MADE.format(method))
    spent = db.budget.spent
    assert 0.999 < spent <= 1.0  # choices are charged a little less than they are bought for
    assert db.execute(MADE.format(method)).rows[0][2] > 0
    assert db.budget.spent == spent
    plan, _, rule = planned_of(db, MADE.format(method))
    assert plan.events == rule.plan.events
    kinds = {type(event) for event in plan.events}
    assert kinds == {GaussianEvent, ChoiceEvent}


def test_what_is_kept_gives_the_same_rows_in_every_process(db: dpsql.Connection) -> None:
    for method in METHODS:
        _, planned, _ = planned_of(db, MADE.format(method))
        kept = release(db._open().engine.measure(planned), planned, from_system)
        rows = rows_of(kept, planned)
        synthetic._combinations.cache_clear()
        again = rows_of(kept, planned)
        assert (rows.groups, rows.sums.tolist()) == (again.groups, again.sums.tolist())


# ---- one unit more or less -----------------------------------------------------------------------------

LEFT_OUT = (1, 2, 7)


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> tuple[DuckDB, list[tuple[str, DuckDB]]]:
    """Unit 1 has 63 visits, of which 60 are of one kind; it may have 4."""
    folder = tmp_path_factory.mktemp("neighbours")
    whole = DuckDB(built(folder / "whole"))
    fewer = [(f"person {each}", DuckDB(built(folder / str(each), without=each))) for each in LEFT_OUT]
    return whole, fewer


Neighbours = tuple[DuckDB, list[tuple[str, DuckDB]]]


def losses(planned: MeasurePlan, neighbours: Neighbours) -> tuple[float, float]:
    """Replay a measurement on tables that lack a unit; return the largest losses, as parts of the price."""
    assert isinstance(planned.rule, SyntheticRows)
    plan, method = planned.rule.plan, METHODS[planned.rule.plan.method]
    whole, fewer = neighbours
    recorder = Recorder(draws.Draws.from_bytes(plan.events, seeded("units")))
    method.measured(plan, counts_of(whole.measure(planned), planned), recorder)
    found = Replay(recorder)
    for _, engine in fewer:
        found.at = 0
        method.measured(plan, counts_of(engine.measure(planned), planned), found)
    return found.noise, found.choices


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sql", [MADE, BUSY])
def test_one_unit_costs_what_was_paid(
    db: dpsql.Connection, neighbours: Neighbours, sql: str, method: str
) -> None:
    """A unit moves every marginal by at most the clip, one of them by nearly all of it."""
    plan, planned, rule = planned_of(db, sql.format(method))
    assert sensitivity(plan, *neighbours) == []
    noise, choices = losses(planned, neighbours)
    assert 0.99 < noise <= 1
    assert choices <= 1
    declared = replace(planned.noise, sensitivity=rule.plan.clip // 2)
    assert sensitivity(_with(plan, replace(planned, noise=declared)), *neighbours) != []


@pytest.mark.sweep
def test_the_owners_audit_passes(data: Path, tmp_path: Path) -> None:
    script = tmp_path / "questions.sql"
    script.write_text(BUSY.format("mst"))
    words = [sys.executable, "-m", "dpsql.cli", "audit", str(data), str(script)]
    audited = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "PASSED" in audited.stdout, audited.stdout + audited.stderr


@pytest.mark.parametrize("method", METHODS)
def test_planted_errors_are_found(
    db: dpsql.Connection, neighbours: Neighbours, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clip that the engine does not enforce, by noise and by norms; a choice at eight times its rate."""
    plan, planned, rule = planned_of(db, BUSY.format(method))
    loose = replace(planned, rule=replace(rule, plan=replace(rule.plan, clip=8 * rule.plan.clip)))
    assert losses(loose, neighbours)[0] > 4
    whole, fewer = neighbours
    unclipped = [(name, _Clipped(engine, loose)) for name, engine in fewer]
    assert sensitivity(_with(plan, planned), _Clipped(whole, loose), unclipped) != []
    before = losses(planned, neighbours)[1]
    monkeypatch.setattr(draws, "rate", lambda event, clip: Fraction(4 * event.epsilon) / clip)
    assert 0.125 < before <= 1 < losses(planned, neighbours)[1]


def _with(plan: Plan, measure: MeasurePlan) -> Plan:
    (stage,) = plan.stages
    return replace(plan, stages=(replace(stage, measures=(measure,)),))


class _Clipped(DuckDB):
    """An engine that enforces the clip of another plan than the one that is audited."""

    def __init__(self, engine: DuckDB, planned: MeasurePlan) -> None:
        self._asked, self._planned = engine, planned

    def measure(self, planned: MeasurePlan) -> ExactTable:
        return self._asked.measure(self._planned)


# ---- nothing depends on the rows -----------------------------------------------------------------------

STRANGE = """
DELETE FROM visits; DELETE FROM people;
INSERT INTO people VALUES (1, 9999, 'zzz', 'a'), (2, -5, NULL, NULL), (3, NULL, '', 'b'), (4, 3, 'F', 'a');
"""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("change", [STRANGE, "DELETE FROM visits; DELETE FROM people"])
def test_values_on_no_list_and_no_rows_fail_nothing(tmp_path: Path, method: str, change: str) -> None:
    data = built(tmp_path / "strange")
    with duckdb.connect(str(data)) as connection:
        connection.execute(change)
    with dpsql.connect(data) as db:
        _, planned, rule = planned_of(db, MADE.format(method))
        exact = db._open().engine.measure(planned)
        assert len(exact.groups) == (1 if change == STRANGE else 0)  # age 3, F, a
        assert db.execute(MADE.format(method)).rows[0][2] >= 1
        for *values, n in db.execute("FROM made").rows:
            assert n > 0
            assert all(value in listed for value, listed in zip(values, rule.domains, strict=True))


def test_weights_are_cut_where_they_would_not_fit(db: dpsql.Connection) -> None:
    _, planned, _ = planned_of(db, MADE.format("mst"))
    sql = coded_sql(planned)
    huge = f"{TOTAL}::HUGEINT * 1000"
    assert sql.count("count(*) * 1048576::HUGEINT AS total0") == 1
    engine = db._open().engine
    assert isinstance(engine, DuckDB)
    found = engine._ask(sql.replace("count(*) * 1048576::HUGEINT AS total0", f"{huge} AS total0"))
    assert {row[-1] for row in found} == {TOTAL}


def test_every_kind_of_key_has_its_codes(tmp_path: Path) -> None:
    """Dates, timestamps, booleans, enums, decimals and NULL: each value comes back as itself."""
    data = tmp_path / "kinds.duckdb"
    with duckdb.connect(str(data)) as connection:
        connection.execute(
            "CREATE TYPE size AS ENUM ('small', 'large');"
            "CREATE TABLE things AS SELECT i AS id, DATE '2024-01-01' + (i % 3)::INTEGER AS day, "
            "i % 2 = 0 AS even, ['small', 'large'][i % 2 + 1]::size AS size, "
            "(i % 4) / 2 AS half, (i % 2 + 0.5)::DECIMAL(4, 1) AS tenth, "
            "CASE WHEN i % 5 > 0 THEN 'it''s' END AS text FROM range(60) AS t(i);"
            "ALTER TABLE things ADD PRIMARY KEY (id)"
        )
    data.with_suffix(".toml").write_text(
        "[budget]\nepsilon = 50.0\ndelta = 1e-6\n[query]\nmax_epsilon = 40.0\n"
        '[unit]\ntable = "things"\nkey = "id"\n'
        "[tables.things.columns]\nday = { range = [2024-01-01, 2024-01-03] }\neven = {}\n"
        'size = { values = ["small", "large"] }\nhalf = { values = [0.0, 0.5, 1.0, 1.5] }\n'
        "tenth = { values = [0.5, 1.5] }\n"
        'text = { values = ["it\'s", "never"] }\n'
    )
    with dpsql.connect(data) as db:
        create = (
            "CREATE PRIVATE VIEW made WITH (epsilon = 40, method = 'mwem') AS "
            "SELECT day, even, size, half, tenth, text FROM things"
        )
        _, planned, rule = planned_of(db, create)
        exact = db._open().engine.measure(planned)
        found = {
            tuple(values[code] for values, code in zip(rule.domains, codes, strict=True)): int(weight)
            for codes, weight in zip(exact.groups, exact.sums[:, 0], strict=True)
        }
        assert sum(found.values()) == 60 * rule.plan.step
        engine = db._open().engine
        assert isinstance(engine, DuckDB)
        rows = engine._ask("SELECT day, even, size, half, tenth, text, count(*) FROM things GROUP BY ALL")
        expected = {tuple(row[:-1]): row[-1] * rule.plan.step for row in rows}
        assert found == expected


# ---- refusals ------------------------------------------------------------------------------------------


def refused(db: dpsql.Connection, sql: str) -> str:
    with pytest.raises(dpsql.Error) as caught:
        db.execute(sql)
    assert caught.value.help
    assert db.budget.spent == 0
    return caught.value.code


def test_what_it_cannot_be_made_of_is_refused_free(db: dpsql.Connection) -> None:
    assert refused(db, "CREATE PRIVATE VIEW v WITH (method = 'pgm') AS SELECT sex FROM people") == "D105"
    assert refused(db, "CREATE PRIVATE VIEW v WITH (method = mst) AS SELECT sex FROM people") == "D101"
    both = "CREATE PRIVATE VIEW v WITH (ranges = (age), method = 'mst') AS SELECT age, sex FROM people"
    assert refused(db, both) == "D105"
    assert refused(db, "CREATE PRIVATE VIEW v WITH (method = 'mst') AS SELECT id FROM people") == "D403"
    tiny = "CREATE PRIVATE VIEW v WITH (epsilon = 0.001, method = 'mst') AS SELECT sex FROM people"
    assert db.price(tiny).cost == 0.001
    large = "CREATE PRIVATE VIEW v WITH (method = 'mwem') AS SELECT {} FROM people"
    assert refused(db, large.format("age, age + 1 AS b, age + 2 AS c, age + 3 AS d")) == "D408"


def test_a_column_of_many_values_is_refused(tmp_path: Path) -> None:
    data = built(tmp_path / "many")
    policy, wards = data.with_suffix(".toml"), [f"w{i}" for i in range(1_100)]
    policy.write_text(policy.read_text().replace('["a", "b", "c"]', json.dumps(wards)))
    with dpsql.connect(data) as db:
        assert refused(db, "CREATE PRIVATE VIEW v WITH (method = 'mst') AS SELECT ward FROM people") == "D408"


def test_the_owner_writes_one_into_the_policy(data: Path) -> None:
    policy = data.with_suffix(".toml")
    made = (
        '\n[views.made]\nsql = "SELECT age, sex FROM people"\nprivate = { epsilon = 0.5, method = "mst" }\n'
    )
    digests = '[ledger]\ntexts = "digest"\n[analysts.ana]'
    policy.write_text(policy.read_text().replace("[analysts.ana]", digests) + made)
    with dpsql.connect(data) as db:
        asked = db.execute("SELECT COUNT(*) FROM made")
        assert (asked.cost, db.execute("FROM made").cost) == (0.5, 0)
        rows = db.execute("FROM made ORDER BY ALL").rows
        assert len(db.synthetic_rows("made", 7).rows) == 7
    with dpsql.connect(data) as db:
        assert db.execute("FROM made ORDER BY ALL").rows == rows
    for wrong in ('ranges = ["age"], method = "mst"', 'method = "pgm"'):
        policy.write_text(policy.read_text().replace('method = "mst"', wrong))
        with pytest.raises(dpsql.Error) as caught:
            dpsql.connect(data)
        assert caught.value.code == "D803"
        policy.write_text(policy.read_text().replace(wrong, 'method = "mst"'))


def test_there_are_none_without_a_delta(tmp_path: Path) -> None:
    data = built(tmp_path / "pure")
    policy = data.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"pure"').replace("1e-6", "0.0"))
    with dpsql.connect(data) as db:
        for method in METHODS:
            assert refused(db, MADE.format(method)) == "D304"


def test_more_columns_than_a_table_can_hold_are_a_tree(tmp_path: Path) -> None:
    """Sixteen columns of six values: 33 million million combinations."""
    data, columns = tmp_path / "wide.duckdb", [f"c{i}" for i in range(16)]
    values = ", ".join(f"((i // {7 ** (i % 4)}) % 5)::INTEGER AS {name}" for i, name in enumerate(columns))
    with duckdb.connect(str(data)) as connection:
        connection.execute(f"CREATE TABLE wide AS SELECT i AS id, {values} FROM range(5000) AS t(i)")
        connection.execute("ALTER TABLE wide ADD PRIMARY KEY (id)")
    listed = "".join(f"{name} = {{ range = [0, 4] }}\n" for name in columns)
    data.with_suffix(".toml").write_text(
        "[budget]\nepsilon = 20.0\ndelta = 1e-6\n[query]\nmax_epsilon = 10.0\n"
        f'[unit]\ntable = "wide"\nkey = "id"\n[tables.wide.columns]\n{listed}'
    )
    chosen = f"SELECT {', '.join(columns)} FROM wide"
    create = f"CREATE PRIVATE VIEW made WITH (epsilon = 4, method = '{{}}') AS {chosen}"
    with dpsql.connect(data) as db:
        assert refused(db, create.format("mwem")) == "D408"
        assert db.execute(create.format("mst")).cost == 4
        ((same, whole),) = db.execute("SELECT SUM(n) FILTER (WHERE c0 = c4), SUM(n) FROM made").rows
        assert abs(whole - 5_000) < 200
        assert same > 0.9 * whole  # equal columns are
        made = db.synthetic_rows("made", 1_000)
        assert sum(row[1] == row[5] for row in made.rows) > 900
        assert json.dumps(made.manifest)

"""A PostgreSQL database under its policy: answers, repeats, refusals before payment, crashes, secrets."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from postgres_servers import Server, needs_postgres, running_server, track

import dpsql
from dpsql.audit import plan_of
from dpsql.cli import main
from dpsql.engines.postgres import dialect
from dpsql.engines.postgres.functions import RENDERS
from dpsql.engines.postgres.texts import MOST_BYTES
from dpsql.engines.postgres.url import PostgresUrl, postgres_url
from dpsql.engines.public_columns import PublicColumns
from dpsql.engines.rows_of_units import Misfits
from dpsql.ir.column import VARCHAR, Categories, Column, Fact, Interval, type_named
from dpsql.ir.relation import Link

pytestmark = needs_postgres

POLICY = """\
[budget]
epsilon = 100.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
ward = { values = ["A", "B", "C"] }
age = { range = [0, 90] }
income = { range = [0, 11000] }
amount = { range = [0, 500] }
[tables.visits]
unit = { column = "id" }
rows_per_unit = 5
[tables.visits.columns]
visit = {}
id = {}
cost = { range = [0, 500] }
kind = {}
[tables.wards]
public = true
key = "ward"
"""

TABLES = """
CREATE TABLE people (id INTEGER PRIMARY KEY, ward VARCHAR NOT NULL, age INTEGER, income DOUBLE PRECISION,
    amount DECIMAL(8, 2), seen TIMESTAMP);
CREATE TABLE visits (visit BIGINT UNIQUE, id INTEGER, cost DOUBLE PRECISION, kind VARCHAR);
CREATE TABLE wards (ward VARCHAR PRIMARY KEY, beds INTEGER);
INSERT INTO people SELECT n, substr('ABC', 1 + CAST(n % 3 AS INTEGER), 1), n % 90, n * 10.5, n * 0.5,
    TIMESTAMP '2024-01-01' FROM generate_series(1, 500) AS t(n);
INSERT INTO visits SELECT n, 1 + n % 500, n % 500, 'k' || (n % 4) FROM generate_series(1, 2500) AS t(n);
INSERT INTO visits SELECT 10000 + n, 7, 400, 'k1' FROM generate_series(1, 300) AS t(n);
INSERT INTO wards VALUES ('A', 10), ('B', 20), ('C', 5);
"""

QUERIES = (
    "SELECT ward, COUNT(*), AVG(age), SUM(income) FROM people GROUP BY ward",
    "SELECT COUNT(*), SUM(v.cost) FROM visits v JOIN people p ON v.id = p.id WHERE p.age + 1 > 20",
    "SELECT w.beds, COUNT(*) FROM people p JOIN wards w ON p.ward = w.ward GROUP BY w.beds",
    "SELECT kind, COUNT(*), VAR_SAMP(cost) FROM visits GROUP BY kind",
    "SELECT AVG(n CLAMPED BETWEEN 0 AND 10) FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id)",
    "SELECT SUM(amount * 2), COUNT(DISTINCT id) FROM people WHERE ward <> 'B' AND income / 2 < 2000",
)

PICKED = (
    *(
        f"SELECT v, COUNT(*) FROM (SELECT id, {picked} AS v FROM visits GROUP BY id) GROUP BY v"
        for picked in (
            "FIRST(visit % 9 ORDER BY visit % 5 DESC NULLS FIRST, visit)",
            "LAST(kind ORDER BY cost, visit)",
            "LAST(visit % 9 ORDER BY visit % 7) FILTER (WHERE visit % 3 = 1)",
            "ANY_VALUE(CASE WHEN visit % 4 > 1 THEN visit % 9 END ORDER BY visit % 5)",
            "ARG_MIN(CASE WHEN visit % 3 = 0 THEN 'x' WHEN visit % 3 = 1 THEN kind END, visit % 10)",
            "ARG_MAX(visit % 9, visit % 10)",
        )
    ),
    "SELECT SUM(c), COUNT(c), COUNT_IF(d) FROM (SELECT id, LAST(cost ORDER BY kind) AS c,"
    " FIRST(visit % 2 = 1 ORDER BY visit % 11) AS d FROM visits GROUP BY id)",
)


@dataclass(frozen=True)
class Clinic:
    server: Server
    owner: psycopg.Connection[Any]
    url: PostgresUrl
    policy: Path
    file: Path  # the same rows in a DuckDB file


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def clinic(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    folder = tmp_path_factory.mktemp("clinic")
    policy, file = folder / "clinic.toml", folder / "clinic.duckdb"
    policy.write_text(POLICY)
    with duckdb.connect(str(file)) as made:
        made.execute(TABLES)
    with server.database("clinic") as owner:
        owner.execute(TABLES.encode())
        track(owner, "people", "visits", "wards")
        yield Clinic(server, owner, server.url("clinic"), policy, file)


@pytest.mark.parametrize("sql", [*QUERIES, *PICKED])
def test_exact_tables_are_those_of_duckdb(clinic: Clinic, tmp_path: Path, sql: str) -> None:
    with (
        dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as here,
        dpsql.connect(clinic.file, clinic.policy, tmp_path / "duck.ledger") as there,
    ):
        tables = []
        for db in (here, there):
            session = db._open()
            [measure] = plan_of(session, sql, 1.0).measures
            exact = session.engine.measure(measure)
            rows = zip(exact.groups, exact.sums.tolist(), strict=True)
            tables.append({tuple(group): tuple(sums) for group, sums in rows if any(sums)})
        assert tables[0] == tables[1]
        assert tables[0]
        assert here.execute(sql).columns == there.execute(sql).columns


def test_a_planted_row_that_the_filter_leaves_out_is_found(
    clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = dialect.Postgres.mark

    def unfiltered(self: dialect.Postgres, *given: Any) -> str | None:
        function, argument, order, _, keys = given
        return mark(self, function, argument, order, (), keys)

    monkeypatch.setattr(dialect.Postgres, "mark", unfiltered)
    (filtered,) = (sql for sql in PICKED if "FILTER" in sql)
    with pytest.raises(AssertionError):
        test_exact_tables_are_those_of_duckdb(clinic, tmp_path, filtered)


def test_a_repeat_is_free_until_the_rows_change(clinic: Clinic, tmp_path: Path) -> None:
    ledger = tmp_path / "pg.ledger"
    with dpsql.connect(clinic.url, clinic.policy, ledger) as db:
        first = db.execute(QUERIES[0])
        again = db.execute(QUERIES[0])
        assert (first.repeated, again.repeated, again.cost) == (False, True, 0.0)
        assert again.rows == first.rows
    with dpsql.connect(str(clinic.url), clinic.policy, ledger) as db:
        assert db.execute(QUERIES[0]).rows == first.rows
        clinic.owner.execute("UPDATE people SET age = age WHERE id = 1")
        with pytest.raises(dpsql.OperationalError, match="changed since"):
            db.execute(QUERIES[0])
        with pytest.raises(dpsql.OperationalError, match="changed since"):
            db.execute("SELECT COUNT(*) FROM people")
        spent = db.budget.spent
    with dpsql.connect(clinic.url, clinic.policy, ledger) as db:
        assert db.budget.spent == spent  # a refusal costs nothing
        assert not db.execute(QUERIES[0]).repeated
        assert db.budget.spent > spent


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT regexp_extract(ward, 'A'), COUNT(*) FROM people GROUP BY 1", "the function regexp_extract"),
        ("SELECT COUNT(*) FROM people WHERE sinh(age) > 3", "the function sinh"),
        ("SELECT DP_SAMPLE(skewness(age), -5, 5) FROM people", "blocks"),
        ("SELECT AVG(s) FROM (SELECT id, VAR_POP(cost) AS s FROM visits GROUP BY id)", "var_pop"),
        (
            "SELECT SUM(n CLAMPED BETWEEN 0 AND 9) FROM (SELECT id, lag(visit IGNORE NULLS) OVER "
            "(PARTITION BY id ORDER BY visit) AS n FROM visits)",
            "IGNORE NULLS",
        ),
        ("SELECT COUNT(*) FROM people WHERE CAST(ward AS TIME) > TIME '10:00:00'", "the type TIME"),
    ],
)
def test_what_is_not_vetted_is_refused_and_costs_nothing(
    clinic: Clinic, tmp_path: Path, sql: str, what: str
) -> None:
    with dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as db:
        for ask in (db.execute, db.explain):
            with pytest.raises(dpsql.OperationalError, match=what) as caught:
                ask(sql)
            assert caught.value.code == "D605"
        assert db.budget.spent == 0


STAGED = (
    "SELECT COUNT(*) FROM visits v JOIN (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) r "
    "ON v.kind = r.kind WHERE sqrt(r.n) > 1"
)


def test_a_later_stage_is_parsed_before_anything_is_paid(
    clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server cannot parse in a stage whose rows are not there yet, it refuses before the debit."""
    with dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as db:
        with monkeypatch.context() as patched:
            unknown = {**RENDERS, "sqrt": lambda texts, *_: f"no_such_function({texts[0]})"}
            patched.setattr(dialect, "RENDERS", unknown)
            with pytest.raises(dpsql.OperationalError) as caught:
                db.execute(STAGED)
            assert caught.value.code == "D605"
            assert db.budget.spent == 0
        assert len(db.execute(STAGED).rows) == 1


def test_a_lost_connection_leaves_the_debit_and_completes_on_repeat(clinic: Clinic, tmp_path: Path) -> None:
    with dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as db:
        engine = db._open().engine
        measure = engine.measure

        def lost(planned: Any) -> Any:
            clinic.owner.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'"
            )
            return measure(planned)

        engine.measure = lost  # type: ignore[method-assign]  # restored below
        with pytest.raises(dpsql.OperationalError) as caught:
            db.execute(QUERIES[0])
        assert caught.value.code == "D601"
        spent = db.budget.spent
        assert spent > 0
        engine.measure = measure  # type: ignore[method-assign]  # as it was
        answer = db.execute(QUERIES[0])
        assert len(answer.rows) == 3
        assert db.budget.spent == spent


def test_a_reading_can_be_interrupted(clinic: Clinic, tmp_path: Path) -> None:
    with dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as db:
        engine: Any = db._open().engine
        timer = threading.Timer(0.5, db.interrupt)
        timer.start()
        with pytest.raises(dpsql.OperationalError) as caught:
            engine._ask("SELECT pg_sleep(600)")
        timer.join()
        assert caught.value.code == "D601"
        assert caught.value.title == "the query was interrupted"
        assert len(db.execute(QUERIES[0]).rows) == 3


def test_the_ledger_belongs_to_the_database(clinic: Clinic, tmp_path: Path) -> None:
    ledger = tmp_path / "pg.ledger"
    dpsql.connect(clinic.url, clinic.policy, ledger).close()
    with clinic.server.database("other") as owner:
        owner.execute(TABLES.encode())
        track(owner, "people", "visits", "wards")
        with pytest.raises(dpsql.OperationalError) as caught:
            dpsql.connect(clinic.server.url("other"), clinic.policy, ledger)
    assert caught.value.code == "D505"


def test_a_unit_that_moves_to_another_block_keeps_it_shut(clinic: Clinic, tmp_path: Path) -> None:
    policy, ledger = tmp_path / "clinic.toml", tmp_path / "pg.ledger"
    blocks = 'key = "id"\nblocks = { column = "age", values = [3, 4], check = true }'
    policy.write_text(POLICY.replace('key = "id"', blocks, 1))
    with clinic.server.database("moving") as owner:
        owner.execute(TABLES.encode())
        track(owner, "people", "visits", "wards")
        url = clinic.server.url("moving")
        for change, code in (
            ("INSERT INTO visits VALUES (99999, 5000, 1, 'k1')", ""),
            ("UPDATE people SET age = 5 WHERE age = 6", ""),
            ("DELETE FROM people WHERE id = 400", ""),
            ("INSERT INTO people VALUES (5000, 'A', 5, 1, 1, NULL)", ""),
            ("UPDATE people SET age = 3 WHERE id = 5000", "D809"),
            ("UPDATE people SET age = NULL WHERE id = 5000", ""),
            ("UPDATE people SET age = 4 WHERE id = 3", "D809"),
        ):
            owner.execute(change.encode())
            try:
                dpsql.connect(url, policy, ledger).close()
                found = ""
            except dpsql.Error as error:
                found = error.code
            assert found == code, change


def test_the_command_line_takes_a_url(clinic: Clinic, tmp_path: Path) -> None:
    words = ["--policy", clinic.policy, "--ledger", tmp_path / "pg.ledger", "--format", "csv", "--epsilon", 1]
    command = [
        sys.executable,
        "-m",
        "dpsql.cli",
        "query",
        str(clinic.url),
        "-c",
        "SELECT COUNT(*) FROM people",
    ]
    done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert abs(float(done.stdout.split()[-1]) - 500) < 100


def test_a_policy_is_drafted_and_checked(clinic: Clinic, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "draft", str(clinic.url)]) == 0
    assert "[tables.visits" in capsys.readouterr().out
    assert main(["policy", "check", str(clinic.url), str(clinic.policy)]) == 0
    assert "holds for clinic" in capsys.readouterr().out


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader:hunter2@host/db",
        "postgresql://reader@host/db?password=hunter2",
        "postgresql://reader@host/db?options=-c%20search_path%3Dhunter2",
        "postgresql://reader@host/",
        "postgresql://reader@host:hunter2/db",
        "postgresql://reader@host/db#hunter2",
    ],
)
def test_urls_hold_no_password_and_change_no_session(url: str) -> None:
    with pytest.raises(dpsql.OperationalError) as caught:
        dpsql.connect(url)
    assert caught.value.code == "D602"
    assert "hunter2" not in f"{caught.value} {caught.value!r} {caught.value.help}"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader@db.lan:5433/clinic",
        "postgresql://reader@/clinic?host=/run/postgresql",
        "postgresql://db.lan/clinic?sslmode=verify-full",
        "postgresql://rea%40der@db.lan/cli%20nic",
    ],
)
def test_a_url_is_printed_as_it_is_read(url: str) -> None:
    assert str(postgres_url(url)) == url
    assert postgres_url(str(postgres_url(url))) == postgres_url(url)


def test_no_message_of_the_server_is_shown(clinic: Clinic, tmp_path: Path) -> None:
    """A statement that fails on a row fails here without the row."""
    with dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as db:
        engine = db._open().engine
        with pytest.raises(dpsql.OperationalError) as caught:
            engine._ask("SELECT CAST(ward AS integer) FROM public.people")  # type: ignore[attr-defined]  # PostgreSQL's
    text = f"{caught.value} {caught.value!r} {caught.value.__cause__} {caught.value.help}"
    assert caught.value.code == "D601"
    assert '"A"' not in text
    assert "integer" not in text


def test_the_owner_is_told_of_values_that_are_not_declared(clinic: Clinic, tmp_path: Path) -> None:
    declared = [
        Column("ward", Fact(VARCHAR, Categories(("A", "B's")))),
        Column("age", Fact(type_named("INTEGER"), Interval(-1000, 1000))),
    ]
    with dpsql.connect(clinic.url, clinic.policy, tmp_path / "pg.ledger") as db:
        assert db._open().engine.strays("people", declared) == {"ward": 2}
        assert db._open().engine.strays("people", []) == {}


def test_public_columns_are_those_of_duckdb(clinic: Clinic, tmp_path: Path) -> None:
    for database in (clinic.url, clinic.file):
        with dpsql.connect(database, clinic.policy, tmp_path / f"{type(database).__name__}.ledger") as db:
            found = db._open().engine.public_columns("wards", 3)
            assert found == PublicColumns({"beds": Interval(5, 20)}, frozenset({"ward", "beds"}))
            large = db._open().engine.public_columns("wards", 100_001)
            assert large == PublicColumns({"beds": Interval(5, 20)}, frozenset())


def test_a_null_that_comes_into_a_public_column_ends_the_session(server: Server, tmp_path: Path) -> None:
    """All stations are known to have a name when the session opens; its plans rest on that."""
    policy = tmp_path / "trips.toml"
    policy.write_text(POLICY.replace("wards", "stations").replace('key = "ward"', ""))
    sql = "SELECT s.kind, COUNT(v.visit) AS n FROM stations s LEFT JOIN visits v USING (kind) GROUP BY s.kind"
    with server.database("stations") as owner:
        owner.execute(TABLES.replace("wards", "stations").replace("PRIMARY KEY, beds", ", beds").encode())
        owner.execute("ALTER TABLE stations RENAME ward TO kind")
        track(owner, "people", "visits", "stations")
        url = server.url("stations")
        with dpsql.connect(url, policy, tmp_path / "trips.ledger") as db:
            assert len(db.execute(sql, epsilon=1.0)) == 3
            owner.execute("INSERT INTO stations VALUES (NULL, 3)")
            with pytest.raises(dpsql.OperationalError, match="changed"):
                db.execute(f"{sql} HAVING COUNT(v.visit) < 1e6", epsilon=1.0)
        with (
            dpsql.connect(url, policy, tmp_path / "trips.ledger") as db,
            pytest.raises(dpsql.NotSupportedError, match="keeps public rows"),
        ):
            db.execute(sql, epsilon=1.0)


def test_the_owner_is_told_of_rows_that_fit_no_unit(clinic: Clinic, tmp_path: Path) -> None:
    """One person has more visits than count; as the unit, most visits are no person, or lead to none."""
    for database in (clinic.url, clinic.file):
        with dpsql.connect(database, clinic.policy, tmp_path / f"{type(database).__name__}.ledger") as db:
            opened = db._open()
            people, visits = (opened.known.table(name) for name in ("people", "visits"))
            assert visits is not None
            by_visit = replace(visits, unit_column="visit")
            through = replace(visits, links=(Link("visit", "people", "id"),))
            found = [opened.engine.misfits(each, people) for each in (visits, by_visit, through)]
            assert found == [Misfits(beyond=10), Misfits(unknown=2), Misfits(nobody=2)]
            assert opened.engine.misfits(by_visit, None) == Misfits()


@pytest.mark.parametrize(("more", "code"), [(0, ""), (1, "D602")])
def test_a_text_that_is_too_long_is_found_at_opening(
    server: Server, tmp_path: Path, more: int, code: str
) -> None:
    """Whether the longest text has room in a statement may not depend on whose it is."""
    policy = tmp_path / "notes.toml"
    policy.write_text(NOTES)
    with server.database(f"notes{more}") as owner:
        owner.execute("CREATE TABLE notes (id INTEGER, note TEXT)")
        owner.execute("INSERT INTO notes SELECT n, 'n' || n FROM generate_series(1, 500) AS t(n)")
        owner.execute("INSERT INTO notes VALUES (501, repeat('1', %s))", (MOST_BYTES + more,))
        track(owner, "notes")
    try:
        with dpsql.connect(server.url(f"notes{more}"), policy, tmp_path / "notes.ledger") as db:
            for condition in ("translate(note, '1', '2') = 'x'", "TRY_CAST(note AS INTEGER) = 3"):
                assert len(db.execute(f"SELECT COUNT(*) FROM notes WHERE {condition}").rows) == 1
        found = ""
    except dpsql.Error as error:
        found = error.code
    assert found == code


NOTES = """\
[budget]
epsilon = 100.0
delta = 1e-6
[unit]
name = "person"
column = "id"
[tables.notes.columns]
id = {}
note = {}
"""

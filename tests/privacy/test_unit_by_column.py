"""Units without a table: each value of a column is one, NULL is nobody, and a policy says which column."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import ready_measures, violations
from dpsql.cli import main
from dpsql.engines.measure_sql import measure_sql
from dpsql.render.english import one

LOG = """
CREATE TABLE events (event_id BIGINT, user_id VARCHAR, kind VARCHAR, price DOUBLE);
INSERT INTO events SELECT i, 'u' || i % 40, ['view', 'buy'][1 + i % 2], i % 90 FROM range(2000) AS r(i);
INSERT INTO events SELECT 9000 + i, NULL, 'view', 90 FROM range(50) AS r(i);
CREATE TABLE logins (who VARCHAR, day INTEGER);
INSERT INTO logins SELECT 'u' || i % 55, i % 7 FROM range(300) AS r(i);
CREATE TABLE kinds (kind VARCHAR UNIQUE, label VARCHAR);
INSERT INTO kinds VALUES ('view', 'seen'), ('buy', 'bought');
"""
BY_COLUMN = """
[budget]
epsilon = 100
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "user"
column = "user_id"
[tables.events]
rows_per_unit = 30
[tables.events.columns]
kind = { values = ["view", "buy"] }
price = { range = [0, 90] }
[tables.logins]
unit = { column = "who" }
rows_per_unit = 5
[tables.logins.columns]
day = { values = [0, 1, 2, 3, 4, 5, 6] }
[tables.kinds]
public = true
key = "kind"
"""
BY_TABLES = BY_COLUMN.replace('column = "user_id"\n', "", 1).replace(
    "[tables.events]\n", '[tables.events]\nunit = { column = "user_id" }\n'
)
OF_PEOPLE = BY_COLUMN.replace(
    'column = "user_id"\n', 'table = "people"\nkey = "user_id"\ncolumn = "user_id"\n', 1
).replace("[tables.events]\n", "[tables.people]\n[tables.events]\n")
QUERIES = (
    "SELECT COUNT(*), COUNT(DISTINCT user_id), SUM(price) FROM events",
    "SELECT label, COUNT(*), AVG(price) FROM events JOIN kinds USING (kind) GROUP BY label",
    "SELECT day, COUNT(DISTINCT who) FROM logins JOIN events ON who = user_id GROUP BY day",
    "SELECT AVG(n) FROM (SELECT who, LEAST(COUNT(*), 9) AS n FROM logins GROUP BY who)",
    "SELECT COUNT(DISTINCT who) FROM logins WHERE who NOT IN (SELECT user_id FROM events WHERE price > 9)",
)


def database(folder: Path, policy: str, script: str = LOG) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "log.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(script)
    path.with_suffix(".toml").write_text(policy)
    return path


def refused(folder: Path, policy: str) -> dpsql.Error:
    with pytest.raises(dpsql.Error) as error, dpsql.connect(database(folder, policy)) as opened:
        opened.execute("SELECT 1")
    return error.value


def test_a_policy_may_say_it_once_or_in_each_table(tmp_path: Path) -> None:
    """And beside a table of people, whose rows are no part of the log."""
    people = f"{LOG}CREATE TABLE people AS SELECT DISTINCT user_id FROM events WHERE user_id IS NOT NULL;"
    with (
        dpsql.connect(database(tmp_path / "a", BY_COLUMN)) as once,
        dpsql.connect(database(tmp_path / "b", BY_TABLES)) as each,
        dpsql.connect(database(tmp_path / "c", OF_PEOPLE, people)) as beside,
    ):
        for sql in QUERIES:
            plans = [plan_of(opened._open(), sql, 1.0) for opened in (once, each, beside)]
            said = {tuple((m.noise.sensitivity, measure_sql(m)) for m in plan.measures) for plan in plans}
            assert len(said) == 1, sql


@pytest.mark.parametrize("sql", QUERIES)
def test_nobody_moves_more_than_is_declared(tmp_path: Path, sql: str) -> None:
    with dpsql.connect(database(tmp_path / "whole", BY_COLUMN)) as whole:
        session = whole._open()
        measures = ready_measures(plan_of(session, sql, 1.0), session.engine, session.sealed)
        tables = [session.engine.measure(each) for each in measures]
        for unit in ("u0", "u39", "u54"):
            gone = f"DELETE FROM events WHERE user_id = '{unit}'; DELETE FROM logins WHERE who = '{unit}';"
            with dpsql.connect(database(tmp_path / unit, BY_COLUMN, LOG + gone)) as less:
                engine = less._open().engine
                for planned, table in zip(measures, tables, strict=True):
                    assert violations(planned, table, engine.measure(planned)) == []


def test_rows_of_nobody_count_for_nothing(tmp_path: Path) -> None:
    nobody = "UPDATE events SET price = 1e300 WHERE user_id IS NULL; DELETE FROM logins WHERE who IS NULL;"
    with (
        dpsql.connect(database(tmp_path / "a", BY_COLUMN)) as one,
        dpsql.connect(database(tmp_path / "b", BY_COLUMN, LOG + nobody)) as other,
    ):
        sessions = [one._open(), other._open()]
        [planned] = ready_measures(
            plan_of(sessions[0], QUERIES[0], 1.0), sessions[0].engine, sessions[0].sealed
        )
        first, second = (session.engine.measure(planned) for session in sessions)
        assert violations(planned, first, second) == []
        assert (first.sums == second.sums).all()


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('unit = { column = "who" }\n', "", "D804", "which user does a row belong to?"),
        ("public = true\n", "", "D804", "which user does a row belong to?"),
        ('column = "user_id"\n', "", "D803", "neither public nor has a unit"),
        ('column = "user_id"\n', 'key = "user_id"\n', "D803", "needs table beside key"),
        ('column = "user_id"\n', 'column = "price"\n', "D806", "cannot identify units"),
    ],
)
def test_a_private_table_without_a_unit_is_refused(
    tmp_path: Path, old: str, new: str, code: str, said: str
) -> None:
    error = refused(tmp_path, BY_COLUMN.replace(old, new, 1))
    assert error.code == code
    assert said in str(error)


def test_a_policy_without_a_private_table_is_refused(tmp_path: Path) -> None:
    public = BY_COLUMN[: BY_COLUMN.index("[tables.events]")] + '[tables.kinds]\npublic = true\nkey = "kind"\n'
    assert "no table of the policy is private" in str(refused(tmp_path, public))


def test_a_log_declared_as_a_table_of_people_is_told_what_it_is(tmp_path: Path) -> None:
    wrong = BY_COLUMN.replace('column = "user_id"\n', 'table = "events"\nkey = "user_id"\n', 1)
    error = refused(tmp_path, wrong)
    assert error.code == "D805"
    assert '[unit] column = "user_id" without table and key' in str(error)


def test_a_ledger_stays_with_its_unit(tmp_path: Path) -> None:
    people = f"{LOG}CREATE TABLE people AS SELECT DISTINCT user_id FROM events WHERE user_id IS NOT NULL;"
    path = database(tmp_path, OF_PEOPLE, people)
    with dpsql.connect(path) as opened:
        opened.execute(QUERIES[0])
    path.with_suffix(".toml").write_text(BY_COLUMN)
    with pytest.raises(dpsql.Error, match="unit"), dpsql.connect(path) as opened:
        opened.execute(QUERIES[0])


def test_the_owner_is_told_of_two_spellings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", str(database(tmp_path / "a", BY_COLUMN))]) == 0
    told = capsys.readouterr().out
    assert "unit      user: each value of user_id, protected with all rows in events, logins" in told
    assert "differ only in case or blanks" not in told
    spelled = "INSERT INTO logins VALUES ('U1 ', 3);"
    assert main(["policy", "check", str(database(tmp_path / "b", BY_COLUMN, LOG + spelled))]) == 0
    assert "some values of logins.who differ only in case or blanks" in " ".join(
        capsys.readouterr().out.split()
    )


# ---- dpsql init ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "unit"),
    [
        (
            "CREATE TABLE events (event_id BIGINT PRIMARY KEY, user_id BIGINT);",
            'column = "user_id"',
        ),
        ("CREATE TABLE views (id BIGINT, visitorId UUID, url VARCHAR);", 'column = "visitorId"'),
        (
            "CREATE TABLE users (user_id BIGINT PRIMARY KEY); CREATE TABLE e (user_id BIGINT, device INT);",
            'table = "users"\nkey = "user_id"',
        ),
        (
            "CREATE TABLE a (user_id BIGINT); CREATE TABLE b (User_Id INT); CREATE TABLE z (user_id UUID);",
            "[tables.a]\n# rows_per_unit",
        ),
    ],
)
def test_init_finds_the_unit(tmp_path: Path, script: str, unit: str) -> None:
    path = database(tmp_path, "", script)
    path.with_suffix(".toml").unlink()
    assert main(["init", str(path), "--yes"]) == 0
    assert unit in path.with_suffix(".toml").read_text()


@pytest.mark.parametrize(
    ("script", "said", "unit"),
    [
        (
            "CREATE TABLE events (event_id BIGINT PRIMARY KEY, user_id BIGINT, account_no BIGINT);",
            "user_id may be the person, or events.account_no",
            "user_id",
        ),
        (
            "CREATE TABLE town_stats (town VARCHAR, people INTEGER);",
            "nothing in log.duckdb is named like a",
            "town",
        ),
        (
            "CREATE TABLE orders (order_id BIGINT PRIMARY KEY, buyer_id BIGINT);",
            "orders.order_id may be the person, or orders.buyer_id",
            "buyer_id",
        ),
        (
            "CREATE TABLE e (user_count INTEGER, town VARCHAR); CREATE TABLE f (user_count INTEGER);",
            "nothing in log.duckdb is named like a",
            "town",
        ),
        (
            "CREATE TABLE e (user_agent VARCHAR, n INTEGER, visitor BIGINT);",
            "visitor may be the person, or e.user_agent",
            "visitor",
        ),
    ],
)
def test_init_does_not_guess_whom_to_protect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, said: str, unit: str
) -> None:
    path = database(tmp_path, "", script)
    path.with_suffix(".toml").unlink()
    assert main(["init", str(path), "--yes"]) == 2
    assert said in capsys.readouterr().err
    assert not path.with_suffix(".toml").exists()
    assert main(["init", str(path), "--yes", "--unit", unit]) == 0
    assert f'column = "{unit}"' in path.with_suffix(".toml").read_text()


def test_init_asks_whose_a_row_of_two_people_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = """
    CREATE TABLE users (uid BIGINT PRIMARY KEY);
    CREATE TABLE messages (sender BIGINT REFERENCES users (uid), receiver BIGINT REFERENCES users (uid));
    """
    path = database(tmp_path, "", messages)
    path.with_suffix(".toml").unlink()
    assert main(["init", str(path), "--yes"]) == 2
    assert "users.uid may be the person, or messages.receiver" in capsys.readouterr().err
    assert main(["init", str(path), "--yes", "--unit", "users.uid"]) == 0
    assert 'unit = { column = "sender" }' in path.with_suffix(".toml").read_text()


def test_init_reads_a_column_in_any_case(tmp_path: Path) -> None:
    """The types of csv columns are written down wherever a unit is."""
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "a.csv").write_text("user_id,x\n1,2\n2,3\n")
    (folder / "b.csv").write_text("User_ID,y\n1,2\n2,3\n")
    assert main(["init", str(folder), "--yes"]) == 0


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("user", "a user"),
        ("event", "an event"),
        ("uncle", "an uncle"),
        ("unit", "a unit"),
        ("Employee", "an Employee"),
    ],
)
def test_units_have_their_article(word: str, said: str) -> None:
    assert one(word) == said

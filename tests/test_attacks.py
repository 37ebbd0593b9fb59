"""Attacks that once worked, each on a small database made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.engines.duckdb import DuckDB
from dpsql.ir.plan import PublicKeys, Shape

POLICY = """
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "pid"
[tables.people.columns]
pid = {}
city = {}
blood = {}
age = { range = [0, 120] }
x = { range = [0, 1] }
registered = {}
[tables.marks]
key = "k"
unit = { column = "pid" }
rows_per_unit = 5
[tables.marks.columns]
pid = {}
k = {}
[tables.codes]
public = true
key = "code"
"""

TABLES = """
CREATE TYPE blood AS ENUM ('0', 'A', 'B', 'AB');
CREATE TABLE people (
    pid INTEGER PRIMARY KEY, city VARCHAR, blood blood, age INTEGER, x DOUBLE, registered TIMESTAMP
);
INSERT INTO people SELECT
    i, if(i = 0, 'Longyearbyen', 'Oslo'), 'A', 30 + i, 1.0, TIMESTAMP '2021-03-01' FROM range(10) AS r(i);
CREATE TABLE marks (pid INTEGER, k INTEGER UNIQUE);
INSERT INTO marks SELECT 1, 1000000000 + i FROM range(200) AS r(i);
CREATE TABLE codes (code BIGINT PRIMARY KEY);
INSERT INTO codes SELECT 4611686018427387904 + i FROM range(200) AS r(i);
"""

Open = Callable[..., dpsql.Connection]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the database as it is made by TABLES and some more statements."""
    with ExitStack() as stack:

        def make(more: str = "", policy: str = "") -> dpsql.Connection:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            with duckdb.connect(str(folder / "d.duckdb")) as connection:
                connection.execute(TABLES + more)
            (folder / "d.toml").write_text(POLICY + policy)
            return stack.enter_context(dpsql.connect(folder / "d.duckdb"))

        yield make


@pytest.mark.parametrize(
    "listed",
    [
        "city IN ('Oslo', 'Oslo', 'Oslo')",
        "age IN (31, 31.0, 31)",
        "blood IN ('A', 'A')",
        "registered IN ('2021-03-01 00:00:00', '2021-03-01 00:00:00.0', DATE '2021-03-01')",
        "city IN (SELECT 'Oslo' FROM codes)",
    ],
)
def test_a_group_has_one_draw_of_noise_however_often_it_is_listed(opened: Open, listed: str) -> None:
    key = listed.split()[0]
    db = opened("")
    answer = db.execute(f"SELECT {key}, COUNT(*) FROM people WHERE {listed} GROUP BY {key}")
    assert len({row[0] for row in answer}) == len(answer)


def test_public_keys_cannot_be_planned_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        PublicKeys((("a", "b", "a"),))


def test_a_constant_that_is_no_member_of_an_enum_fails_nowhere(opened: Open) -> None:
    """The engine met the bad cast only where a row did: an error said that somebody lives there."""
    sql = (
        "SELECT blood, COUNT(*) FROM people WHERE city = 'Longyearbyen' "
        "AND blood IN ('zzz', 'A', 'B', 'AB', '0') GROUP BY blood"
    )
    with_person, without = opened(""), opened("DELETE FROM people WHERE pid = 0;")
    assert [row[0] for row in with_person.execute(sql)] == [row[0] for row in without.execute(sql)]


@pytest.mark.parametrize(
    "joined",
    [
        "people p LEFT JOIN marks v ON p.pid = v.pid AND v.k = 1000000000::FLOAT",
        "people p JOIN marks v ON p.pid = v.pid AND v.k = (p.x * 1e9)::FLOAT",
        "people p JOIN codes c ON c.code = p.x * 4611686018427387904::DOUBLE",
        "people p JOIN (SELECT pid, k FROM marks GROUP BY pid, k) v ON p.pid = v.pid AND v.k = 1e9::FLOAT",
    ],
)
def test_a_key_is_not_pinned_by_a_comparison_of_floats(opened: Open, joined: str) -> None:
    """Many whole numbers equal one DOUBLE: a key compared with it proves nothing, so the clip stays."""
    db = opened("")
    plan = plan_of(db._open(), f"SELECT COUNT(*) FROM {joined}", 1.0)
    [planned] = plan.stages[0].measures
    [measured] = measure(db, f"SELECT COUNT(*) FROM {joined}")
    assert planned.shape is not Shape.ROWS or planned.noise.sensitivity >= 200 * 2**20
    total = sum(abs(number) for sums in measured.rows.values() for number in sums)
    assert total <= 10 * planned.noise.sensitivity


@pytest.mark.parametrize(
    "sql",
    [
        """SELECT COUNT(*) FROM (SELECT pid, MAX(i + j) AS n FROM
           (SELECT pid, i FROM people, range(10000) AS r(i) GROUP BY pid, i) AS a, range(10000) AS s(j)
           GROUP BY pid)""",
        """SELECT SUM(n) FROM (SELECT a.pid, COUNT(*) AS n FROM
           (SELECT pid, i FROM people, range(10000) AS r(i)) AS a
           JOIN (SELECT pid, i FROM people, range(10000) AS r(i)) AS b ON a.pid = b.pid GROUP BY a.pid)""",
    ],
)
def test_public_rows_do_not_multiply_beyond_the_limit_in_steps(opened: Open, sql: str) -> None:
    with pytest.raises(dpsql.NotSupportedError) as caught:
        opened("").explain(sql)
    assert caught.value.code == "D303"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age, COUNT(*) FROM people WHERE age = 44.0 GROUP BY age",
        "SELECT age, COUNT(*) FROM people WHERE age IN (44, 44.5) GROUP BY age",
        "SELECT registered, COUNT(*) FROM people WHERE registered = DATE '2021-03-01' GROUP BY registered",
        "SELECT age, COUNT(*) FROM people WHERE age = 9223372036854775807 GROUP BY age",
        "SELECT '', COUNT(*) FROM people GROUP BY ''",
    ],
)
def test_constants_of_another_type_than_their_column_are_answered(opened: Open, sql: str) -> None:
    assert len(opened("").execute(sql).columns) == 2


def chain(last: str, step: str, length: int) -> str:
    parts = [f"c0 AS ({last})"] + [f"c{i + 1} AS ({step.format(i)})" for i in range(length)]
    return f"WITH {', '.join(parts)} SELECT COUNT(*) FROM c{length}"


@pytest.mark.parametrize(
    "sql",
    [
        chain("SELECT pid, age FROM people", "SELECT * FROM c{0} UNION ALL SELECT * FROM c{0}", 20),
        chain(
            "SELECT pid, age FROM people", "SELECT a.pid, a.age FROM c{0} a JOIN c{0} b ON a.pid = b.pid", 20
        ),
        chain("SELECT code FROM codes", "SELECT a.code FROM c{0} a JOIN c{0} b USING (code)", 20),
        chain(
            "SELECT city, COUNT(*) AS n FROM people GROUP BY city",
            "SELECT * FROM c{0} UNION SELECT * FROM c{0}",
            20,
        ),
    ],
)
def test_ctes_that_double_are_refused_at_once(opened: Open, sql: str) -> None:
    db = opened("")
    with pytest.raises(dpsql.ProgrammingError) as caught:
        db.explain(sql)
    assert caught.value.code == "D103"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT pid, MAX() FROM people GROUP BY pid", "D205"),
        ("SELECT COUNT(x.:VARCHAR) FROM people", "D1"),
        ("SELECT COUNT(*) FROM : people", "D1"),
        ("SELECT COUNT(*) FROM people WHERE age IN (" + ",".join(map(str, range(5000))) + ")", "D103"),
    ],
)
def test_odd_text_is_refused_with_a_code(opened: Open, sql: str, code: str) -> None:
    with pytest.raises(dpsql.Error) as caught:
        opened("").explain(sql)
    assert caught.value.code.startswith(code)


def test_an_error_carries_no_other(opened: Open) -> None:
    db = opened("")
    with pytest.raises(dpsql.OperationalError) as caught:
        db.execute("SELECT CAST('x' || COUNT(*) AS INTEGER) FROM people")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    with pytest.raises(dpsql.OperationalError) as priced:
        db.execute("SELECT COUNT(*) FROM people", epsilon=10**400)
    assert priced.value.code == "D503"


def test_a_file_replaced_while_it_is_open_is_not_mixed_up(tmp_path: Path) -> None:
    """DuckDB keeps the old file open for the whole process: its answers are not the new file's."""
    path = tmp_path / "d.duckdb"
    for name in ("d.duckdb", "new.duckdb"):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(TABLES)
    (tmp_path / "d.toml").write_text(POLICY)
    with dpsql.connect(path):
        (tmp_path / "new.duckdb").replace(path)
        with pytest.raises(dpsql.OperationalError) as caught:
            dpsql.connect(path)
        assert caught.value.code in ("D602", "D505")
    dpsql.connect(path, ledger=tmp_path / "other.ledger").close()


@pytest.mark.parametrize(
    "parameter", [2**128, -(2**127) - 1, "half \ud800", float("inf"), b"bytes", [1], object()]
)
def test_parameters_that_are_no_values_are_refused_before_payment(opened: Open, parameter: object) -> None:
    db = opened("")
    with pytest.raises(dpsql.Error) as caught:
        db.execute("SELECT COUNT(*) FROM people WHERE city = ?", (parameter,))  # type: ignore[arg-type]  # on purpose
    assert caught.value.code in ("D001", "D205")
    assert db.budget.spent == 0


@pytest.mark.parametrize(
    "condition",
    [
        "registered < (SELECT TIMESTAMP '99999-01-01')",
        "x > (SELECT 'nan'::DOUBLE)",
        "x IN (SELECT 'inf'::DOUBLE)",
    ],
)
def test_public_values_without_a_literal_are_refused(opened: Open, condition: str) -> None:
    with pytest.raises(dpsql.ProgrammingError) as caught:
        opened("").explain(f"SELECT COUNT(*) FROM people WHERE {condition}")
    assert caught.value.code == "D205"


def test_a_sum_beyond_its_type_is_held_to_it(opened: Open) -> None:
    answer = opened("").execute("SELECT SUM(0.5::DECIMAL(38, 37)) FROM people", epsilon=0.001)
    assert len(answer) == 1


def test_what_fails_by_released_numbers_fails_by_the_same_ones_again(opened: Open) -> None:
    """Two ways to fail, one for each side of the count: fresh noise in each try would tell its middle."""
    db = opened("")
    failing = (
        "WITH counted AS (SELECT city, COUNT(*) AS n FROM people WHERE city IN ('Oslo') GROUP BY city), "
        "many AS (SELECT city, unnest(range(CASE WHEN n > 9 THEN 200000 ELSE CAST('x' || n AS INTEGER) END)) "
        "AS k FROM counted) SELECT COUNT(*) FROM people JOIN many USING (city)"
    )
    told = set()
    for _ in range(20):
        with pytest.raises(dpsql.OperationalError, match="D601") as caught:
            db.execute(failing, epsilon=0.01)
        told.add(caught.value.title)
    assert len(told) == 1
    assert [each.answered for each in db.purchases] == [False]
    kinds = [each.kind for each in db._open().ledger.entries()]
    assert kinds.count("debit") == kinds.count("part") == 1


def test_an_answer_stopped_between_its_stages_goes_on_from_what_was_released(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = opened("")
    above = "SELECT COUNT(*) FROM people WHERE age > (SELECT COUNT(*) FROM people)"
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.post.stages.Released.hand_down", _stopped)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                db.execute(above)
    db.execute(above)
    kinds = [each.kind for each in db._open().ledger.entries()]
    assert [kinds.count(each) for each in ("debit", "part", "answer")] == [1, 1, 1]


def _stopped(*given: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("column", ["ill", "ills", "pair"])
def test_members_of_an_enum_that_no_policy_lists_are_in_no_message(tmp_path: Path, column: str) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            "CREATE TYPE ill AS ENUM ('flu', 'rarepox');"
            "CREATE TABLE people (pid INTEGER PRIMARY KEY, ill ill, ills ill[], pair STRUCT(a ill, b ill[]))"
        )
    policy = POLICY[: POLICY.index("[tables.people.columns]")] + f"[tables.people.columns]\n{column} = {{}}\n"
    (tmp_path / "d.toml").write_text(policy)
    told = []
    with dpsql.connect(tmp_path / "d.duckdb") as db:
        told.append(repr(db.tables))
        for asked in ("SUM(?)", "MAX(?)", "HISTOGRAM(?)", "COUNT(DISTINCT ?)", "AVG(? + 1)", "SUM(?[1])"):
            for grouped in ("", " GROUP BY ?", " WHERE ? > 1"):
                query = f"SELECT {asked} FROM people{grouped}".replace("?", column)
                try:
                    told.append(str(db.explain(query)))
                except dpsql.Error as error:
                    told.append(str(error))
    assert "ENUM" in told[0]
    assert not [each for each in told if "rarepox" in each]


MANY = """
INSERT INTO people SELECT i, 'Oslo', 'A', 30, 1.0, TIMESTAMP '2021-03-01' FROM range(10, 1000) AS r(i);
CREATE TABLE sizes AS SELECT 3 * i AS size_id, i AS size FROM range(100) AS r(i);
CREATE TABLE notes AS
SELECT CASE WHEN i = 5000 THEN 7 WHEN i % 1000 <> 7 THEN i % 1000 END AS pid, i AS n, i % 100 * 3 AS size_id
FROM range(20480) AS r(i);
CREATE TABLE lines AS SELECT i % 1000 AS pid, i AS n FROM range(100000) AS r(i);
"""
MORE = """
[tables.sizes]
public = true
key = "size_id"
[tables.notes]
key = "n"
unit = { column = "pid" }
rows_per_unit = 5
[tables.notes.columns]
pid = {}
n = {}
size_id = {}
[tables.lines]
key = "n"
unit = { column = "pid" }
rows_per_unit = 5
[tables.lines.columns]
pid = {}
n = {}
"""
SIZED = (
    "(SELECT pid AS p, n AS m, CASE WHEN pid <> 7 THEN size END AS s FROM notes JOIN sizes USING (size_id))"
)


@pytest.mark.parametrize("read", [f"{SIZED} WHERE s + m % 100 < 5", f"{SIZED} LEFT JOIN lines ON p = pid"])
@pytest.mark.parametrize("gone", ["", "DELETE FROM notes WHERE pid = 7; DELETE FROM lines WHERE pid = 7;"])
def test_a_case_over_a_joined_column_fails_on_nobodys_rows(opened: Open, read: str, gone: str) -> None:
    """DuckDB takes a joined column for a dictionary throughout once a chunk of rows brought it as one.

    A CASE that holds for all rows of a chunk but unit 7's makes it none: the query failed with unit 7, and
    answered without. First where small chunks are gathered, then where the join's result is joined again.
    """
    db = opened(MANY + gone, MORE)
    assert len(db.execute(f"SELECT COUNT(s) FROM {read}").rows) == 1


def test_a_failure_within_duckdb_fails_one_statement(opened: Open, tmp_path: Path) -> None:
    """DuckDB closed its instance after one: all later queries failed, on every connection to the database."""
    with opened(MANY, MORE) as db, dpsql.connect(tmp_path / "0" / "d.duckdb") as other:
        engine = db._open().engine
        assert isinstance(engine, DuckDB)
        other.execute("SELECT COUNT(*) FROM people")
        sized = "SELECT n, CASE WHEN n < 5000 THEN size END AS s FROM notes JOIN sizes USING (size_id)"
        with pytest.raises(dpsql.Error, match="D601"), engine._reading():
            engine._all(f"SELECT count(s) FROM ({sized}) LEFT JOIN lines USING (n)")
        for each in (db, other):
            assert each.execute("SELECT COUNT(*) FROM people WHERE age > 30").rows


def test_a_case_over_a_joined_public_column_is_answered(opened: Open) -> None:
    """The engine for public rows failed likewise, and on every query from then on."""
    listed = "CREATE TABLE listed AS SELECT i AS n, i % 100 * 3 AS size_id FROM range(20480) AS r(i);"
    db = opened(MANY + listed, MORE + '[tables.listed]\npublic = true\nkey = "n"\n')
    sized = "SELECT n, CASE WHEN n < 5000 THEN size END AS s FROM listed JOIN sizes USING (size_id)"
    assert db.execute(f"SELECT COUNT(s) FROM ({sized}) WHERE s + n % 100 < 5").rows == [(150,)]

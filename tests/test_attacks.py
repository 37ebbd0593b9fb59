"""Attacks that once worked, each on a small database made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.audit.oracles import without_noise
from dpsql.engines.opened import open_database
from dpsql.ir.column import INTEGERS, type_named, type_range
from dpsql.ir.plan import PublicKeys, Shape
from dpsql.session.checks import load_policy
from dpsql.shell.policies import checked

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

Open = Callable[[str], dpsql.Connection]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the database as it is made by TABLES and some more statements."""
    with ExitStack() as stack:

        def make(more: str = "") -> dpsql.Connection:
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            folder.mkdir()
            with duckdb.connect(str(folder / "d.duckdb")) as connection:
                connection.execute(TABLES + more)
            (folder / "d.toml").write_text(POLICY)
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


# ---- unit columns of different integer types ---------------------------------------------------------

WHOLE = {sql: type_range(type_named(sql)) for sql in INTEGERS}

UNITS = """
[budget]
epsilon = 1000.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
x = { range = [0, 10] }
[tables.items]
key = "k"
unit = { column = "id" }
rows_per_unit = 3
[tables.items.columns]
id = {}
x = { range = [0, 10] }
[tables.notes]
unit = { column = "k", references = "items.k" }
rows_per_unit = 3
[tables.notes.columns]
x = {}
"""

PEOPLE, ITEMS = "SELECT id, x FROM people", "SELECT id, x FROM items"

UNITS_MEET: dict[str, Callable[[set[int], set[int]], int]] = {
    "SELECT COUNT(*) FROM people p JOIN items i ON p.id = i.id": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM items i JOIN people p USING (id)": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM people NATURAL JOIN items": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM items a JOIN items b USING (id) JOIN people c USING (id)": lambda a, b: len(a & b),
    "SELECT COUNT(i.x) FROM people p LEFT JOIN items i ON p.id = i.id": lambda a, b: len(a & b),
    "SELECT COUNT(p.x) FROM people p RIGHT JOIN items i USING (id)": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM people p FULL JOIN items i ON p.id = i.id": lambda a, b: len(a | b),
    "SELECT COUNT(*) FROM items FULL JOIN people USING (id) WHERE id <> 2": lambda a, b: len((a | b) - {2}),
    "SELECT COUNT(*) FROM items SEMI JOIN people USING (id)": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM people p ANTI JOIN items i ON i.id = p.id": lambda a, b: len(a - b),
    f"SELECT COUNT(*) FROM ({PEOPLE} UNION ALL {ITEMS})": lambda a, b: len(a) + len(b),
    f"SELECT COUNT(*) FROM ({ITEMS} UNION {PEOPLE})": lambda a, b: len(a | b),
    f"SELECT COUNT(*) FROM ({PEOPLE} INTERSECT {ITEMS})": lambda a, b: len(a & b),
    f"SELECT COUNT(*) FROM ({PEOPLE} INTERSECT ALL {ITEMS})": lambda a, b: len(a & b),
    f"SELECT COUNT(*) FROM ({ITEMS} EXCEPT {PEOPLE})": lambda a, b: len(b - a),
    f"SELECT COUNT(*) FROM ({PEOPLE} EXCEPT ALL {ITEMS})": lambda a, b: len(a - b),
    f"SELECT COUNT(*) FROM (SELECT id, SUM(x) AS s FROM ({PEOPLE} UNION ALL {ITEMS}) GROUP BY id)": (
        lambda a, b: len(a | b)
    ),
    f"SELECT COUNT(DISTINCT x) FROM ({PEOPLE} UNION ALL {ITEMS})": lambda a, b: 1,
    "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM items i WHERE i.id = p.id)": (
        lambda a, b: len(a & b)
    ),
    "SELECT COUNT(*) FROM items WHERE id IN (SELECT id FROM people)": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM items WHERE id NOT IN (SELECT id FROM people)": lambda a, b: len(b - a),
    "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM items i WHERE i.id = p.id) = 0": (
        lambda a, b: len(a - b)
    ),
    "SELECT COUNT(*) FROM notes": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM notes JOIN items USING (k)": lambda a, b: len(a & b),
    "SELECT COUNT(*) FROM notes n WHERE EXISTS (SELECT 1 FROM items i WHERE i.k = n.k)": (
        lambda a, b: len(a & b)
    ),
}


@pytest.mark.parametrize("first", INTEGERS)
def test_units_of_any_two_integer_types_meet_without_a_failure(tmp_path: Path, first: str) -> None:
    """A cast to the narrower type failed if, and only if, one particular person was there.

    Every unit that either type can hold may be there, and is the same unit in both; where no type holds both
    (UHUGEINT and one with negative numbers), the policy is refused.
    """
    for second in INTEGERS:
        ours, theirs = (
            {*some, *map(int, (WHOLE[sql].low, WHOLE[sql].high))}
            for sql, some in ((first, (1, 2, 3)), (second, (2, 3, 4)))
        )
        folder = tmp_path / second
        folder.mkdir()
        with duckdb.connect(str(folder / "d.duckdb")) as connection:
            connection.execute(
                f"CREATE TABLE people (id {first} PRIMARY KEY, x INTEGER);"
                f"CREATE TABLE items (id {second}, k {second} UNIQUE, x INTEGER);"
                f"CREATE TABLE notes (k {first}, x INTEGER);"
            )
            for each in ours:
                connection.execute(
                    f"INSERT INTO people VALUES ('{each}', 1); INSERT INTO notes VALUES ('{each}', 1)"
                )
            for each in theirs:
                connection.execute(f"INSERT INTO items VALUES ('{each}', '{each}', 1)")
        (folder / "d.toml").write_text(UNITS)
        if min(min(ours), min(theirs)) < 0 and "UHUGEINT" in (first, second):
            with pytest.raises(dpsql.DatabaseError) as caught:
                dpsql.connect(folder / "d.duckdb")
            assert caught.value.code == "D806"
            continue
        with dpsql.connect(folder / "d.duckdb") as db:
            for sql, meant in UNITS_MEET.items():
                [(found,)] = without_noise(db, sql, 1.0)
                assert round(found) == meant(ours, theirs), (sql, second)


# ---- what is released first and joined back ----------------------------------------------------------

BY_CITY = "(SELECT city, COUNT(*) AS n FROM people GROUP BY city)"
BY_BOTH = "(SELECT city, blood, COUNT(*) AS n FROM people GROUP BY city, blood)"
FIRST_TWO = f"(SELECT * FROM {BY_BOTH} ORDER BY city LIMIT 2)"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM people JOIN (SELECT city FROM {BY_CITY} AS t(n, city)) AS u ON age = u.city",
        f"SELECT COUNT(*) FROM people JOIN (SELECT n AS city, city FROM {BY_CITY}) AS u(a, b) ON age = u.a",
        f"SELECT COUNT(*) FROM people JOIN (SELECT t.city FROM (SELECT n AS City, city FROM {BY_CITY}) AS t"
        "(city, c)) AS u ON age = u.city",
        "SELECT COUNT(*) FROM people JOIN (SELECT s.city FROM (SELECT {'city': n} AS s, city "
        f"FROM {BY_CITY}) AS t) AS u ON age = u.city",
        f"SELECT COUNT(*) FROM people p JOIN (SELECT city, blood, SUM(n) AS n FROM {FIRST_TWO} "
        "GROUP BY CUBE (city, blood)) AS u ON p.city = u.city",
        f"SELECT COUNT(*) FROM people p JOIN (SELECT city, blood, SUM(n) AS n FROM {FIRST_TWO} "
        "GROUP BY GROUPING SETS ((city), (blood), (city, blood))) AS u ON p.city = u.city",
        f"SELECT COUNT(*) FROM people WHERE age > (SELECT SUM(n) FROM (SELECT * FROM {BY_BOTH} LIMIT 1) "
        "GROUP BY ROLLUP (city, blood))",
    ],
)
def test_no_release_fails_behind_its_debit_for_what_the_query_shows(opened: Open, sql: str) -> None:
    """Keys and numbers of rows were read off names and an inner LIMIT: the next stage failed, paid for.

    An alias list, a column that is there twice, and a field of a struct gave a count the name of a key;
    CUBE gives more rows than it is given. All cities have as many people, so that their counts agree (at
    epsilon 1000 the noise is below a half but for a chance of 1e-100).
    """
    db = opened(
        "INSERT INTO people SELECT 1000 + i, 'c' || (i % 5), ['A', 'B'][1 + i % 2], 30, 1.0, NULL "
        "FROM range(1000) AS r(i);"
    )
    codes = []
    try:
        db.execute(sql, epsilon=1000.0)
    except dpsql.Error as error:
        codes.append(error.code)
    assert not {"D601", "D901"} & set(codes)
    assert not codes or db.budget.spent == 0


def test_a_range_follows_the_column_and_not_its_name(opened: Open) -> None:
    """A count under the name of an average was said to be within the average's range, and clamped to it."""
    released = "(SELECT AVG(x) AS a, COUNT(*) AS n FROM people)"
    db = opened("")
    for joined in (f"{released} AS t(n, a)", f"(SELECT n AS a, a AS n FROM {released}) AS t"):
        named = f"(SELECT n, a FROM {joined}) AS u"
        [(total,)] = without_noise(db, f"SELECT SUM(LEAST(GREATEST(u.a, 0), 50)) FROM people, {named}", 1.0)
        assert round(total) == 10 * 10, joined
    twice = f"(SELECT n AS v, a AS v FROM {released}) AS u(v, w)"
    [(total,)] = without_noise(db, f"SELECT SUM(LEAST(GREATEST(u.v, 0), 50)) FROM people, {twice}", 1.0)
    assert round(total) == 10 * 10


# ---- columns that read differently each time ---------------------------------------------------------

GENERATED = """
CREATE SEQUENCE numbers;
CREATE MACRO noisy(a) AS a + random();
CREATE MACRO plain(a) AS a + 1;
CREATE TABLE people (
    pid INTEGER PRIMARY KEY, age INTEGER, seen TIMESTAMP, name VARCHAR COLLATE NOCASE,
    first DOUBLE GENERATED ALWAYS AS (random()), made {type} GENERATED ALWAYS AS ({made})
);
INSERT INTO people SELECT i, 30, TIMESTAMP '2024-01-01', 'Ann' FROM range(10) AS r(i);
"""

ONE_TABLE = POLICY[: POLICY.index("[tables.people.columns]")] + "[tables.people.columns]\nage = {}\n"


def generated(
    folder: Path, made: str, type_: str = "DOUBLE", listed: str = "made = { range = [0, 1] }"
) -> Path:
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute(GENERATED.format(type=type_, made=made))
    (folder / "d.toml").write_text(ONE_TABLE + listed)
    return folder / "d.duckdb"


@pytest.mark.parametrize(
    "made",
    [
        "random()",
        "age + random()",
        "first / 2",
        'least("first", age)',
        "noisy(age)",
        "plain(age)",
        "nextval('numbers')",
        "epoch(now())",
        "epoch(current_localtimestamp())",
        "epoch(age(seen))",
        "date_part('year', current_date())",
        "hash(uuid())",
        "CASE WHEN main.noisy(age) > 3 THEN 1 ELSE 0 END",
        "[random()][1]",
        "{'a': random()}.a",
        "CAST(current_setting('threads') AS INTEGER)",
    ],
)
def test_a_column_that_reads_differently_each_time_is_not_there(tmp_path: Path, made: str) -> None:
    """The clip read it once and the sum again: the norm was of other values than what was released."""
    path = generated(tmp_path, made)
    with dpsql.connect(path) as db:
        for sql in ("SELECT SUM(made) FROM people", "SELECT COUNT(*) FROM people WHERE made > 0.5"):
            with pytest.raises(dpsql.Error) as caught:
                db.execute(sql)
            assert caught.value.code == "D202"
        assert [each.name for table in db.tables for each in table.columns] == ["pid", "age"]
    policy = load_policy(path.with_suffix(".toml"))
    with closing(open_database(path, policy)) as engine:
        said = checked(policy, engine, "d.duckdb")
    assert "hidden    people: first, made (generated, and may read differently each time" in said


def test_a_macro_that_goes_by_the_name_of_a_function_is_none(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE MACRO abs(a) AS a + random()")
    path = generated(tmp_path, "abs(age)")
    with dpsql.connect(path) as db:
        assert [each.name for table in db.tables for each in table.columns] == ["pid", "age"]


@pytest.mark.parametrize(
    ("made", "type_"),
    [
        ("age * 2.5 + abs(-pid)", "DOUBLE"),
        ("CASE WHEN age BETWEEN 1 AND 40 AND name LIKE 'random()%' THEN 1 ELSE -(pid) END", "INTEGER"),
        ("CAST(age AS DECIMAL(9, 2)) / 3", "DOUBLE"),
        ("extract(year FROM seen) + coalesce(age, 0) // 2", "BIGINT"),
        ("[age, pid][1] + length(name)", "BIGINT"),
    ],
)
def test_a_column_that_is_computed_is_there(tmp_path: Path, made: str, type_: str) -> None:
    path = generated(tmp_path, made, type_, "made = { range = [-9999, 9999] }")
    with duckdb.connect(str(path), read_only=True) as connection:
        [(total,)] = connection.execute("SELECT SUM(made) FROM people").fetchall()
    with dpsql.connect(path) as db:
        [(found,)] = without_noise(db, "SELECT SUM(made) FROM people", 1.0)
        assert found == pytest.approx(float(total), rel=1e-6)


def test_what_is_generated_from_a_collated_text_is_collated(tmp_path: Path) -> None:
    """Its groups showed the spelling of whichever person stood first."""
    path = generated(tmp_path, "lower(name) || upper(name)", "VARCHAR", "made = {}")
    with dpsql.connect(path) as db, pytest.raises(dpsql.Error) as caught:
        db.execute("SELECT made, COUNT(*) FROM people GROUP BY made")
    assert caught.value.code == "D205"


def test_a_generated_column_that_cannot_be_computed_is_found_when_opening(tmp_path: Path) -> None:
    """An UPDATE does not look: a query that read the column failed if, and only if, one person was in it."""
    path = tmp_path / "d.duckdb"
    path.with_suffix(".toml").write_text(ONE_TABLE + "made = { range = [0, 9] }")
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (pid INTEGER PRIMARY KEY, age INTEGER, name VARCHAR, "
            "made INTEGER GENERATED ALWAYS AS (CAST(name AS INTEGER)));"
            "INSERT INTO people SELECT i, 30, '7' FROM range(10) AS r(i)"
        )
    with dpsql.connect(path) as db:
        db.execute("SELECT SUM(made) FROM people")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE people SET name = 'Ann' WHERE pid = 7")
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(path)
    assert caught.value.code == "D602"


@pytest.mark.parametrize("wrong", ["[unit]\nname = 'person'\ntable = 'people'\nkey = 'made'", "key = 'made'"])
def test_what_reads_differently_each_time_is_no_key_and_no_unit(tmp_path: Path, wrong: str) -> None:
    path = generated(tmp_path, "nextval('numbers')", "BIGINT", "")
    policy = path.with_suffix(".toml")
    text = policy.read_text()
    if wrong.startswith("[unit]"):
        text = text[: text.index("[unit]")] + wrong + text[text.index("\n[tables.people.columns]") :]
    else:
        text = text.replace("[tables.people.columns]", f"[tables.people]\n{wrong}\n[tables.people.columns]")
    policy.write_text(text)
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(path)
    assert (caught.value.code, "differently each time" in str(caught.value)) == ("D804", True)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT COUNT(*) FROM people TABLESAMPLE 50%", "D105"),
        ("SELECT COUNT(*) FROM people USING SAMPLE 5", "D105"),
        ("SELECT COUNT(*) FROM (SELECT * FROM people) TABLESAMPLE 50%", "D105"),
        ("SELECT COUNT(*) FROM people WHERE random() < 0.5", "D251"),
        ("SELECT COUNT(*) FROM people, (SELECT random() AS x) AS r WHERE r.x < 0.5", "D251"),
        ("SELECT COUNT(*) FROM people WHERE noisy(age) > 3", "D204"),
        ("SELECT COUNT(*) FROM people WHERE age < nextval('numbers')", "D251"),
        ("SELECT COUNT(*) FROM seen", "D201"),
        ("SELECT MAX(rowid) FROM people", "D202"),
    ],
)
def test_nothing_that_reads_differently_each_time_is_read(tmp_path: Path, sql: str, code: str) -> None:
    path = generated(tmp_path, "age * 2", "INTEGER")
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW seen AS SELECT *, random() AS x FROM people")
    with dpsql.connect(path) as db, pytest.raises(dpsql.Error) as caught:
        db.execute(sql)
    assert caught.value.code == code
    policy = path.with_suffix(".toml")
    policy.write_text(policy.read_text() + f'\n[views.v]\nsql = "{sql}"\n')
    with pytest.raises(dpsql.Error) as caught:
        dpsql.connect(path)
    assert caught.value.code == "D808"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST('abc' AS INTEGER), COUNT(*) FROM people",
        "SELECT COUNT(*) FROM people ORDER BY make_date(2020, 13, 1)",
        "SELECT COUNT(*) FROM people HAVING COUNT(*) + CAST('abc' AS INTEGER) > 1",
        "SELECT blood, COUNT(*) FROM people WHERE blood IN ('A', 'B') GROUP BY blood HAVING blood = 5",
        "SELECT COUNT(*), (SELECT code FROM codes) FROM people",
        "SELECT (SELECT n FROM (SELECT age, COUNT(*) AS n FROM people WHERE age IN (30, 31) GROUP BY age))",
        "SELECT age, COUNT(*), NTILE(0) OVER () FROM people WHERE age IN (30, 31) GROUP BY age",
        "SELECT COUNT(*) FROM people WHERE age > (SELECT COUNT(*) + CAST('abc' AS INTEGER) FROM people)",
    ],
)
def test_what_fails_whatever_is_released_is_not_paid_for(opened: Open, sql: str) -> None:
    """Each was debited, and then failed: now and whenever it was asked again."""
    db = opened("")
    for ask in (db.explain, db.price, db.execute):
        with pytest.raises(dpsql.ProgrammingError) as caught:
            ask(sql)
        assert caught.value.code == "D205"
        assert caught.value.help
    assert db.budget.spent == 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT TRY_CAST('abc' AS INTEGER), COUNT(*) FROM people",
        "SELECT CASE WHEN COUNT(*) > 5 THEN 1 ELSE CAST(COUNT(*) AS TINYINT) END FROM people",
        "SELECT CAST(COUNT(*) AS TINYINT) FROM people",
        "SELECT (SELECT MAX(code) FROM codes), COUNT(*) FROM people",
        "SELECT city, CAST(city AS INTEGER), COUNT(*) FROM people GROUP BY city HAVING COUNT(*) > 1000",
        "SELECT SUM(age) / NULLIF(COUNT(*), 1), 100 // COUNT(*) FROM people",
    ],
)
def test_what_may_be_answered_is_tried(opened: Open, sql: str) -> None:
    """Noise of 10 people at epsilon 1000 is below a half but for a chance of 1e-100."""
    assert opened("").execute(sql, epsilon=1000.0).columns

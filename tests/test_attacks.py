"""Attacks that once worked, each on a small database made for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb
import pytest
from processes import told

import dpsql
from dpsql.audit import measure, plan_of
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


# ---- files that change, processes that fork -------------------------------------------------------------


def overwritten(path: Path, more: str) -> None:
    """Another database's bytes in the same file: as many of them, with the time put back."""
    other = path.with_name("other.duckdb")
    with duckdb.connect(str(other)) as connection:
        connection.execute(TABLES + more)
    before = path.stat()
    assert other.stat().st_size == before.st_size
    with path.open("r+b") as file:
        file.write(other.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_database_overwritten_under_a_connection_is_refused_before_payment(opened: Open) -> None:
    """DuckDB would read some blocks of the old file and some of the new: an answer about neither."""
    db = opened("")
    overwritten(db.ledger_path.with_suffix(".duckdb"), "UPDATE people SET age = 80")
    with pytest.raises(dpsql.OperationalError, match="D602"):
        db.execute("SELECT AVG(age) FROM people")
    assert db.budget.spent == 0
    assert not db.purchases


def test_a_database_overwritten_while_it_is_read_gives_no_answer(opened: Open) -> None:
    db = opened("")
    engine = db._open().engine
    measure = engine.measure

    def changed_behind(planned: object) -> object:
        found = measure(planned)  # type: ignore[arg-type]  # as it was given
        overwritten(db.ledger_path.with_suffix(".duckdb"), "UPDATE people SET age = 80")
        with pytest.raises(dpsql.OperationalError, match="D602"):
            measure(planned)  # type: ignore[arg-type]  # as it was given
        engine.unchanged()
        return found

    engine.measure = changed_behind  # type: ignore[assignment]  # the same one, and a change behind it
    with pytest.raises(dpsql.OperationalError, match="D602"):
        db.execute("SELECT AVG(age) FROM people")
    assert [each.answered for each in db.purchases] == [False]


WRITES = """
import sys, duckdb
try:
    with duckdb.connect(sys.argv[1]) as connection:
        connection.execute("CREATE TABLE written AS SELECT 1")
    print("written")
except duckdb.IOException as error:
    print("kept out" if "lock" in str(error) else error)
"""


def test_what_is_closed_leaves_the_lock_of_what_is_open(opened: Open) -> None:
    """A process loses its locks on a file with any descriptor of it that it closes: ours, or anybody's."""
    db = opened("")
    path = db.ledger_path.with_suffix(".duckdb")
    assert told(WRITES, path) == "kept out"
    dpsql.connect(path).close()
    assert told(WRITES, path) == "kept out"
    dpsql.connect(path, ledger=path.with_name("another.ledger")).close()
    path.read_bytes()  # drops it, and the next look takes it again
    db.execute("SELECT COUNT(*) FROM people")
    assert told(WRITES, path) == "kept out"
    db.close()
    assert told(WRITES, path) == "written"


def test_a_refused_connection_leaves_the_lock_of_who_writes(tmp_path: Path) -> None:
    """The same process has the file open for writing: dpsql refuses, and its refusal drops no lock."""
    path = tmp_path / "d.duckdb"
    (tmp_path / "d.toml").write_text(POLICY)
    with duckdb.connect(str(path)) as writer:
        writer.execute(TABLES)
        for _ in range(2):
            with pytest.raises(dpsql.OperationalError, match="D602"):
                dpsql.connect(path)
            assert told(WRITES, path) == "kept out"
        writer.execute("CREATE TABLE more AS SELECT 1")
    dpsql.connect(path).close()
    assert told(WRITES, path) == "written"


FILES_POLICY = """
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
[tables.people]
CSV
[tables.people.columns]
COLUMNS
"""


def folder_of(place: Path, lines: str, csv: str, columns: str) -> Path:
    (place / "data").mkdir(exist_ok=True)
    (place / "data" / "people.csv").write_text(lines)
    (place / "data.toml").write_text(FILES_POLICY.replace("CSV", csv).replace("COLUMNS", columns))
    return place / "data"


def test_a_csv_of_the_same_size_and_time_is_another_version(tmp_path: Path) -> None:
    """Times can be put back by whoever writes; when a file changed cannot."""
    columns = 'pid = { type = "INTEGER" }\nage = { type = "INTEGER", range = [0, 120] }'
    data = folder_of(tmp_path, "pid,age\n1,30\n2,31\n", "", columns)
    with dpsql.connect(data) as db:
        first = db.execute("SELECT SUM(age) FROM people", epsilon=400)
        file, version = data / "people.csv", db._open().engine.version()
        before = file.stat()
        file.write_text("pid,age\n1,90\n2,91\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        with pytest.raises(dpsql.OperationalError, match="D602"):
            db.execute("SELECT COUNT(*) FROM people")
    with dpsql.connect(data) as db:
        assert db._open().engine.version() != version
        again = db.execute("SELECT SUM(age) FROM people", epsilon=400)
    assert not again.repeated
    assert again.rows[0][0] - first.rows[0][0] > 60  # of 120; the noise has a deviation below 2


TYPED = 'pid = { type = "INTEGER" }\nage = { type = "INTEGER", range = [0, 120] }'
TEXTS = 'pid = { type = "VARCHAR" }\nage = { type = "INTEGER", range = [0, 120] }'


@pytest.mark.parametrize(
    ("lines", "before", "after"),
    [
        (  # the first of two columns, then the second: the header names none
            "1,7\n2,7\n3,7\n",
            ("csv = { header = false }", TYPED),
            ("csv = { header = false }", "\n".join(reversed(TYPED.split("\n")))),
        ),
        ("pid,age\n1,30\n01,31\n2,32\n", ("", TEXTS), ("", TYPED)),
        (
            "pid;age\n1,5;30\n1,6;31\n",
            ('csv = { delim = ";" }', TEXTS),
            ('csv = { delim = ";", decimal = "," }', TYPED),
        ),
        ("pid,age\n'1',30\n1,31\n", ("", TEXTS), ('csv = { quote = "\'" }', TEXTS)),
    ],
    ids=["the order of columns", "a type", "the decimal mark", "the quote"],
)
def test_a_key_is_verified_again_when_the_same_file_is_read_otherwise(
    tmp_path: Path, lines: str, before: tuple[str, str], after: tuple[str, str]
) -> None:
    """People with rows of equal keys were taken for different ones, and no row of theirs was clipped."""
    dpsql.connect(folder_of(tmp_path, lines, *before)).close()
    state = (tmp_path / "data" / "people.csv").stat()
    (tmp_path / "data.toml").write_text(FILES_POLICY.replace("CSV", after[0]).replace("COLUMNS", after[1]))
    assert (tmp_path / "data" / "people.csv").stat() == state
    with pytest.raises(dpsql.ProgrammingError, match="D805"):
        dpsql.connect(tmp_path / "data")


def test_more_files_of_a_table_are_verified_again(tmp_path: Path) -> None:
    """All of the folder's states are the same: what changed is which of the files are a table."""
    columns = TYPED + "\n[tables.others]\npublic = true\nfiles = 'b*.csv'\n[tables.others.columns]\n" + TYPED
    (tmp_path / "data").mkdir()
    for name in ("a1", "b1"):
        (tmp_path / "data" / f"{name}.csv").write_text("pid,age\n1,30\n2,31\n")
    policy = FILES_POLICY.replace("COLUMNS", columns)
    (tmp_path / "data.toml").write_text(policy.replace("CSV", "files = 'a*.csv'"))
    dpsql.connect(tmp_path / "data").close()
    (tmp_path / "data.toml").write_text(policy.replace("CSV", "files = '*.csv'"))
    with pytest.raises(dpsql.ProgrammingError, match="D805"):
        dpsql.connect(tmp_path / "data")


def test_two_keys_of_one_spelling_are_two_facts(tmp_path: Path) -> None:
    """["a", "b"] is unique, and "a, b" is not: the one was taken for verified by the other's name."""
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (pid INTEGER PRIMARY KEY);"
            'CREATE TABLE marks (pid INTEGER, a INTEGER, b INTEGER, "a, b" INTEGER);'
            "INSERT INTO people VALUES (1); INSERT INTO marks VALUES (1, 1, 1, 1), (1, 2, 1, 1)"
        )
    policy = POLICY[: POLICY.index("[tables.people.columns]")] + (
        "[tables.people.columns]\npid = {}\n[tables.marks]\nkey = KEY\nunit = { column = 'pid' }\n"
        "rows_per_unit = 5\n[tables.marks.columns]\npid = {}\na = {}\nb = {}\n'a, b' = {}\n"
    )
    path.with_suffix(".toml").write_text(policy.replace("KEY", "['a', 'b']"))
    dpsql.connect(path).close()
    path.with_suffix(".toml").write_text(policy.replace("KEY", "'a, b'"))
    with pytest.raises(dpsql.ProgrammingError, match="D805"):
        dpsql.connect(path)


SPILL_AFTER_FORK = """
import os, shutil, stat, sys, threading, warnings
import dpsql
from dpsql.engines import duckdb as databases, spill

warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, from Python 3.12 on
usual = databases.configuration
databases.configuration = lambda *threads: usual(*threads) | {"memory_limit": "64MB", "threads": 1}
top, seen, done = os.environ["TMPDIR"], set(), threading.Event()

def watch():
    while not done.wait(0.001):
        for name in os.listdir(top):
            for place, _, files in os.walk(os.path.join(top, name)):
                if any("storage" in each for each in files):
                    seen.add(stat.S_IMODE(os.stat(os.path.join(top, name)).st_mode))

with dpsql.connect(sys.argv[1], ledger=sys.argv[3]) as db:
    child = os.fork()
    if child == 0:
        sys.stderr = open(os.devnull, "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.exit(0)
    ended = os.waitpid(child, 0)[1]
    if sys.argv[2] == "tidied":
        shutil.rmtree(os.path.join(top, *os.listdir(top)))
    watching = threading.Thread(target=watch)
    watching.start()
    db.execute("SELECT COUNT(*) FROM (SELECT pid, name, COUNT(*) AS n FROM people GROUP BY pid, name)")
    done.set()
    watching.join()
print(ended, *map(oct, seen))
"""

NAMES = """
CREATE TABLE people AS
SELECT i AS pid, 'PERSON' || repeat(md5(i::VARCHAR), 3) AS name FROM range(600000) AS r(i);
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More than fits into the memory that a test allows."""
    path = tmp_path_factory.mktemp("names") / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(NAMES)
    policy = POLICY[: POLICY.index("[tables.people.columns]")]
    path.with_suffix(".toml").write_text(policy + "[tables.people.columns]\npid = {}\nname = {}\n")
    return path


@pytest.mark.parametrize("how", ["forked", "tidied"])
def test_rows_spill_where_nobody_else_looks(
    names: Path, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that ended, or what tidies up, removed the folder: DuckDB made another, for all to read."""
    top = tmp_path / "temporary"
    top.mkdir()
    monkeypatch.setenv("TMPDIR", str(top))
    assert told(SPILL_AFTER_FORK, names, how, tmp_path / "own.ledger") == "0 0o700"
    assert not list(top.iterdir())


@pytest.mark.parametrize("how", ["opened", "replaced", "another lock"])
def test_a_spill_folder_that_is_not_ours_is_refused_before_payment(
    opened: Open, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever put another folder in its place could read what spills there."""
    path = opened("").ledger_path.with_suffix(".duckdb")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = """
import glob, os, sys
import dpsql
with dpsql.connect(sys.argv[1]) as db:
    [folder] = glob.glob(os.path.join(os.environ["TMPDIR"], "dpsql-*"))
    if sys.argv[2] == "opened":
        os.chmod(folder, 0o755)
    elif sys.argv[2] == "replaced":
        os.rename(folder, folder + ".away")
        os.symlink(folder + ".away", folder)
    else:
        os.remove(os.path.join(folder, ".held"))
        open(os.path.join(folder, ".held"), "w").close()
    try:
        db.execute("SELECT COUNT(*) FROM people")
    except dpsql.OperationalError as error:
        print(error.code, db.budget.spent)
"""
    assert told(script, path, how) == "D602 0.0"


FORKED = """
import asyncio, os, sys, threading, warnings
import sqlalchemy
import dpsql, dpsql.aio
from dpsql.console.ask import ask
from dpsql.console.state import Shell
from dpsql.shell import main

warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, from Python 3.12 on
path, ledger, count = sys.argv[1], sys.argv[2], "SELECT COUNT(*) FROM people"

db = dpsql.connect(path, ledger=ledger)
rows = db.execute(count).rows
cursor = db.cursor().execute(count)
asynchronous = dpsql.aio.Connection(dpsql.connect(path, ledger=ledger))
asyncio.run(asynchronous.execute(count))
pool = sqlalchemy.create_engine(f"dpsql:///{path}?ledger={ledger}")
checked = pool.connect()
checked.execute(sqlalchemy.text(count)).all()
shell = Shell(db)

entries = {
    "execute": lambda: db.execute(count),
    "explain": lambda: db.explain(count),
    "price": lambda: db.price(count),
    "export": lambda: db.export("SELECT city FROM people"),
    "tables": lambda: db.tables,
    "budget": lambda: db.budget,
    "purchases": lambda: db.purchases,
    "epsilon": lambda: db.epsilon,
    "interrupt": db.interrupt,
    "cursor": db.cursor,
    "commit": db.commit,
    "rollback": db.rollback,
    "cursor.execute": lambda: cursor.execute(count),
    "cursor.fetchone": cursor.fetchone,
    "cursor.fetchall": cursor.fetchall,
    "cursor.executemany": lambda: cursor.executemany(count, [()]),
    "cursor.setinputsizes": lambda: cursor.setinputsizes([]),
    "aio.execute": lambda: asyncio.run(asynchronous.execute(count)),
    "aio.budget": lambda: asyncio.run(asynchronous.budget()),
    "sqlalchemy": lambda: checked.execute(sqlalchemy.text(count)),
    "shell": lambda: ask(shell, count),
}

def wrong():
    for name, call in entries.items():
        try:
            call()
            yield name
        except (dpsql.InterfaceError, sqlalchemy.exc.InterfaceError) as error:
            if "forked" not in str(error):
                yield name
    db.close()  # harmless: a with statement does it on the way out
    cursor.close()
    asyncio.run(asynchronous.close())
    with dpsql.connect(path, ledger=ledger) as own, dpsql.connect(path, ledger=ledger) as another:
        for each in (own, another):
            answer = each.execute(count)
            if answer.rows != rows or not answer.repeated or len(each.tables) != 3:
                yield "one's own"
    with pool.connect() as fresh:
        if [tuple(each) for each in fresh.execute(sqlalchemy.text(count))] != rows:
            yield "sqlalchemy's own"
    if main(["query", path, "--ledger", ledger, "--format", "csv", "-c", count]):
        yield "the command line"
    if os.fork() == 0:  # and once more, from a child that has connections of its own
        with dpsql.connect(path, ledger=ledger) as own:
            os._exit(own.execute(count).rows != rows)
    if os.wait()[1]:
        yield "a grandchild"

def run(number, stop):
    while not stop.is_set():
        db.execute("SELECT COUNT(*) FROM people WHERE age > ?", (number,))

stop = threading.Event()
busy = [threading.Thread(target=run, args=(number, stop)) for number in range(int(sys.argv[3]))]
for each in busy:
    each.start()
children = []
for _ in range(int(sys.argv[4])):
    child = os.fork()
    if child == 0:
        sys.stdout = open(os.devnull, "w")
        told = list(wrong())
        os.write(1, f"{told}\\n".encode())
        os._exit(bool(told))
    children.append(os.waitpid(child, 0)[1])
stop.set()
for each in busy:
    each.join()
db.execute(count)
print(children)
"""


@pytest.mark.parametrize(("threads", "forks"), [(0, 1), (4, 8)])
def test_a_child_is_told_that_a_connection_is_its_parents(opened: Open, threads: int, forks: int) -> None:
    """Whatever it called, it waited for threads that were not forked with it, or died of SIGSEGV."""
    path = opened("").ledger_path.with_suffix(".duckdb")
    said = told(FORKED, path, path.with_name("own.ledger"), threads, forks)
    assert said.split("\n") == ["[]"] * forks + [str([0] * forks)]


ENDS = """
import gc, os, sys
import dpsql
db = dpsql.connect(sys.argv[1])
db.execute("SELECT COUNT(*) FROM people")
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the driver counts what it does not take down
    if sys.argv[2] == "forgets":
        del db
        gc.collect()
    elif sys.argv[2] == "closes":
        db.close()
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(db.execute("SELECT COUNT(*) FROM people")))
"""


@pytest.mark.parametrize("how", ["keeps", "closes", "forgets"])
def test_a_child_ends_in_order_beside_what_it_inherited(opened: Open, how: str) -> None:
    """It died of SIGSEGV, joining threads of DuckDB that it never had."""
    path = opened("").ledger_path.with_suffix(".duckdb")
    assert told(ENDS, path, how) == "7 1"

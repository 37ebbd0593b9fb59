"""The process of the sealed engine: what it holds, what ends it, and who has it next."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.post.sealed import SETTINGS, _cast, array_of
from dpsql.post.sealed_process import Failed, Full, Late, Many, Process, _computed, left, taken

MEGABYTE = 2**20
PATIENCE = 60.0  # seconds, where much less is needed


@pytest.fixture
def process() -> Iterator[Process]:
    made = Process()
    made.open([], 64 * MEGABYTE)
    yield made
    made.end()


def rows(process: Process, sql: str) -> list[tuple[object, ...]]:
    return process.run(sql, PATIENCE, 64 * MEGABYTE, None)


def test_rows_come_in_order_however_many(process: Process) -> None:
    for n in (0, 1, 2_047, 2_048, 2_049, 10_000):
        assert rows(process, f"SELECT * FROM range({n})") == [(i,) for i in range(n)]


def test_what_duckdb_says_leaves_the_process_usable(process: Process) -> None:
    with pytest.raises(Failed, match="nothing"):
        rows(process, "SELECT nothing")
    assert rows(process, "SELECT 42") == [(42,)]


@pytest.mark.parametrize(
    ("sql", "ended"),
    [
        ("SELECT length(repeat('x', 4000000000))", Full),
        ("SELECT list(range) FROM range(100000000)", Full),
        ("SELECT repeat('x', 1000000) FROM range(100)", Full),  # what Python would hold
        ("SELECT levenshtein(repeat('x', 900000), repeat('y', 900000))", Late),
        ("SELECT * FROM range(101)", Many),
    ],
)
def test_what_is_too_much_ends_it(process: Process, sql: str, ended: type[Exception]) -> None:
    with pytest.raises(ended):
        process.run(sql, 2.0, 64 * MEGABYTE, 100)
    assert not process.usable


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what another process computed")
def test_seconds_are_those_in_which_it_computes(process: Process) -> None:
    """A machine that is busy makes no question late; one that stands still does in the end."""
    os.kill(process._pid, signal.SIGSTOP)
    continuing = threading.Timer(1.5, os.kill, (process._pid, signal.SIGCONT))
    continuing.start()
    assert process.run("SELECT 42", 0.5, 64 * MEGABYTE, None) == [(42,)]
    assert process.took < 0.5
    assert process.waited > 1
    continuing.join()
    with pytest.raises(Late):  # all replies of a run have one patience
        stopped_now_and_then(process, patience=1.0)


def stopped_now_and_then(process: Process, patience: float) -> None:
    """Run a statement of many replies, each soon there, while the process stands still most of the time."""
    done = threading.Event()

    def stop() -> None:
        while not done.wait(0.01):
            with suppress(ProcessLookupError):  # it was late, and has ended
                os.kill(process._pid, signal.SIGSTOP)
                done.wait(0.2)
                os.kill(process._pid, signal.SIGCONT)

    stopping = threading.Thread(target=stop)
    stopping.start()
    try:
        process.run("FROM range(10_000_000)", PATIENCE, 4096 * MEGABYTE, None, patience=patience)
    finally:
        done.set()
        stopping.join()


STILL: list[Callable[[Process], object]] = [
    lambda process: process.load("INSERT INTO t VALUES (1)"),
    lambda process: (process.load("INSERT INTO t VALUES (1)", wait=False), rows(process, "FROM t")),
    lambda process: process.load("INSERT INTO t VALUES (?)", [["x" * MEGABYTE]], wait=False),
    lambda process: process.wake(f"SELECT '{'x' * MEGABYTE}'", [], PATIENCE, PATIENCE),
    lambda process: process.run(f"SELECT '{'x' * MEGABYTE}'", PATIENCE, 64 * MEGABYTE, None),
]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what another process computed")
@pytest.mark.parametrize("ask", STILL, ids=["waited for", "owed", "beyond the pipe", "woken", "run"])
def test_one_that_stands_still_is_not_waited_for_without_end(
    process: Process, ask: Callable[[Process], object]
) -> None:
    """It is given tables without a limit of time, but not without a limit of standing still."""
    process.load("CREATE TABLE t (i INTEGER)")
    process.patience = 0.5
    os.kill(process._pid, signal.SIGSTOP)
    hanging = threading.Timer(20, process.kill)  # who waits is told that it was killed: not late
    hanging.start()
    began = time.monotonic()
    with pytest.raises(Late):
        ask(process)
    hanging.cancel()
    assert 0.5 <= time.monotonic() - began < 10
    assert not process.usable


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what another process computed")
def test_one_that_computes_does_not_stand_still(process: Process) -> None:
    process.patience = PATIENCE
    began, computed = time.monotonic(), _computed(process._pid)
    process.load("CREATE TABLE t AS SELECT sum(sqrt(range)) FROM range(100_000_000)")
    now = _computed(process._pid)
    assert now is not None
    assert computed is not None
    assert now - computed > 0.1
    still = time.monotonic() - began - (now - computed)
    assert abs(PATIENCE - process.patience - still) < 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what another process computed")
def test_a_query_that_stands_still_ends_without_a_timeout(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text() + "\n[limits]\nseconds = 0.2\n")
    with dpsql.connect(clinic) as db:
        db.execute(COMPUTED)
        process = db._open().sealed._process
        assert process is not None
        os.kill(process._pid, signal.SIGSTOP)
        hanging = threading.Timer(20, process.kill)
        hanging.start()
        with pytest.raises(dpsql.Error) as caught:
            db.execute(COMPUTED.replace("upper", "lower"))
        hanging.cancel()
        assert caught.value.code == "D604"
        assert "takes longer than 0.2 seconds" in str(caught.value)
        assert db.execute(COMPUTED.replace("upper", "lower")).rows


def test_what_is_loaded_does_not_count(process: Process) -> None:
    """Tables of the owner's and released ones are let in; what is made of them has all of the limit."""
    process.load("CREATE TABLE t AS SELECT repeat('x', 200) || range AS s FROM range(600_000)")
    process.load("INSERT INTO t SELECT unnest(TRY_CAST(? AS VARCHAR[]))", [["a" * 1000] * 20_000])
    assert rows(process, "SELECT COUNT(*), MAX(length(s)) FROM t") == [(620_000, 1000)]
    with pytest.raises(Full):
        rows(process, "SELECT list(s || s) FROM t")


def test_it_is_sealed(process: Process, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n")
    process.close()
    process.open(list(SETTINGS), 64 * MEGABYTE)
    for sql in (
        f"SELECT * FROM read_csv('{tmp_path}/a.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/b.csv'",
        f"ATTACH '{tmp_path}/c.duckdb'",
        "SET enable_external_access = true",
        "INSTALL json",
    ):
        with pytest.raises(Failed):
            rows(process, sql)
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_who_has_it_next_finds_nothing_of_the_one_before(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.post.sealed_process._IDLE", [])
    process.load("CREATE TABLE secret AS SELECT 1 AS a")
    left(process)
    again = taken()
    assert again is process
    again.open([], 64 * MEGABYTE)
    assert rows(again, "SELECT COUNT(*) FROM duckdb_tables()") == [(0,)]


def test_one_that_has_ended_meanwhile_is_not_handed_on(clinic: Path) -> None:
    for _ in range(2):
        with dpsql.connect(clinic) as db:
            assert db.execute("SELECT COUNT(*) AS n FROM wards").rows
            used = db._open().sealed._process
        assert used is not None
        os.kill(used._pid, signal.SIGKILL)


def test_public_tables_are_loaded_again_after_it_ended(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        before = db.execute("SELECT * FROM wards ORDER BY ALL").rows
        with pytest.raises(dpsql.OperationalError, match="D604"):
            db.execute("SELECT repeat('x', 4000000000) FROM wards")
        assert db.execute("SELECT * FROM wards ORDER BY ALL").rows == before


@pytest.mark.parametrize("cut", ["_read", "_send"])
def test_one_that_was_interrupted_twice_is_asked_nothing_more(
    process: Process, monkeypatch: pytest.MonkeyPatch, cut: str
) -> None:
    """The second Ctrl-C comes before it is killed: a late reply would answer another request."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    process.load("CREATE TABLE t (i INTEGER)", wait=False)
    with monkeypatch.context() as patch:
        patch.setattr(process, cut, interrupted)
        patch.setattr(process, "kill", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rows(process, "SELECT 42")
    assert not process.usable
    process.end()


def test_a_statement_that_nobody_waits_for_fails_the_next_one(process: Process) -> None:
    """And no other: replies are read in order."""
    process.load("CREATE TABLE t (i INTEGER)", wait=False)
    process.load("INSERT INTO nothing VALUES (1)", wait=False)
    with pytest.raises(Failed, match="nothing"):
        rows(process, "SELECT 42")
    for n in range(100):
        process.load(f"INSERT INTO t VALUES ({n})", wait=False)
    assert rows(process, "SELECT count(*), max(i) FROM t") == [(100, 99)]


def test_no_call_fails_for_what_is_known_of_a_column(process: Process) -> None:
    """DuckDB 2.0 cannot plan SPLIT_PART of a column of NULLs alone where it reads what is known of it."""
    failing = "SELECT count(*) FROM t WHERE split_part(x, 'a', 1) = 'x'"
    nothing = "CREATE TABLE t AS SELECT CAST(NULL AS VARCHAR) AS x FROM range(10)"
    process.load(nothing)
    with pytest.raises(Failed):
        rows(process, failing)
    process.close()
    process.open([*SETTINGS], 64 * MEGABYTE)
    process.load(nothing)
    assert rows(process, failing) == [(0,)]


def test_what_it_is_woken_with_is_heard_of_by_nobody(process: Process) -> None:
    for sql in ("SELECT nothing", "SELECT 1; SELECT 2", "SELECT error('no')", "DROP TABLE t", "SELECT 3"):
        process.wake(sql, [], PATIENCE, PATIENCE)
        assert rows(process, "SELECT 42") == [(42,)]


def test_nobody_waits_for_a_process_that_is_not_woken(process: Process) -> None:
    """It stands still, or takes long: it has the statement's own limits."""
    os.kill(process._pid, signal.SIGSTOP)
    process.wake("SELECT 42", [], 0.1, 0.3)
    with pytest.raises(Late):
        rows(process, "SELECT 42")
    assert not process.usable


def test_it_is_woken_by_one_statement_at_a_time(process: Process) -> None:
    process.load("CREATE TABLE t (x INTEGER)", wait=False)
    process.wake("SELECT nothing", [], 0.0, 0.0)
    process.load("INSERT INTO t VALUES (42)", wait=False)
    assert rows(process, "FROM t") == [(42,)]


COMPUTED = "SELECT upper(ward) AS w, AVG(age) AS age FROM patients GROUP BY ward"
PICKED = "SELECT ward, AVG(age) AS age FROM patients GROUP BY ward"


def test_it_is_woken_for_what_it_will_run(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And for nothing else; if it has ended, or another thread's statement runs, nobody waits or fails."""
    woken, wake = list[str](), Process.wake

    def seen(process: Process, sql: str, *others: Any) -> None:
        woken.append(sql)
        wake(process, sql, *others)

    monkeypatch.setattr(Process, "wake", seen)
    with dpsql.connect(clinic) as db:
        assert db.execute(PICKED, epsilon=0.1).rows
        assert not woken
        assert db.execute(COMPUTED, epsilon=0.15).rows
        assert len(woken) == 1
        sealed = db._open().sealed
        assert sealed._process is not None
        with monkeypatch.context() as patch:
            patch.setattr(Process, "wake", ended)
            assert db.execute(COMPUTED, epsilon=0.2).rows
        plan = plan_of(db._open(), COMPUTED, 0.3)
        of = plan.stages[-1].post, [measure.measure for measure in plan.measures]
        with sealed._lock:
            other = threading.Thread(target=sealed.wake, args=of)
            other.start()
            other.join(PATIENCE)
            assert not other.is_alive()
        assert len(woken) == 1
        sealed.wake(*of)
        assert len(woken) == 2


def ended(process: Process, *given: object) -> None:
    process.kill()
    process.end()
    raise Full


def test_a_fork_does_not_end_it(process: Process) -> None:
    child = os.fork()
    if not child:
        process.end()
        os._exit(0)
    os.waitpid(child, 0)
    assert rows(process, "SELECT 42") == [(42,)]


ORPHANED = """
import sys
from dpsql.post.sealed_process import Process

process = Process()
process.open([], 2**30)
print(process._pid, flush=True)
process.run(sys.argv[1], 3600.0, 2**30, None)
"""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT levenshtein(repeat('x', 3000000), repeat('y', 3000000))",
        "SELECT levenshtein(repeat('x', range), repeat('y', range)) FROM range(3000000, 3000003)",
        "DESCRIBE SELECT levenshtein(repeat('x', 3000000), repeat('y', 3000000))",
    ],
)
def test_it_ends_with_its_parent(sql: str) -> None:
    """Whatever it computes: nobody is left to whom it could be told."""
    with subprocess.Popen([sys.executable, "-c", ORPHANED, sql], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.3)  # it has begun by now, most often; it ends before it begins as well
        parent.kill()
    deadline = time.monotonic() + PATIENCE
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    """Whether it is there and no zombie, which is its new parent's to clear away."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return not re.search(r"^State:\s+[ZX]", status, re.M)


def test_the_owner_says_how_many_rows_an_answer_has(clinic: Path) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text("[limits]\nrows = 5\n" + policy.read_text())
    with dpsql.connect(clinic) as db:
        assert len(db.execute("SELECT * FROM range(5)").rows) == 5
        with pytest.raises(dpsql.OperationalError, match="more than 5 rows") as caught:
            db.execute("SELECT * FROM range(6)")
    assert caught.value.code == "D604"


GROUPS = "SELECT ward, age, COUNT(*) AS n FROM patients GROUP BY ward, age"


@pytest.mark.parametrize(
    "sql",
    [
        GROUPS,
        f"SELECT ward, age, n + 1 FROM ({GROUPS})",
        f"SELECT ward, i FROM ({GROUPS}), range(3) AS r(i)",
        f"SELECT ward, repeat('x', 200000) AS long, n FROM ({GROUPS})",
    ],
)
def test_what_is_too_large_for_all_numbers_is_refused_before_it_is_paid(clinic: Path, sql: str) -> None:
    """671 listed groups, more than the hundred that are tried; one text of 200 kB each is 134 MB."""
    policy = clinic.with_suffix(".toml")
    policy.write_text("[limits]\nrows = 300\nmemory = '64MB'\n" + policy.read_text())
    with dpsql.connect(clinic) as db:
        with pytest.raises(dpsql.OperationalError, match=r"takes more than (300 rows|64MB)") as caught:
            db.execute(sql)
        assert caught.value.code == "D604"
        assert "what was debited" not in str(caught.value)
        assert not db.purchases
        assert len(db.execute(f"SELECT * FROM ({sql}) LIMIT 3").rows) == 3


def test_the_owner_says_how_long_planning_takes(clinic: Path) -> None:
    """Without any time limit of the session's."""
    policy = clinic.with_suffix(".toml")
    policy.write_text("[limits]\nseconds = 0.5\n" + policy.read_text())
    endless = "SELECT levenshtein(repeat('x', 3000000), repeat('y', 3000000))"
    with dpsql.connect(clinic) as db:
        for call in (db.explain, db.price, db.execute):
            with pytest.raises(dpsql.OperationalError, match="longer than") as caught:
                call(f"SELECT COUNT(*) FROM patients WHERE age > ({endless})")
            assert caught.value.code == "D604"
        assert not db.purchases


KINDS = """
SELECT i AS number,
    CASE WHEN i < 21000 THEN NULL ELSE 'text ' || i END AS late,
    CASE WHEN i % 3 = 0 THEN NULL ELSE i END AS gaps,
    i % 2 = 0 AS even, CASE WHEN i % 5 > 0 THEN i % 2 = 0 END AS perhaps,
    CAST(['nan', '-inf', '1e-320', '0.1'][1 + i % 4] AS DOUBLE) AS wide,
    CAST(i / 7 AS FLOAT) AS narrow,
    CAST(i AS DECIMAL(18, 3)) / 8 AS quotient, CAST(i AS DECIMAL(30, 12)) AS exact,
    CAST(170141183460469231731687303715884105727 - i AS HUGEINT) AS huge,
    CAST(18446744073709551615 - i AS UBIGINT) AS large,
    DATE '5000000-01-01' + CAST(i AS INTEGER) AS day,
    TIMESTAMP '1677-01-01 00:00:00.000001' + INTERVAL (i) HOUR AS moment,
    TIMESTAMPTZ '2024-03-31 00:00:00+00' + INTERVAL (i) MINUTE AS aware, TIME '23:59:59.999999' AS clock,
    INTERVAL (i) DAY AS length,
    CAST('00000000-0000-0000-0000-' || lpad('' || i, 12, '0') AS UUID) AS place
FROM range(25000) AS t(i)
"""


POLICY = """\
[budget]
epsilon = 1.0
delta = 1e-6
[query]
epsilon = 1.0
[limits]
rows = 100000
memory = "64 MB"
[unit]
name = "person"
table = "people"
key = "id"
[tables.people]
[tables.large]
public = true
"""


def test_a_large_public_table_is_what_the_file_holds(tmp_path: Path) -> None:
    """Values of every type, NULLs that come first, and floats that are no number arrive as they are."""
    path = tmp_path / "large.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE large AS {KINDS}")
        made.execute("CREATE TABLE people (id INTEGER PRIMARY KEY)")
        columns = [str(name) for name, *_ in made.execute("DESCRIBE large").fetchall()]
        texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in columns)
        expected = made.execute(f"SELECT {texts} FROM large ORDER BY number").fetchall()
    policy = tmp_path / "large.toml"
    policy.write_text(POLICY)
    with dpsql.connect(path, policy, tmp_path / "large.ledger") as db:
        assert db.execute(f"SELECT {texts} FROM large ORDER BY number").rows == expected
        assert db.budget.spent == 0


def test_a_large_public_table_is_copied_once(tmp_path: Path) -> None:
    """What the copy took on its way does not make the process look worn."""
    path = tmp_path / "large.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(
            "CREATE TABLE large AS SELECT i, repeat('word', 20) || i AS word FROM range(300000) t(i)"
        )
        made.execute("CREATE TABLE people (id INTEGER PRIMARY KEY)")
    policy = tmp_path / "large.toml"
    policy.write_text(POLICY)
    with dpsql.connect(path, policy, tmp_path / "large.ledger") as db:
        pids = set()
        for wanted in ("max(word)", "min(i)", "count(*)", "max(i)"):
            db.execute(f"SELECT {wanted} FROM large WHERE length(word) > 5")
            sealed = db._open().sealed
            assert sealed._process is not None
            assert sealed._process.usable
            pids.add(sealed._process._pid)
        assert len(pids) == 1, "the table was copied again"


def test_columns_that_are_asked_for_one_by_one_make_no_room_for_texts(tmp_path: Path) -> None:
    """A table is copied twice at most, so that the copies add little to what a statement may take."""
    path = tmp_path / "large.duckdb"
    columns = ", ".join(f"repeat('{at % 10}', 100) || i AS c{at}" for at in range(12))
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE large AS SELECT {columns} FROM range(25000) t(i)")
        made.execute("CREATE TABLE people (id INTEGER PRIMARY KEY)")
    policy = tmp_path / "large.toml"
    policy.write_text(POLICY)
    with dpsql.connect(path, policy, tmp_path / "large.ledger") as db:
        for at in range(12):
            db.execute(f"SELECT max(c{at}) FROM large")
        with pytest.raises(dpsql.OperationalError, match="D604"):
            db.execute("SELECT length(repeat('x', 200000000)) FROM large LIMIT 1")


# ---- many rows -----------------------------------------------------------------------------------------


COLUMNS: dict[str, list[object]] = {
    "BIGINT": [2**63 - 1, -(2**63), 0, 7],
    "HUGEINT": [2**127 - 1, -5, 0, 7],
    "UHUGEINT": [
        "340282366920938463463374607431768211455",
        "0",
        "5",
        "170141183460469231731687303715884105728",
    ],
    "BOOLEAN": [True, False, True, False],
    "DOUBLE": [-0.0, 1e308, float("inf"), 5e-324],
    "FLOAT": [0.10000000149011612, float("nan"), float("-inf"), 1.0],
    "VARCHAR": ["", "nan", "NULL", 'it\'s "so"'],
    "DATE": ["2024-02-29", "infinity", "0044-03-15 (BC)", "290000-01-01"],
    "DECIMAL(9,2)": [Decimal("1.10"), Decimal("-9999999.99"), 3, Decimal(0)],
}


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_as_arrays_are_those_as_lists(kind: str, null: bool, process: Process) -> None:
    values = COLUMNS[kind] * 300 + ([None] * 900 if null else [])
    for name in ("few", "many"):
        process.load(f"CREATE TABLE {name} (x {kind})")
    spelled = [str(value) if isinstance(value, Decimal) else value for value in values]
    process.load(f"INSERT INTO few SELECT unnest(TRY_CAST(? AS {kind}[]))", [spelled])
    process.load_arrays("main.many", [_cast(values, kind)], [array_of(values)])
    shown = [rows(process, f"SELECT typeof(x), CAST(x AS VARCHAR) FROM {name}") for name in ("few", "many")]
    assert shown[0] == shown[1]
    assert len(shown[0]) == len(values)


@pytest.mark.parametrize("many", [2, 600])
def test_public_tables_arrive_as_they_are(many: int, tmp_path: Path) -> None:
    """Whatever they are called, and numbers of 128 bits too."""
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, i % 3 AS g FROM range(300) AS t(i)")
        largest = "340282366920938463463374607431768211455"
        number = f"CASE WHEN i > 0 THEN '{largest}' ELSE '0' END::UHUGEINT AS v"
        connection.execute(f"CREATE TABLE sent AS SELECT i % 3 AS g, {number} FROM range({many}) AS t(i)")
    path.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 10\ndelta = 1e-6\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people.columns]\ng = { range = [0, 2] }\n[tables.sent]\npublic = true\n"
    )
    with dpsql.connect(path) as db:
        asked = "SELECT count(*), count(v), CAST(max(v) AS VARCHAR) FROM sent"
        assert db.execute(asked).rows == [(many, many, largest)]
        counted = "SELECT g, COUNT(*) AS n FROM people GROUP BY g"
        joined = db.execute(f"SELECT n FROM ({counted}) AS c JOIN sent USING (g)").rows
        assert len(joined) == many


PUBLIC: dict[str, list[str | None]] = {
    "TINYINT": ["-128", "127", "0"],
    "UBIGINT": ["18446744073709551615", "0", "5"],
    "BIGINT": ["9223372036854775807", "-9223372036854775808", "0"],
    "HUGEINT": ["170141183460469231731687303715884105727", "-5", "0"],
    "DECIMAL(4,2)": ["-99.99", "0.01", "0"],
    "DECIMAL(15,4)": ["-99999999999.9999", "0.0001", "0"],
    "DECIMAL(18,0)": ["999999999999999999", "-1", "0"],
    "DECIMAL(18,18)": ["-0.999999999999999999", "0.000000000000000001", "0"],
    "DECIMAL(19,1)": ["999999999999999999.9", "-0.1", "0"],
    "DECIMAL(38,10)": ["1234567890123456789012345678.0123456789", "-0.0000000001", "0"],
    "FLOAT": ["0.1", "-0.0", "3.4028235e38"],
    "DOUBLE": ["0.1", "5e-324", "-1.7976931348623157e308"],
    "BOOLEAN": ["true", "false", "true"],
    "VARCHAR": ["", "nan", "it's \U0001f600"],
    "ENUM('b','a')": ["b", "a", "b"],
    "ENUM('b','a')[]": ["[b, a]", "[]", None],
    "DATE": ["infinity", "0044-03-15 (BC)", "290000-01-01"],
    "TIMESTAMP": ["294246-01-01 00:00:00.000001", "1969-12-31 23:59:59.999999", "infinity"],
    "TIMESTAMP WITH TIME ZONE": [
        "2024-01-01 12:00:00+02",
        "0001-01-01 00:00:00+00",
        "2024-01-01 12:00:00+00",
    ],
    "TIME": ["23:59:59.999999", "00:00:00", "24:00:00"],
    "UUID": ["ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000", None],
    "INTERVAL": ["1 month 2 days 00:00:03", "-1 year", "0 days"],
    "INTEGER[]": ["[1, NULL, 3]", "[]", "[7]"],
}


@pytest.mark.parametrize("extra", [[], [None], ["nan"]])
@pytest.mark.parametrize("times", [1, 300])
def test_public_values_of_all_types_arrive(times: int, extra: list[str | None], tmp_path: Path) -> None:
    """Row by row and as arrays, with and without NULL or NaN among them."""
    path, listed = tmp_path / "data.duckdb", []
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE TABLE people AS SELECT i AS id FROM range(300) AS t(i)")
        columns = ", ".join(f"c{at} {kind}" for at, kind in enumerate(PUBLIC))
        connection.execute(f"CREATE TABLE all_types (n INTEGER, {columns})")
        for kind, values in PUBLIC.items():
            more = [None if kind not in ("FLOAT", "DOUBLE") else each for each in extra]
            listed.append([*values, *(more or values[:1])] * times)
        rows = [(place, *row) for place, row in enumerate(zip(*listed, strict=True))]
        connection.executemany(f"INSERT INTO all_types VALUES (?{', ?' * len(PUBLIC)})", rows)
        texts = ", ".join(f"typeof(c{at}), CAST(c{at} AS VARCHAR)" for at in range(len(PUBLIC)))
        asked = f"SELECT {texts} FROM all_types ORDER BY n"
        expected = connection.execute(asked).fetchall()
    path.with_suffix(".toml").write_text(
        'timezone = "UTC"\n[budget]\nepsilon = 10\ndelta = 1e-6\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people]\n[tables.all_types]\npublic = true\n"
    )
    with dpsql.connect(path) as db:
        found = db.execute(asked).rows
        at = [*PUBLIC].index("ENUM('b','a')")
        ends = db.execute(f"SELECT MIN(c{at}), MAX(c{at}), MIN(c{at}) > 'a' FROM all_types").rows
    assert found == [tuple(map(_without_members, row)) for row in expected]
    assert ends == [("b", "a", True)]


def _without_members(value: str | None) -> str | None:
    """Return a text as it is, but for a type with the members of an ENUM."""
    return None if value is None else value.replace("ENUM('b', 'a')", "ENUM")

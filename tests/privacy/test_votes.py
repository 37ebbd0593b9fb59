"""Votes: one unit moves one vote of each row, nothing else gets out, and labels follow their law."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import learners
import numpy as np
import pytest

import dpsql
from dpsql.accounting.choices import choice_rho
from dpsql.accounting.units import UNIT
from dpsql.engines.spill import own_folder
from dpsql.ir.source import Source
from dpsql.ir.votes import Ballot, ExactVotes, Examples, VotePlan
from dpsql.release.votes import drawn_labels
from dpsql.teachers.learner import learner_of
from dpsql.teachers.processes import Teachers
from dpsql.teachers.shares import key_of_teachers, shares, teacher_of
from dpsql.teachers.vote import counted, planned_vote

POLICY = """
[budget]
epsilon = 20.0
delta = 1e-6
accountant = "{accountant}"
[query]
epsilon = 0.5
max_epsilon = 6.0
[analysts.ana]
epsilon = 5.0
[unit]
name = "patient"
table = "patients"
key = "patient_id"
[tables.patients.columns]
ward = {{ values = ["A", "B", "C"] }}
age = {{ range = [0, 99] }}
smoker = {{}}
weight = {{ range = [0, 200] }}
seen = {{}}
[tables.visits]
unit = {{ column = "patient_id" }}
rows_per_unit = 5
[tables.visits.columns]
patient_id = {{}}
ward = {{ values = ["A", "B", "C"] }}
cost = {{ range = [0, 500] }}
"""
DATA = """
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, ward VARCHAR, age INTEGER, smoker BOOLEAN NOT NULL,
    weight DOUBLE, seen DATE);
INSERT INTO patients SELECT i, ['A', 'B', 'C', 'X', NULL][1 + i % 5], i % 7, i % 3 = 0, i,
    CASE WHEN i = 3 THEN DATE 'infinity' END FROM range(40) t(i);
CREATE TABLE visits AS SELECT i % 40 AS patient_id, ['A', 'B', 'C'][1 + i % 3] AS ward, i AS cost
    FROM range(90) t(i);
INSERT INTO visits VALUES (NULL, 'A', 1);
"""
SQL = "SELECT ward, CASE WHEN age % 2 = 0 THEN 'x' ELSE 'y' END AS kind, age FROM patients"
VISITS = (
    "SELECT v.ward, p.ward AS home, CAST(cost AS INTEGER) AS cost FROM visits v "
    "JOIN patients p USING (patient_id)"
)
ROWS = [("x", 10), ("y", 11), ("A", 12)]
SALT = "salt"


def _connection(folder: Path, accountant: str = "zcdp") -> dpsql.Connection:
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute(DATA)
    text = POLICY.format(accountant=accountant)
    (folder / "d.toml").write_text(text.replace("delta = 1e-6\n", "") if accountant == "pure" else text)
    return dpsql.connect(folder / "d.duckdb")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    with _connection(tmp_path) as connection:
        yield connection


def _plan(
    db: dpsql.Connection,
    learner: Callable[..., Any],
    sql: str = SQL,
    rows: Any = ROWS,
    teachers: int = 6,
    seconds: int = 5,
) -> VotePlan:
    ballot = Ballot(learner_of(learner), tuple(rows), teachers, 0.5, seconds, 512)
    return planned_vote(db._open(), Source(sql), (), ballot)


def _votes(db: dpsql.Connection, plan: VotePlan, examples: Examples | None = None) -> list[list[int]]:
    """Return the counts of votes, as nobody gets them."""
    with Teachers(plan.ballot, plan.labels) as teachers:
        found = counted(examples or db._open().engine.examples(plan), plan, teachers, SALT)
    return found.counts.tolist()


# ---- the law -------------------------------------------------------------------------------------------


def _chances(counts: tuple[int, ...], epsilon: float) -> list[float]:
    weights = [math.exp(epsilon / 2 * count) for count in counts]
    return [weight / sum(weights) for weight in weights]


def test_a_vote_moved_multiplies_chances_by_little() -> None:
    """All counts of 5 teachers for 3 labels and all moves of one vote: the logarithms range over epsilon."""
    for counts in itertools.product(range(6), repeat=3):
        if sum(counts) != 5:
            continue
        for a, b in itertools.permutations(range(3), 2):
            if counts[a]:
                moved = [count - (at == a) + (at == b) for at, count in enumerate(counts)]
                pairs = zip(_chances(counts, 0.7), _chances(tuple(moved), 0.7), strict=True)
                losses = [math.log(one / other) for one, other in pairs]
                assert max(losses) - min(losses) <= 0.7 + 1e-12


def test_labels_follow_their_law(db: dpsql.Connection) -> None:
    """20,000 rows with votes 3, 2, 1; each share within 5.5 deviations: a false alarm in 10^7, fixed seed."""
    plan = _plan(db, learners.first)
    counts = np.tile(np.array([3, 2, 1]), (20_000, 1))
    drawn = np.bincount(drawn_labels(ExactVotes(counts), plan, random.Random(5).randbytes), minlength=3)
    for seen, chance in zip(drawn, _chances((3, 2, 1), 0.5), strict=True):
        assert abs(seen - 20_000 * chance) < 5.5 * math.sqrt(20_000 * chance * (1 - chance))


def test_exact_votes_are_not_shown(db: dpsql.Connection) -> None:
    for hidden in (ExactVotes(np.zeros((1, 2), np.int64)), Examples([(("p",), (0, "secret"))])):
        assert "secret" not in repr(hidden)
        with pytest.raises(TypeError, match="never stored"):
            pickle.dumps(hidden)


# ---- one unit, one vote --------------------------------------------------------------------------------


def _moved(before: list[list[int]], after: list[list[int]]) -> int:
    """Return the most votes that moved in a row; a vote that comes or goes counts too."""
    differences = [np.array(b) - np.array(a) for a, b in zip(before, after, strict=True)]
    return max(max(int(d.clip(0).sum()), int((-d).clip(0).sum())) for d in differences)


def _most_moved(db: dpsql.Connection, plan: VotePlan, units: range) -> int:
    """Return the most votes that moved when one unit of these left, rows in another order."""
    whole = db._open().engine.examples(plan)
    votes, most = _votes(db, plan, whole), 0
    shuffled = random.Random(3)
    for unit in units:
        rest = [row for row in whole.rows if row[0] != (str(unit),)]
        assert len(rest) < len(whole.rows) or unit % 5 > 2
        most = max(most, _moved(votes, _votes(db, plan, Examples(shuffled.sample(rest, len(rest))))))
    return most


@pytest.mark.parametrize("learner", [learners.majority, learners.first, learners.total])
@pytest.mark.parametrize("sql", [SQL, VISITS])
def test_one_unit_moves_one_vote(db: dpsql.Connection, learner: Callable[..., Any], sql: str) -> None:
    moved = _most_moved(db, _plan(db, learner, sql), range(0, 40, 5))
    assert moved == 1 if learner is learners.total else moved <= 1


def _in_two(examples: Examples, teachers: int, key: bytes) -> Any:
    found = shares(examples, teachers, key)
    return [rows + found[(at + 1) % teachers] for at, rows in enumerate(found)]


def _of_rows(examples: Examples, teachers: int, key: bytes) -> Any:
    """Rows are dealt out in their order."""
    return [[example for _, example in examples.rows[at::teachers]] for at in range(teachers)]


def _seeing(self: Teachers, rows: Any) -> list[int]:
    seen: list[Any] = self.__dict__.setdefault("seen", [])
    seen += rows
    return _ANSWERS(self, seen)


_ANSWERS = Teachers.answers
PLANTED: dict[str, tuple[str, Any]] = {
    "a unit in two teachers": ("dpsql.teachers.vote.shares", _in_two),
    "units fall into teachers by the rows of others": ("dpsql.teachers.vote.shares", _of_rows),
    "a teacher that sees another's rows": ("dpsql.teachers.processes.Teachers.answers", _seeing),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_move_more(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(*PLANTED[name])
    assert _most_moved(db, _plan(db, learners.total), range(0, 40, 5)) > 1


def test_a_vote_counted_twice_moves_more(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(examples: Examples, teachers: int, key: bytes) -> Any:
        return [rows for rows in shares(examples, teachers, key) for _ in range(2)]

    monkeypatch.setattr("dpsql.teachers.vote.shares", twice)
    assert _most_moved(db, _plan(db, learners.total), range(0, 40, 5)) > 1


def test_every_teacher_votes_once(db: dpsql.Connection) -> None:
    assert [sum(row) for row in _votes(db, _plan(db, learners.majority, teachers=9))] == [9, 9, 9]


def test_units_fall_into_teachers_by_a_secret_hash(db: dpsql.Connection) -> None:
    """400 units among 4 teachers: each share within 6 deviations; another ledger's are others."""
    key, other = key_of_teachers("one"), key_of_teachers("two")
    found = [teacher_of((str(unit),), 4, key) for unit in range(400)]
    assert all(abs(found.count(teacher) - 100) < 6 * math.sqrt(75) for teacher in range(4))
    assert found == [teacher_of((str(unit),), 4, key) for unit in range(400)]
    assert found != [teacher_of((str(unit),), 4, other) for unit in range(400)]


def test_rows_of_nobody_and_without_a_label_are_no_examples(db: dpsql.Connection) -> None:
    """Wards X and NULL are not listed, and the visit of nobody has no unit; of 40 patients 24 have a ward."""
    examples = db._open().engine.examples(_plan(db, learners.first))
    assert len(examples.rows) == 24
    assert {example[0] for _, example in examples.rows} == {0, 1, 2}
    visits = db._open().engine.examples(_plan(db, learners.first, "SELECT ward, cost, 1 AS one FROM visits"))
    assert len(visits.rows) == 90
    plan = _plan(db, learners.first, "SELECT ward, 'x' AS kind, seen FROM patients")
    assert {example[2] for _, example in db._open().engine.examples(plan).rows} == {None}  # no infinity


# ---- what goes wrong in a teacher ----------------------------------------------------------------------


@pytest.mark.parametrize("how", [*range(10), 11, 12])
def test_whatever_goes_wrong_is_the_first_label(
    db: dpsql.Connection, how: int, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = _plan(db, learners.odd, rows=[("x", how), ("x", 10)], teachers=2, seconds=1)
    assert _votes(db, plan) == [[2, 0, 0], [2, 0, 0]]
    assert capfd.readouterr() == ("", "")


def test_memory_is_limited_beside_what_the_file_took(db: dpsql.Connection) -> None:
    """700 MB are too much beside 512, and not beside 1,024: what the file took is not counted."""
    large = _plan(db, learners.large, rows=[("x", 10)], teachers=1)
    assert _votes(db, large) == [[1, 0, 0]]
    assert _votes(db, replace(large, ballot=replace(large.ballot, megabytes=1_024))) == [[0, 0, 1]]


def test_a_teacher_that_ruins_the_learner_fails_no_vote(db: dpsql.Connection, tmp_path: Path) -> None:
    """It stops the process it was forked from, and nothing can be loaded any more: all is the first label."""
    copy = tmp_path / "a_learner_to_ruin.py"
    shutil.copy(learners.__file__, copy)
    sys.path.insert(0, str(tmp_path))
    try:
        import a_learner_to_ruin  # type: ignore[import-not-found]  # made above

        answer = dpsql.vote(db, SQL, a_learner_to_ruin.ruining, ROWS, teachers=3, epsilon=1.0)
    finally:
        sys.path.remove(str(tmp_path))
    assert not copy.exists()
    assert len(answer.rows) == len(ROWS)
    assert answer.cost > 0


def test_an_empty_teacher_gives_the_first_label(db: dpsql.Connection) -> None:
    plan = _plan(db, learners.odd, SQL + " WHERE age > 98", rows=[("x", 10)], teachers=3)
    assert _votes(db, plan) == [[3, 0, 0]]
    plan = _plan(db, learners.odd, rows=[("x", 10)], teachers=3)
    assert _votes(db, plan) == [[0, 0, 3]]


def test_who_waits_is_stopped_with_all_its_processes(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.teachers.processes.PROGRAM", _program(db, "WAITING = 10", "WAITING = 0"))
    assert _votes(db, _plan(db, learners.waiting, teachers=2)) == [[2, 0, 0]] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_who_is_interrupted_leaves_no_process_and_no_row(
    db: dpsql.Connection,
) -> None:
    folder = Path(own_folder())
    plan = _plan(db, learners.waiting)
    rows = [example for _, example in db._open().engine.examples(plan).rows]
    with Teachers(plan.ballot, plan.labels) as teachers:
        thread = threading.Thread(
            target=lambda: suppressed(teachers._answered, rows, 2 * len(ROWS)), daemon=True
        )
        thread.start()
        found = _learning(folder)
        assert len(found) == 2, "a teacher and its child"
    thread.join()
    assert list(folder.glob("teachers-*")) == []
    until = time.monotonic() + 120
    while _learning(folder, 0) and time.monotonic() < until:
        time.sleep(0.05)
    assert _learning(folder, 0) == []


KEPT = """
import sys
sys.path.insert(0, {tests!r})
import dpsql, learners
with dpsql.connect(sys.argv[1]) as db:
    dpsql.vote(db, {sql!r}, learners.keeping, {rows!r}, teachers=3, epsilon=0.5)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_rows_of_a_teacher_do_not_outlive_a_kill_of_all(tmp_path: Path) -> None:
    """As where a container is stopped. The next command that opens anything removes them."""
    _connection(tmp_path).close()
    folder, program, data = tmp_path / "temporary", tmp_path / "program.py", str(tmp_path / "d.duckdb")
    folder.mkdir()
    program.write_text(KEPT.format(tests=str(Path(__file__).parent), sql=SQL, rows=ROWS))
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen([sys.executable, str(program), data], env=environment) as voting:
        [teacher] = _learning(folder, 1)
        until = time.monotonic() + 60
        while not list(folder.rglob("kept")) and time.monotonic() < until:
            time.sleep(0.02)
        nursery = Path(f"/proc/{teacher}/stat").read_text().rpartition(")")[2].split()[1]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for each in (voting.pid, int(nursery), int(teacher)):
                with contextlib.suppress(ProcessLookupError):  # it ends with who forked it
                    os.kill(each, number)
    assert list(folder.rglob("kept"))
    after = [sys.executable, "-m", "dpsql.cli", "budget", data]
    subprocess.run(after, capture_output=True, env=environment, check=True)
    assert list(folder.iterdir()) == []


def suppressed(call: Callable[..., object], *arguments: object) -> None:
    with contextlib.suppress(Exception):
        call(*arguments)


def _learning(folder: Path, wanted: int = 2) -> list[str]:
    """Return the processes that work in a folder of teachers, when there are as many as wanted."""
    until = time.monotonic() + 120
    found: list[str] = []
    while time.monotonic() < until:
        found = []
        for each in Path("/proc").glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                found += [each.parent.name] if os.readlink(each).startswith(str(folder)) else []
        if len(found) >= wanted:
            break
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("kind", ["TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "TIMESTAMPTZ"])
def test_moments_that_may_fail_in_a_comparison_are_refused(tmp_path: Path, kind: str) -> None:
    path, policy = tmp_path / "moments.duckdb", tmp_path / "moments.toml"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, ward VARCHAR, seen {kind})")
        made.execute("INSERT INTO patients VALUES (1, 'A', '2024-01-01'), (2, 'B', NULL)")
    text = POLICY.format(accountant="approx")
    policy.write_text(text[: text.index("age =")] + "seen = {}\n")
    with dpsql.connect(path, policy) as db:
        with pytest.raises(dpsql.Error, match="no learner reads") as refused:
            dpsql.vote(db, "SELECT ward, seen FROM patients", learners.majority, [("x",)])
        assert refused.value.code == "D252"
        assert db.budget.spent == 0


def _program(db: dpsql.Connection, text: str, instead: str) -> Path:
    from dpsql.teachers import teacher_program

    program = Path(teacher_program.__file__).read_text()
    assert text in program
    changed = db.ledger_path.with_name("changed_program.py")
    changed.write_text(program.replace(text, instead))
    return changed


def test_nothing_of_a_teacher_is_left_for_the_next(db: dpsql.Connection) -> None:
    assert _votes(db, _plan(db, learners.stateful)) == [[0, 6, 0]] * 3


def test_planted_teachers_that_are_not_forked_leave_something(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one folder for all, or rows that are learned from in the process itself, the test above fails."""
    program = _program(db, "tempfile.mkdtemp(dir=inside)", f"{str(db.ledger_path.parent)!r}")
    program.write_text(program.read_text().replace("shutil.rmtree(folder, ignore_errors=True)", "pass"))
    monkeypatch.setattr("dpsql.teachers.processes.PROGRAM", program)
    assert _votes(db, _plan(db, learners.stateful)) != [[0, 6, 0]] * 3


def test_planted_an_error_that_gets_out_is_another_label(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a label that says that there was an error, the test of what goes wrong fails."""
    told = "            end.sendall(NUMBER.pack(1) * len(rows))\n            os._exit(0)\n"
    program = _program(db, "            os._exit(0)\n", told)
    monkeypatch.setattr("dpsql.teachers.processes.PROGRAM", program)
    plan = _plan(db, learners.odd, rows=[("x", 0), ("x", 10)], teachers=2, seconds=1)
    assert _votes(db, plan) != [[2, 0, 0], [2, 0, 0]]


# ---- the price -----------------------------------------------------------------------------------------


def test_each_label_is_a_choice(db: dpsql.Connection) -> None:
    answer = dpsql.vote(db, SQL, learners.majority, ROWS, teachers=4, epsilon=0.5)
    assert answer.columns == ("ward",)
    assert {label for (label,) in answer.rows} <= {"A", "B", "C"}
    spent = db._open().ledger.spent().main
    assert spent == 3 * math.ceil(choice_rho(Fraction(1, 2)) * UNIT)
    assert db.purchases[0].epsilon == answer.cost
    assert db.purchases[0].sql == SQL


def test_pure_epsilons_add_up(tmp_path: Path) -> None:
    with _connection(tmp_path, "pure") as db:
        assert dpsql.vote(db, SQL, learners.majority, ROWS, teachers=4, epsilon=0.5).cost == 1.5


def test_it_is_paid_before_a_row_is_read(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    session, seen = db._open(), list[int]()
    examples = session.engine.examples

    def watched(plan: VotePlan) -> Examples:
        seen.append(session.ledger.spent().main)
        return examples(plan)

    monkeypatch.setattr(session.engine, "examples", watched)
    dpsql.vote(db, SQL, learners.majority, ROWS, teachers=4, epsilon=0.5)
    assert seen == [session.ledger.spent().main]
    assert seen[0] > 0


def test_a_repeat_is_free_and_another_vote_is_not(db: dpsql.Connection, tmp_path: Path) -> None:
    first = dpsql.vote(db, SQL, learners.majority, ROWS, teachers=4, epsilon=0.5)
    again = dpsql.vote(db, SQL, learners.majority, ROWS, teachers=4, epsilon=0.5)
    assert (again.rows, again.cost, again.repeated) == (first.rows, 0.0, True)
    for change in (
        {"teachers": 5},
        {"epsilon": 0.4},
        {"rows": ROWS[:2]},
        {"learner": learners.first},
        {"sql": SQL + " WHERE age < 5"},
        {"seconds": 9},
        {"megabytes": 900},
    ):
        asked: dict[str, Any] = {"sql": SQL, "learner": learners.majority, "rows": ROWS, "teachers": 4}
        assert dpsql.vote(db, **(asked | {"epsilon": 0.5} | change)).cost > 0


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import dpsql, learners
with dpsql.connect(sys.argv[1]) as db:
    answer = dpsql.vote(db, {sql!r}, learners.killing, {rows!r}, teachers=3, epsilon=0.5)
    print(answer.cost, answer.repeated, len(answer.rows))
"""


def test_a_kill_between_payment_and_labels_costs_nothing(tmp_path: Path) -> None:
    _connection(tmp_path).close()
    kills, program = tmp_path / "kills", tmp_path / "program.py"
    kills.touch()
    program.write_text(PROGRAM.format(tests=str(Path(__file__).parent), sql=SQL, rows=ROWS))
    command = [sys.executable, str(program), str(tmp_path / "d.duckdb")]
    environment = {**os.environ, "DPSQL_KILLS": str(kills)}
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert killed.returncode == -9
    with dpsql.connect(tmp_path / "d.duckdb") as db:
        spent = db.budget.spent
        assert spent > 0
    kills.unlink()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0.0 False 3\n", "")
    with dpsql.connect(tmp_path / "d.duckdb") as db:
        assert db.budget.spent == spent


ASKED_AT_ONCE = """
import sys
sys.path.insert(0, {tests!r})
import dpsql, learners
with dpsql.connect(sys.argv[1]) as db:
    sys.stdin.read()
    answer = dpsql.vote(db, {sql!r}, learners.majority, {rows!r}, teachers=4, epsilon=0.1)
    print(answer.cost > 0, answer.rows)
"""


def test_two_processes_that_ask_at_once_pay_once(tmp_path: Path) -> None:
    _connection(tmp_path).close()
    program = tmp_path / "program.py"
    program.write_text(ASKED_AT_ONCE.format(tests=str(Path(__file__).parent), sql=SQL, rows=ROWS * 10))
    command = [sys.executable, str(program), str(tmp_path / "d.duckdb")]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as one_asks,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as other_asks,
    ):
        said = []
        for process in (one_asks, other_asks):
            assert process.stdin is not None
            process.stdin.close()
        for process in (one_asks, other_asks):
            assert process.stdout is not None
            said.append(process.stdout.read())
    (first, one), (second, other) = (each.split(" ", 1) for each in said)
    assert {first, second} == {"True", "False"}
    assert one == other
    with dpsql.connect(tmp_path / "d.duckdb") as db:
        spent = db.budget.spent
        again = dpsql.vote(db, SQL, learners.majority, ROWS * 10, teachers=4, epsilon=0.1)
        assert (f"{again.rows}\n", again.cost, db.budget.spent) == (one, 0.0, spent)


# ---- what is refused -----------------------------------------------------------------------------------


def test_more_counts_than_are_kept_are_refused_before_paying(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.plan.votes.MOST_COUNTS", 8)
    with pytest.raises(dpsql.InterfaceError, match="more than 8 counts") as refused:
        dpsql.vote(db, SQL, learners.majority, ROWS, epsilon=0.5)
    assert refused.value.help.startswith("ask about 2 rows at a time")
    assert db.budget.spent == 0


def test_only_the_owner_asks(tmp_path: Path, db: dpsql.Connection) -> None:
    with (
        dpsql.connect(tmp_path / "d.duckdb", analyst="ana") as ana,
        pytest.raises(dpsql.OperationalError, match="only the owner may ask for a vote") as refused,
    ):
        dpsql.vote(ana, SQL, learners.majority, ROWS)
    assert refused.value.code == "D508"


REFUSED = {
    "SELECT ward, COUNT(*), 1 FROM patients GROUP BY ward": "D252",
    "SELECT ward, MAX(age), 1 FROM patients": "D402",
    "SELECT ward, AVG(age) OVER (PARTITION BY ward), 1 FROM patients": "D254",
    "SELECT ward, ROW_NUMBER() OVER (ORDER BY age), 1 FROM patients": "D254",
    "SELECT ward, age, (SELECT COUNT(*) FROM patients) FROM patients": "D252",
    "SELECT ward, age, 1 FROM patients WHERE age > (SELECT AVG(age) FROM patients)": "D252",
    "SELECT DISTINCT ward, age, 1 FROM patients": "D252",
    "SELECT ward, age, 1 FROM patients ORDER BY age": "D252",
    "SELECT ward, age, 1 FROM patients LIMIT 3": "D252",
    "SELECT ward, age, 1 FROM patients UNION ALL SELECT ward, age, 1 FROM patients": "D252",
    "SELECT a.ward, a.age, b.age FROM patients a JOIN patients b ON a.age = b.age": "D401",
    "SELECT ward FROM patients": "D252",
    "SELECT ward, patient_id, 1 FROM patients": "D403",
    "SELECT weight, age, 1 FROM patients": "D301",
    "SELECT OPTIONS(epsilon = 1) ward, age, 1 FROM patients": "D252",
    "SELECT ward, [age], 1 FROM patients": "D252",
    "SELECT * FROM DP_LINEAR((SELECT weight, age FROM patients))": "D252",
    "SELECT ward, DP_SAMPLE(age), 1 FROM patients": "D402",
    "SELECT DP_ABOVE('flu', COUNT(*)) FROM patients": "D252",
    "SELECT DP_RANDOMIZED_RESPONSE(ward, 1), age, 1 FROM patients": "D252",
    "SELECT i = 1, 2, 3 FROM range(3) AS t(i)": "D252",
    "EXPLAIN SELECT ward, age, 1 FROM patients": "D104",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_refused_before_anything_is_paid(db: dpsql.Connection, sql: str) -> None:
    with pytest.raises(dpsql.Error) as refused:
        dpsql.vote(db, sql, learners.majority, ROWS)
    assert (refused.value.code, refused.value.help != "") == (REFUSED[sql], True)
    assert db.budget.spent == 0
    assert db.purchase_count == 0


def test_arguments_that_are_none(db: dpsql.Connection, tmp_path: Path) -> None:
    def inside(examples: Any, rows: Any) -> Any: ...

    for change in (
        {"learner": inside},
        {"learner": len},
        {"learner": lambda examples, rows: rows},
        {"rows": []},
        {"rows": [("x",)]},
        {"rows": [("x", b"y")]},
        {"rows": [("x", math.nan)]},
        {"teachers": 0},
        {"epsilon": 0.0},
        {"epsilon": math.nan},
        {"seconds": 0},
        {"megabytes": 0},
    ):
        asked: dict[str, Any] = {"sql": SQL, "learner": learners.majority, "rows": ROWS}
        with pytest.raises(dpsql.InterfaceError) as refused:
            dpsql.vote(db, **(asked | change))
        assert refused.value.help
    with pytest.raises(dpsql.OperationalError, match="above the ceiling"):
        dpsql.vote(db, SQL, learners.majority, ROWS * 100, epsilon=2.0)
    assert db.budget.spent == 0


def test_a_file_that_cannot_be_loaded_is_said_before_paying(db: dpsql.Connection, tmp_path: Path) -> None:
    copy = tmp_path / "a_learner_of_its_own.py"
    shutil.copy(learners.__file__, copy)
    sys.path.insert(0, str(tmp_path))
    try:
        import a_learner_of_its_own  # type: ignore[import-not-found]  # made above

        copy.write_text("import no_such_package\n")
        with pytest.raises(dpsql.InterfaceError, match="No module named 'no_such_package'"):
            dpsql.vote(db, SQL, a_learner_of_its_own.majority, ROWS)
    finally:
        sys.path.remove(str(tmp_path))
    assert db.budget.spent == 0

"""What was shown stays shown, and is paid once: under kill -9 at any moment, and with many processes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import dpsql
from dpsql.accounting.entries import Entry
from dpsql.accounting.units import UNIT

STATEMENTS = (
    *(f"SELECT COUNT(*) FROM patients WHERE age > {age}" for age in range(5)),
    *(
        f"SELECT ward, SUM(income), AVG(age) FROM patients WHERE age > {age} GROUP BY ward"
        for age in range(4)
    ),
    "SELECT SUM(cost) FROM visits",
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind",
    "SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM visits) AS a, (SELECT COUNT(*) AS n FROM patients) AS b",
)
EACH = len(STATEMENTS)

# Starts so many processes for each line of its input. Every one of them connects, waits for the line "go",
# asks its statements and writes each answer, whole and at once, to a file after it was given.
NURSERY = """
import json, os, signal, sys
import dpsql, dpsql.session  # everything that the children would otherwise load themselves

def ask(path, statements, rounds, gate):
    with dpsql.connect(path) as db:
        say("ready")
        os.read(gate, 1)
        for place, sql in statements * rounds:
            answer = db.execute(sql)
            say(json.dumps([place, answer.rows, answer.margins]))

def say(line):
    os.write(1, line.encode() + b"\\n")

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    gate, opener = os.pipe()
    for job in json.loads(line):
        pid = os.fork()
        if pid == 0:
            os.close(opener)
            os.dup2(os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
            try:
                ask(job["path"], job["statements"], job["rounds"], gate)
                say("done")
            except BaseException as error:  # whatever it is, the test reads it
                say(f"ended: {getattr(error, 'code', repr(error))}")
            finally:
                os._exit(0)
        print(pid, flush=True)
    sys.stdin.readline()
    os.close(opener)
    os.close(gate)
"""


ENDS = "done", "ended"


class Asker:
    """A process that asks, seen through the file of its answers."""

    def __init__(self, pid: int, out: Path) -> None:
        self.pid, self.out = pid, out

    def lines(self, least: int) -> list[str]:
        """Everything said so far (the last write may be cut), waiting until it is this much."""
        for _ in range(30_000):
            whole = self.out.read_text().split("\n")[:-1] if self.out.exists() else []
            if len(whole) >= least:
                return whole
            time.sleep(0.01)
        raise AssertionError(f"nothing more after {whole[-1:]}")

    def kill(self) -> list[str]:
        """Kill -9 it while it is at work: the answers that were given until then."""
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(self.pid, signal.SIGKILL)
        for _ in range(60_000):
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.005)
        said = self.lines(1)
        assert not said[-1].startswith(ENDS), said[-1]
        return said[1:]

    def rest(self) -> list[str]:
        """All answers, and how it ended."""
        said = self.lines(1)
        while not said[-1].startswith(ENDS):
            said = self.lines(len(said) + 1)
        return said[1:]


class Nursery:
    """Starts processes fast: they are forks of one that has loaded dpsql and opened nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )

    def start(self, path: Path, *lists: Sequence[tuple[int, str]], rounds: int = 1) -> list[Asker]:
        """One process for each list of (number, statement), all let go together."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        outs = [self.folder / f"said-{self.count + i}" for i in range(len(lists))]
        self.count += len(lists)
        jobs = [
            {"path": str(path), "statements": statements, "rounds": rounds, "out": str(out)}
            for statements, out in zip(lists, outs, strict=True)
        ]
        self.process.stdin.write(json.dumps(jobs) + "\n")
        self.process.stdin.flush()
        askers = [Asker(int(self.process.stdout.readline()), out) for out in outs]
        for asker in askers:
            asker.lines(1)
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return askers

    def close(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    made = Nursery(tmp_path)
    yield made
    made.close()


def entries(path: Path) -> tuple[Entry, ...]:
    """The ledger, verified from its first entry on."""
    with dpsql.connect(path) as db:
        return db._open().ledger.entries()


def debits(path: Path) -> list[Entry]:
    return [each for each in entries(path) if each.kind == "debit"]


@pytest.fixture
def exact(clinic: Path) -> Path:
    """A clinic whose budget holds every statement once, and not one more."""
    policy = clinic.with_suffix(".toml")
    text = policy.read_text().replace("epsilon = 100.0\ndelta = 1e-6", f"epsilon = {EACH}.0\ndelta = 0.0")
    policy.write_text(text.replace('"zcdp"', '"pure"').replace("max_epsilon = 20.0", "max_epsilon = 1.0"))
    return clinic


def test_kill_9_at_random_moments(exact: Path, nursery: Nursery) -> None:
    """Twelve processes are killed while they ask; nothing shown is lost or changed, nothing is paid twice."""
    chance = random.Random()
    numbered = list(enumerate(STATEMENTS))
    shown: dict[int, str] = {}

    def note(lines: list[str]) -> None:
        for line in lines:
            place = json.loads(line)[0]
            assert shown.setdefault(place, line) == line

    for start in range(12):
        (asker,) = nursery.start(exact, numbered[start:] + numbered[:start], rounds=10_000)
        asker.lines(1 + chance.randrange(3))
        time.sleep(chance.uniform(0, 0.03))
        note(asker.kill())
        made = debits(exact)
        assert len({each.sql for each in made}) == len(made)
        assert {STATEMENTS[place] for place in shown} <= {each.sql for each in made if each.answered}
        assert sum(each.price.main for each in made) <= EACH * UNIT

    before = debits(exact)
    (asker,) = nursery.start(exact, numbered)
    *lines, end = asker.rest()
    assert end == "done"
    assert [json.loads(line)[0] for line in lines] == list(range(EACH))
    note(lines)
    after = debits(exact)
    assert [(each.id, each.sql) for each in after[: len(before)]] == [(each.id, each.sql) for each in before]
    assert sorted(each.sql for each in after) == sorted(STATEMENTS)
    assert all(each.answered for each in after)
    assert sum(each.price.main for each in after) <= EACH * UNIT
    with dpsql.connect(exact) as db, pytest.raises(dpsql.OperationalError, match="D501"):
        db.execute("SELECT COUNT(*) FROM patients WHERE age > 99")


def test_a_debit_without_an_answer_is_completed_without_paying_again(
    exact: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies between debit and answer: asked again, the answer comes, and stays."""
    sql = STATEMENTS[0]

    def die(*given: object) -> None:
        raise KeyboardInterrupt

    with dpsql.connect(exact) as db:
        with monkeypatch.context() as patch:
            patch.setattr("dpsql.releasing.release", die)
            with pytest.raises(KeyboardInterrupt):
                db.execute(sql)
        assert [(each.sql, each.answered) for each in db.purchases] == [(sql, False)]
        spent = db.budget.spent
        assert spent == 1.0
    with dpsql.connect(exact) as db:
        first = db.execute(sql)
        assert db.execute(sql).rows == first.rows
        assert db.budget.spent == spent
        assert [(each.sql, each.answered) for each in db.purchases] == [(sql, True)]


def test_eight_processes_asking_the_same_at_once_get_one_answer_for_one_debit(
    exact: Path, nursery: Nursery
) -> None:
    askers = nursery.start(exact, *[[(5, STATEMENTS[5])]] * 8)
    said = [asker.rest() for asker in askers]
    assert [lines[1:] for lines in said] == [["done"]] * 8
    assert len({lines[0] for lines in said}) == 1
    kinds = [each.kind for each in entries(exact)]
    assert kinds.count("debit") == kinds.count("answer") == 1


def test_eight_processes_asking_differently_never_spend_more_than_there_is(
    exact: Path, nursery: Nursery
) -> None:
    """Each asks three questions of its own; the budget holds half of the twenty-four."""
    lists = [
        [(3 * n + k, f"SELECT COUNT(*) FROM patients WHERE age > {3 * n + k}") for k in range(3)]
        for n in range(8)
    ]
    said = [asker.rest() for asker in nursery.start(exact, *lists)]
    assert {lines[-1] for lines in said} <= {"done", "ended: D501"}
    made = debits(exact)
    assert sum(len(lines) - 1 for lines in said) == len(made) == EACH
    assert sum(each.price.main for each in made) <= EACH * UNIT

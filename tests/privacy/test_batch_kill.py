"""A file of forty statements, killed at twenty moments: every result once, as it was first seen, paid once.

start -----------+-- debit -- answer -- file -- manifest --+-- debit -- ...
^    ^           ^     ^         ^        ^        ^       ^
kill -9 comes at any of these moments; every time the run is taken up again
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.accounting.units import Units

KILLS = 20
WRITES = 8
"""Of the manifest in one life: who is not killed in time, because we are kept waiting, does it alone."""

STATEMENTS = (
    *(f"SELECT COUNT(*) AS n FROM patients WHERE age > {age}" for age in range(12)),
    *(
        f"SELECT ward, SUM(income) AS income, AVG(age) AS age FROM patients WHERE age > {age} GROUP BY ward"
        for age in range(8)
    ),
    *(f"SELECT kind, SUM(cost) AS cost FROM visits WHERE minutes > {i} GROUP BY kind" for i in range(6)),
    *(f"SELECT city, COUNT(*) AS n FROM patients WHERE age > {age} GROUP BY city" for age in range(4)),
    *(f"SELECT MEDIAN(age) AS age FROM patients WHERE income > {low}" for low in range(3)),
    "SELECT COUNT(*) AS n FROM patients WHERE seen < now() AT TIME ZONE 'UTC'",
    "SELECT COUNT(*) AS n FROM patients WHERE seen < now() AT TIME ZONE 'UTC' - INTERVAL 1 DAY",
    "SELECT COUNT(*) AS n FROM patients WHERE born < current_date",
    "SELECT COUNT(*) * 2 AS n FROM patients WHERE age > 3",  # of a measure that is paid for already
    "SELECT ward, floor FROM wards ORDER BY ward",
    "EXPLAIN SELECT COUNT(*) FROM patients",
    "SELECT AVG(n) AS visits FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
)

# Forks a process for each line of its input, which runs the command in it; and kills it at last after so
# many writes of the manifest, however busy the machine is.
NURSERY = """
import json, os, signal, sys
import dpsql.session, dpsql.batch.run, dpsql.batch.start, dpsql.batch.summaries, dpsql.cli.run
from dpsql.cli import main

def mortal(writes):
    def notice(event, given):
        nonlocal writes
        if event == "os.rename" and str(given[1]).endswith("manifest.json"):
            if not writes:
                os.kill(os.getpid(), signal.SIGKILL)
            writes -= 1
    sys.addaudithook(notice)

print(flush=True)
for line in sys.stdin:
    job = json.loads(line)
    pid = os.fork()
    if pid == 0:
        said = os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(said, 1)
        os.dup2(said, 2)
        if job["writes"] is not None:
            mortal(job["writes"])
        os._exit(main(job["arguments"]))
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Nursery:
    """Starts ``dpsql run`` fast, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.said = folder / "said"
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        self._line()  # everything is loaded

    def start(self, *arguments: str, writes: int | None = None) -> int:
        assert self.process.stdin is not None
        job = {"out": str(self.said), "arguments": ["run", *arguments], "writes": writes}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return int(self._line())

    def ended(self) -> int:
        """How it ended; -9 if it was killed."""
        return int(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def close(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    made = Nursery(tmp_path)
    yield made
    made.close()


def debits(database: Path, ledger: Path) -> list[tuple[str, Units]]:
    with dpsql.connect(database, ledger=ledger) as db:
        return [(each.sql, each.price) for each in db._open().ledger.entries() if each.kind == "debit"]


def manifest(folder: Path) -> dict[str, Any] | None:
    """Whole, at any moment."""
    with suppress(FileNotFoundError):  # not written yet
        found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
        return found
    return None


def results(folder: Path) -> dict[str, bytes]:
    """Everything that lies there under a result's name."""
    return {each.name: each.read_bytes() for each in folder.glob("*.csv")} if folder.is_dir() else {}


def wait_for(folder: Path, changes: int, pid: int) -> None:
    """Until the manifest was written so many times more, or the process is gone."""
    last = _written(folder)
    with suppress(ProcessLookupError):  # it is gone
        while changes:
            os.kill(pid, 0)
            time.sleep(0.001)
            now = _written(folder)
            last, changes = now, changes - (now != last)


def _written(folder: Path) -> int:
    with suppress(FileNotFoundError):  # not written yet
        return (folder / "manifest.json").stat().st_ino
    return 0


def test_killed_twenty_times(clinic: Path, tmp_path: Path, nursery: Nursery) -> None:
    """A quarter of the moments lies anywhere in the time that a run takes to begin.

    The others lie some statements later, anywhere in the time that a statement takes.
    """
    chance = random.Random(5)
    script = tmp_path / "forty.sql"
    script.write_text("".join(f"-- name: s{i}\n{sql};\n" for i, sql in enumerate(STATEMENTS)))
    assert len(STATEMENTS) == 40

    calm, calm_ledger = tmp_path / "calm", tmp_path / "calm.ledger"
    began = time.monotonic()
    nursery.start(
        *(str(clinic), str(script), "--epsilon", "6", "--out", str(calm), "--ledger", str(calm_ledger))
    )
    while manifest(calm) is None:
        time.sleep(0.002)
    start = time.monotonic() - began
    assert nursery.ended() == 0, nursery.said.read_text()
    work = time.monotonic() - began - start

    out, ledger = tmp_path / "out", tmp_path / "other.ledger"
    command = [str(clinic), str(script), "--out", str(out), "--ledger", str(ledger), "--epsilon", "6"]
    seen: dict[str, bytes] = {}
    prices: list[float] = []
    at: list[int] = []
    for number in range(KILLS):
        pid = nursery.start(*command, "--resume", writes=WRITES)
        if number % 4 == 0:
            time.sleep(chance.uniform(0, start))
        else:
            wait_for(out, chance.randint(1, 5), pid)
            time.sleep(chance.uniform(0, 1.5 * work / len(STATEMENTS)))
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(pid, signal.SIGKILL)
        assert nursery.ended() in (-signal.SIGKILL, 0), nursery.said.read_text()
        now = results(out)
        assert {name: now.get(name) for name in seen} == seen
        seen |= now
        told = manifest(out)
        if told is None:
            continue
        done = [each for each in told["statements"] if each["state"] == "answered"]
        assert all(sha256(now[each["file"]]).hexdigest() == each["sha256"] for each in done)
        prices = prices or [each["price"] for each in told["statements"]]
        assert [each["price"] for each in told["statements"]] == prices
        at.append(len(done))
    assert len(set(at)) > 4, "it was killed at different places of its work"

    nursery.start(*command, "--resume")
    assert nursery.ended() == 0, nursery.said.read_text()
    last = results(out)
    assert sorted(last) == sorted(f"s{i}.csv" for i in range(40))
    assert {name: last[name] for name in seen} == seen
    assert not list(out.glob(".*"))
    paid, undisturbed = debits(clinic, ledger), debits(clinic, calm_ledger)
    assert sorted(map(repr, paid)) == sorted(map(repr, undisturbed))
    told, other = manifest(out), manifest(calm)
    assert told is not None
    assert other is not None
    assert [each["paid"] for each in told["statements"]] == [each["paid"] for each in other["statements"]]
    assert told["remaining"] == other["remaining"]

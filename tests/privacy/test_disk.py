"""Disks that are full, and what spills: coded errors, nobody's words, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

pytest.importorskip("resource")

POLICY = """\
[budget]
epsilon = 10.0
delta = 1e-6
[query]
epsilon = 1.0
[unit]
table = "people"
key = "id"
[tables.people]
[tables.people.columns]
id = { TYPES }
name = { NAMES }
"""

SQL = "SELECT COUNT(*) FROM (SELECT id, name, COUNT(*) AS n FROM people GROUP BY id, name) WHERE n > 0"

LITTLE = """
import os, resource, signal, sys, threading
from contextlib import closing
import dpsql
from dpsql.engines import duckdb as databases, folder as files

usual = databases.configuration
roomy = sys.argv[-1].endswith(".csv")  # one that holds the reader's own buffers
little = {"memory_limit": "128MB" if roomy else "64MB", "threads": 1}
files.configuration = databases.configuration = lambda *threads: usual(*threads) | little
"""

SPILLS = (
    LITTLE
    + """
with dpsql.connect(sys.argv[-1], ledger=sys.argv[2]) as db:
    connection = db._open().engine._connection
    folder = connection.execute("SELECT current_setting('temp_directory')").fetchone()[0]
    seen, done = set(), threading.Event()
    def watch():
        while not done.wait(0.001):
            seen.update(os.listdir(folder))
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    if sys.argv[1] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        [(people,)] = db.execute(sys.argv[3]).rows
        print(round(people, -3))  # its margin is 9
    except dpsql.Error as error:
        assert error.__cause__ is None and error.__context__ is None
        print(error)
    done.set()
    watching.join()
    spent = db.budget.spent
print(any("storage" in name for name in seen), spent > 0)
print([name for name in os.listdir(folder) if name != ".held"])
"""
)

STOPPED = (
    LITTLE
    + """
import time
from dpsql.engines.spill import spill_folder
from dpsql.cli import main

folder, number = spill_folder(), getattr(signal, sys.argv[1])
def stop():
    while not any("storage" in name for name in os.listdir(folder)):
        time.sleep(0.001)
    print(oct(os.stat(folder).st_mode & 0o777), flush=True)
    os.kill(os.getpid(), number)
threading.Thread(target=stop, daemon=True).start()
raise SystemExit(main(sys.argv[2:]))
"""
)
"""A command that is stopped as soon as something of it is spilled."""


@pytest.fixture(scope="module", params=["duckdb", "parquet", "csv"])
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More names than the engine may keep in its memory."""
    path = tmp_path_factory.mktemp("people") / f"people.{request.param}"
    names = "SELECT i AS id, 'PERSON' || repeat(md5(i::VARCHAR), 3) AS name FROM range(600000) r(i)"
    with duckdb.connect(str(path) if request.param == "duckdb" else ":memory:") as connection:
        connection.execute(
            f"CREATE TABLE people AS {names}" if request.param == "duckdb" else f"COPY ({names}) TO '{path}'"
        )
    types = ('type = "BIGINT"', 'type = "VARCHAR"') if request.param == "csv" else ("", "")
    path.with_suffix(".toml").write_text(POLICY.replace("TYPES", types[0]).replace("NAMES", types[1]))
    return path


def run(people: Path, how: str, tmp_path: Path) -> list[str]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = [sys.executable, "-W", "ignore", "-c", SPILLS, how, str(tmp_path / "ledger"), SQL, str(people)]
    temporary = os.environ | {"TMPDIR": str(folder)}
    done = subprocess.run(script, capture_output=True, text=True, env=temporary, check=True)
    assert not any(folder.iterdir())
    return done.stdout.strip().split("\n")


def test_what_does_not_fit_into_memory_is_spilled_and_removed(people: Path, tmp_path: Path) -> None:
    shown, spilled, left = run(people, "roomy", tmp_path)
    assert (shown, spilled, left) == ("600000", "True True", "[]")


def test_a_disk_without_room_for_what_spills(people: Path, tmp_path: Path) -> None:
    *error, spilled, left = run(people, "full", tmp_path)
    assert error[0] == "error[D601]: there is too little room for this query"
    assert "PERSON" not in "".join(error)
    assert spilled.endswith("True")  # it was paid, and stays paid
    assert left == "[]"


@pytest.mark.parametrize("number", ["SIGINT", "SIGKILL"])
def test_nothing_spilled_outlives_a_command_that_is_stopped(
    people: Path, number: str, tmp_path: Path
) -> None:
    """After Ctrl-C at once; after kill -9 with the next command that opens anything."""
    temporary = os.environ | {"TMPDIR": str(tmp_path)}
    ledger = ("--ledger", str(tmp_path / "ledger"))
    command = ["query", *ledger, "-c", SQL, str(people)]
    script = [sys.executable, "-W", "ignore", "-c", STOPPED, number, *command]
    done = subprocess.run(script, capture_output=True, text=True, env=temporary)
    assert done.returncode == (130 if number == "SIGINT" else -signal.SIGKILL)
    assert done.stdout == "0o700\n"
    assert "PERSON" not in done.stderr
    left = [each for folder in tmp_path.glob("dpsql-*") for each in folder.rglob("*")]
    assert any("storage" in each.name for each in left) == (number == "SIGKILL")
    after = [sys.executable, "-m", "dpsql.cli", "budget", str(people), *ledger]
    subprocess.run(after, capture_output=True, env=temporary, check=True)
    assert not list(tmp_path.glob("dpsql-*"))


LEDGER = """
import os, resource, sys
import dpsql

with dpsql.connect(sys.argv[1]) as db:
    engine, read = db._open().engine, []
    measure = engine.measure
    engine.measure = lambda planned: read.append(planned) or measure(planned)
    before = db.budget.spent
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
    try:
        db.execute("SELECT COUNT(*) FROM patients")
    except dpsql.Error as error:
        print(error.code, len(read))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(db.budget.spent == before, db.execute("SELECT COUNT(*) FROM patients").repeated, len(read))
"""


@pytest.mark.parametrize("room", [0, 100, 5000])
def test_a_disk_without_room_for_the_ledger(clinic: Path, room: int) -> None:
    """What cannot be noted is not read; when there is room again, all goes on."""
    script = [sys.executable, "-c", LEDGER, str(clinic), str(room)]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["D507 0", "True False 1"]

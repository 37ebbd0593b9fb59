"""Disks that are full, and what spills: coded errors, nobody's words, nothing left behind."""

from __future__ import annotations

import os
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
id = {}
name = {}
"""

SPILLS = """
import os, resource, sys, threading
from contextlib import closing
import dpsql
from dpsql.engines import duckdb as databases, folder as files

usual = databases.configuration
little = {"memory_limit": "64MB", "threads": 1}
files.configuration = databases.configuration = lambda *threads: usual(*threads) | little
with dpsql.connect(sys.argv[1], ledger=sys.argv[3]) as db:
    connection = db._open().engine._connection
    folder = connection.execute("SELECT current_setting('temp_directory')").fetchone()[0]
    seen, done = set(), threading.Event()
    def watch():
        while not done.wait(0.001):
            seen.update(os.listdir(folder))
    watching = threading.Thread(target=watch)
    watching.start()
    if sys.argv[2] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        print(len(db.execute("SELECT name, COUNT(*) FROM people GROUP BY name").rows))
    except dpsql.Error as error:
        assert error.__cause__ is None and error.__context__ is None
        print(error)
    done.set()
    watching.join()
    spent = db.budget.spent
print(any("storage" in name for name in seen), spent > 0)
print([name for name in os.listdir(folder) if name != ".held"])
"""


@pytest.fixture(scope="module", params=["duckdb", "parquet"])
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More names than the engine may keep in its memory."""
    path = tmp_path_factory.mktemp("people") / f"people.{request.param}"
    names = "SELECT i AS id, 'PERSON' || repeat(md5(i::VARCHAR), 3) AS name FROM range(600000) r(i)"
    with duckdb.connect(str(path) if request.param == "duckdb" else ":memory:") as connection:
        made = (
            f"COPY ({names}) TO '{path}'" if request.param == "parquet" else f"CREATE TABLE people AS {names}"
        )
        connection.execute(made)
    path.with_suffix(".toml").write_text(POLICY)
    return path


def run(people: Path, how: str, tmp_path: Path) -> list[str]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = [sys.executable, "-W", "ignore", "-c", SPILLS, str(people), how, str(tmp_path / "ledger")]
    temporary = os.environ | {"TMPDIR": str(folder)}
    done = subprocess.run(script, capture_output=True, text=True, env=temporary, check=True)
    assert not any(folder.iterdir())
    return done.stdout.strip().split("\n")


def test_what_does_not_fit_into_memory_is_spilled_and_removed(people: Path, tmp_path: Path) -> None:
    shown, spilled, left = run(people, "roomy", tmp_path)
    assert (shown, spilled, left) == ("0", "True True", "[]")  # nobody shares a name: no group is shown


def test_a_disk_without_room_for_what_spills(people: Path, tmp_path: Path) -> None:
    *error, spilled, left = run(people, "full", tmp_path)
    assert error[0].startswith("error[D601]")
    assert "PERSON" not in "".join(error)
    assert spilled.endswith("True")  # it was paid, and stays paid
    assert left == "[]"


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

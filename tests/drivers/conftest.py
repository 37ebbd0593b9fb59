"""What other people's tools see of dpsql.

These tests use the installed package and nothing else of the repository: they run here with the rest, and
once more from elsewhere against the wheel.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql.cli.demo_data import build

KINDS = """
CREATE TABLE kinds (
    n INTEGER PRIMARY KEY, small UTINYINT, wide HUGEINT, real FLOAT, number DOUBLE, money DECIMAL(9, 2),
    word VARCHAR, color ENUM('red', 'green'), yes BOOLEAN, id UUID, day DATE, clock TIME, moment TIMESTAMP,
    there TIMESTAMPTZ, span INTERVAL, bytes BLOB, items INTEGER[]
);
INSERT INTO kinds VALUES
    (1, 200, 170141183460469231731687303715884105727, 0.5, 0.1, 12.34,
     'æ', 'red', true, '6f2c1a40-0000-4000-8000-000000000001', '2024-02-29', '23:59:01',
     '2024-02-29 08:30:00', '2024-02-29 08:30:00+00', INTERVAL 3 DAY, '\\x00\\xFF'::BLOB, [1, 2]),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
FAR = """
CREATE TABLE far AS SELECT
    DATE '290000-01-01' AS later, DATE '0044-03-15 (BC)' AS earlier,
    TIMESTAMP '200000-01-01 00:00:00.5' AS moment,
    'NaN'::DOUBLE AS nothing, 'inf'::DOUBLE AS high, '-inf'::FLOAT AS low, TIME '24:00:00' AS midnight,
    -1::TINYINT AS minus, 18446744073709551615::UBIGINT AS big, -0.00012::DECIMAL(9, 5) AS little,
    {'a': 1} AS pair, MAP {'k': 1} AS named, '{"a": 1}'::JSON AS json, INTERVAL '-1 day -1.5 seconds' AS back
"""
PUBLIC = """
[tables.kinds]
public = true
"""
VIEWS = """
[views.seniors]
sql = "SELECT * FROM patients WHERE age >= 65"
"""


def pytest_configure(config: pytest.Config) -> None:
    """Elsewhere no plugin says so."""
    config.addinivalue_line("markers", "sweep: takes long")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's clinic with a public table of all types and a view; nobody changes it.

    A question costs so much that its noise is nothing: what comes back can be compared with DuckDB's.
    """
    database = build(tmp_path_factory.mktemp("built"))
    with duckdb.connect(str(database)) as owner:
        owner.execute(KINDS)
    file = database.with_suffix(".toml")
    policy = file.read_text()
    for demo, ours in (
        ("epsilon = 5.0", "epsilon = 1e9"),
        ("epsilon = 4.0", "epsilon = 1e9"),
        ("epsilon = 0.5", "epsilon = 1e6"),
        ("max_epsilon = 2.0", "max_epsilon = 1e6\nmin_epsilon = 0.001"),
        ("rows_per_unit = 15", "rows_per_unit = 1000"),
        ("range = [0, 1000]", "range = [0, 100000]"),
    ):
        assert demo in policy
        policy = policy.replace(demo, ours, 1)
    file.write_text(policy + PUBLIC + VIEWS)
    return database


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "own.ledger"


@pytest.fixture
def db(built: Path, ledger: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(built, ledger=ledger) as connection:
        yield connection


@pytest.fixture
def url(built: Path, ledger: Path) -> str:
    """The same database as SQLAlchemy is told of it."""
    return f"dpsql:///{built}?ledger={ledger}"


@pytest.fixture
def slow() -> str:
    """A question to the crowd that takes a core a minute and more."""
    alike = (f"levenshtein(name, '{letter * 128}') < 3" for letter in "abcdefghijklmnopqrstuvwxyz0123456789")
    return "SELECT COUNT(*) FROM people WHERE " + " OR ".join(alike)


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with long names, over whom questions can be made to take long."""
    database = tmp_path_factory.mktemp("crowd") / "crowd.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR)")
        owner.execute("INSERT INTO people SELECT i, repeat(md5(i::VARCHAR), 4) FROM range(200000) AS t(i)")
    database.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 10.0\ndelta = 1e-6\n[query]\nepsilon = 0.1\n[unit]\nname = "person"\n'
        'table = "people"\nkey = "id"\n[tables.people.columns]\nname = {}\n'
    )
    return database


# ---- dpsql serve ---------------------------------------------------------------------------------------

PASSWORD = "correct horse battery"


class Served:
    """``dpsql serve`` in a process of its own, on a port of this machine and on a Unix socket."""

    def __init__(self, database: Path | str, *words: str, analysts: tuple[str, ...] = ("ana", "bob")) -> None:
        self.database, self.folder = database, Path(tempfile.mkdtemp(prefix="dpsql-served-"))
        self.file, self.log_file = self.folder / "own.analysts", self.folder / "log.json"
        self.words = (
            str(database),
            "--analysts",
            str(self.file),
            "--ledger",
            str(self.folder / "own.ledger"),
        )
        for name in analysts:
            self.analyst("add", name)
        self.start(*words)

    def start(self, *words: str) -> None:
        places = ("--listen", "127.0.0.1:0", "--listen", str(self.folder))
        command = [sys.executable, "-m", "dpsql.cli", "serve", *self.words, "--log", str(self.log_file)]
        self.process = subprocess.Popen([*command, *places, *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.said = list(takewhile(lambda line: line != "ready\n", self.process.stderr))
        assert self.process.poll() is None, self.said
        (self.port,) = {int(found[1]) for found in re.finditer(r"127.0.0.1:(\d+)", "".join(self.said))}

    def analyst(self, kind: str, *names: str, password: str = PASSWORD) -> None:
        typed = ("--password-stdin",) if kind in ("add", "passwd") else ()
        words = [kind, str(self.database), *names, "--analysts", str(self.file), *typed]
        subprocess.run(
            [sys.executable, "-m", "dpsql.cli", "analyst", *words], input=password, text=True, check=True
        )

    def url(self, scheme: str = "postgresql", analyst: str = "ana", more: str = "") -> str:
        password = PASSWORD.replace(" ", "%20")
        return f"{scheme}://{analyst}:{password}@127.0.0.1:{self.port}/clinic{more}"

    @property
    def given(self) -> dict[str, Any]:
        """What drivers are given to connect."""
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "user": "ana",
            "password": PASSWORD,
            "database": "clinic",
        }

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_file.read_text().splitlines()]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the process by a signal, and return its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(60)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            assert self.stop() == 0
        shutil.rmtree(self.folder)


@pytest.fixture(scope="session")
def clinic_for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's clinic with a public table of all types, and room in the budget for many questions."""
    database = build(tmp_path_factory.mktemp("served"))
    with duckdb.connect(str(database)) as owner:
        owner.execute(KINDS)
        owner.execute(FAR)
    file = database.with_suffix(".toml")
    policy = file.read_text()
    for demo, ours in (
        ("n = 5.0", "n = 1e6"),
        ("n = 4.0", "n = 1e6"),
        ("n = 2.0", "n = 2.0\nmin_epsilon = 0.01"),
    ):
        policy = policy.replace(f"epsilo{demo}", f"epsilo{ours}", 1)
    few = '\n[analysts.bob]\nepsilon = 0.3\ntables = ["patients", "wards"]\n'
    file.write_text(policy + PUBLIC + PUBLIC.replace("kinds", "far") + few)
    return database


@pytest.fixture(scope="session")
def served(clinic_for_all: Path) -> Iterator[Served]:
    """A server that all tests of a worker share: none of them stops it or changes its files."""
    with closing(Served(clinic_for_all)) as server:
        yield server


@pytest.fixture
def own_server(clinic_for_all: Path) -> Iterator[Served]:
    """A server of one's own."""
    with closing(Served(clinic_for_all)) as server:
        yield server

"""The shell in a real terminal, 80 and 120 columns wide: every screen is as it was kept in tests/cli/screens.

Digits in boxes and beside bars are noise, or the time, and are not compared. ``DPSQL_SCREENS=write`` keeps
what is there now.
"""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import itertools
import json
import os
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import pyte
import pytest

SCREENS = Path(__file__).parent / "screens"
PATIENCE = 300  # seconds that a loaded machine may take for a step

POLICY = """\
[budget]
epsilon = 400.0
delta = 1e-6

[query]
epsilon = 60.0
max_epsilon = 200.0

[analysts.ana]
epsilon = 300.0

[unit]
name = "person"
table = "people"
key = "id"

[tables.people.columns]
age = { range = [0, 120] }
town = { values = ["Bergen", "Oslo", "Tromsø"] }
member = {}

[tables.visits]
unit = { column = "person_id" }
rows_per_unit = 20

[tables.visits.columns]
cost = { range = [0, 500] }

[tables.places]
public = true
key = "place"
"""

DATA = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY, age INTEGER NOT NULL, town VARCHAR NOT NULL, member BOOLEAN NOT NULL);
INSERT INTO people
    SELECT i, 20 + i % 60, CASE WHEN i % 10 < 2 THEN 'Bergen' WHEN i % 10 < 7 THEN 'Oslo' ELSE 'Tromsø' END,
        i % 3 = 0
    FROM range(8000) AS t(i);
CREATE TABLE visits AS SELECT i % 8000 AS person_id, (i % 700)::DOUBLE AS cost FROM range(120000) AS t(i);
CREATE TABLE places AS SELECT i AS place, 'place ' || i AS name FROM range(10) AS t(i);
"""

SLOW = (  # every visit 10,000 times, and much to do each time: minutes of work on any machine
    "SELECT COUNT(*) AS n FROM visits, places a, places b, places c, places d "
    "WHERE damerau_levenshtein(a.name || c.name, b.name || d.name || CAST(cost AS VARCHAR)) > 3;"
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    with duckdb.connect(str(folder / "world.duckdb")) as made:
        made.execute(DATA)
    (folder / "world.toml").write_text(POLICY, encoding="utf-8")
    return folder


OWN = (  # the terminal is the process's own, so that Ctrl-C reaches it
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


class Terminal:
    """A shell in a terminal, and what somebody in front of it sees."""

    def __init__(
        self, folder: Path, ledger: Path, columns: int, place: Sequence[str] = (), **more: str
    ) -> None:
        self.ledger, self.screen = ledger, pyte.Screen(columns, 40)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
        kept |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONUTF8": "1", "PROMPT_TOOLKIT_NO_CPR": "1"}
        kept |= {"DPSQL_HISTORY": str(ledger.with_suffix(".history"))}
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 40, columns, 0, 0))
        files = ("world.duckdb", "--ledger", str(ledger), "--analyst", "ana")
        words = ["-m", "dpsql.cli", "shell", *(place or files)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=kept | more,
            start_new_session=True,
        )
        os.close(theirs)

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def read(self, seconds: float) -> bool:
        """Show what comes within some time; whether anything came."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        with contextlib.suppress(OSError):  # a terminal ends like that
            said = os.read(self.ours, 65536)
            self.raw += said
            self.stream.feed(said)
            return True
        return False

    def ended(self) -> int:
        """Wait for the end of the process."""
        self.until(lambda: self.process.poll() is not None)
        return self.process.returncode

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def until(self, what: str | Callable[[], object]) -> None:
        """Wait for a text, or for anything else."""
        deadline = time.monotonic() + PATIENCE
        while not (re.search(what, self.text, re.M) if isinstance(what, str) else what()):
            assert time.monotonic() < deadline, f"waited for {what!r} and saw\n{self.text}"
            self.read(0.1)

    def shows(self, name: str) -> None:
        """Wait for the screen that was kept under this name."""
        file = SCREENS / f"{name}-{self.screen.columns}.txt"
        if os.environ.get("DPSQL_SCREENS") == "write":
            while self.read(1.5):
                pass
            SCREENS.mkdir(exist_ok=True)
            file.write_text(masked(self.text) + "\n", encoding="utf-8")
            return
        kept = file.read_text(encoding="utf-8").removesuffix("\n")
        deadline = time.monotonic() + PATIENCE
        while masked(self.text) != kept:
            seen = masked(self.text)
            difference = "\n".join(difflib.unified_diff(kept.split("\n"), seen.split("\n"), "kept", "seen"))
            assert time.monotonic() < deadline, f"{difference}\n\n{self.text}"
            self.read(0.1)

    def paid(self) -> int:
        """How many debits there are, read straight from the file."""
        with contextlib.closing(sqlite3.connect(self.ledger)) as connection:
            entries = [json.loads(text) for (text,) in connection.execute("SELECT entry FROM entries")]
        return sum(each["kind"] == "debit" for each in entries)


def masked(text: str) -> str:
    """The screen without what noise and clocks decide."""
    lines = []
    for line in text.split("\n"):
        if line.startswith(("│", "20")) or "█" in line:
            line = re.sub(r"[▏▎▍▌▋▊▉]", "█", re.sub(r"\d", "0", line))
        lines.append(line)
    return "\n".join(lines)


@pytest.fixture(params=[80, 120])
def terminal(world: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    made = Terminal(world, tmp_path / "world.ledger", request.param)
    yield made
    made.close()


CLEAR, TAB, CTRL_C, CTRL_D, CTRL_R, UP = "\x0c", "\t", "\x03", "\x04", "\x12", "\x1b[A"
PROMPT = r"^world ε \d+\.\d\d>$"


def test_a_session(terminal: Terminal) -> None:
    terminal.until(PROMPT)
    terminal.shows("first")
    session(terminal)


def session(terminal: Terminal) -> None:
    """What is typed and seen after the first prompt, on files and against a server."""
    terminal.type("SELECT 1 AS one;\r")  # also says that the ledger is new, where it is a file
    terminal.until("free: only public data")
    terminal.type(f"{CLEAR}SELECT AVG(")
    terminal.shows("completion")
    terminal.type(f"{TAB}) AS age, COUNT(*) AS n, town FROM peo{TAB}\rGROUP BY town;\r")
    terminal.shows("answer")

    terminal.type(f"{CLEAR}\\d people\r")
    terminal.shows("people")

    terminal.type(f"{CLEAR}\\plot\r")
    terminal.shows("plot")

    terminal.type(f"{CLEAR}SELECT SUM(cost / age) FROM visits JOIN people ON id = person_id;\r")
    terminal.shows("refusal")

    terminal.type(f"{CLEAR}SET epsilon = 150;\rSELECT COUNT(*) FROM people;\r")
    terminal.until(r"Run it\? \[y/N\]$")
    terminal.type("\r")
    terminal.shows("confirm")
    assert terminal.paid() == 1

    terminal.type(f"{CLEAR}SET epsilon = default;\r\\budget\r")
    terminal.shows("budget")

    terminal.type(f"{CLEAR}{SLOW} SELECT COUNT(*) FROM people WHERE age > 4;\r")
    terminal.until(lambda: terminal.paid() == 2)
    terminal.until(r"^\d+\.\d s$")
    terminal.type(CTRL_C)
    terminal.shows("interrupted")
    assert terminal.paid() == 2, "what stands behind an interrupted query is not asked"

    terminal.type(f"SELECT nothing{CTRL_C}")
    terminal.until(rf"SELECT nothing\n{PROMPT[1:]}")
    terminal.type("\\q\r")
    assert terminal.ended() == 0


def test_a_session_against_a_server_shows_the_same_screens(served_world: str, world: Path) -> None:
    """The password is asked for first; then each screen is the one that was kept for files."""
    place = ("--host", "127.0.0.1", "--port", served_world, "-U", "ana", "--dbname", "world")
    ledger = world / "served.ledger"
    terminal = Terminal(world, ledger, 80, place)
    try:
        terminal.until(r"^Password for ana: *$")
        terminal.type(f"{PASSWORD}\r")
        terminal.until(PROMPT)
        assert "dpsql on world at 127.0.0.1 as ana: SQL ends with ;" in terminal.text
        assert PASSWORD not in terminal.text
        session(terminal)
        assert PASSWORD not in ledger.with_suffix(".history").read_text()
    finally:
        terminal.close()


PASSWORD = "correct horse battery"


@pytest.fixture
def served_world(world: Path) -> Iterator[str]:
    """The port of a server of the same database."""
    where = ["world.duckdb", "--ledger", "served.ledger"]
    start = [sys.executable, "-m", "dpsql.cli"]
    subprocess.run(
        [*start, "analyst", "add", "world.duckdb", "ana", "--password-stdin"],
        cwd=world,
        input=PASSWORD,
        text=True,
        check=True,
    )
    command = [*start, "serve", *where, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=world, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = "".join(itertools.takewhile(lambda line: line != "ready\n", server.stderr))
        found = re.search(r"127\.0\.0\.1:(\d+)", said)
        assert found is not None, said
        yield found[1]
        server.terminate()


@pytest.fixture
def started(world: Path, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts shells of 80 columns that share a ledger."""
    made: list[Terminal] = []

    def start(**more: str) -> Terminal:
        made.append(Terminal(world, tmp_path / "world.ledger", 80, **more))
        return made[-1]

    yield start
    for each in made:
        each.close()


def test_history_is_found_again_and_is_its_owners_alone(started: Callable[..., Terminal]) -> None:
    first = started()
    first.until(PROMPT)
    first.type("SELECT COUNT(*)\rFROM places;\r")
    first.until(rf"free: only public data.*\n{PROMPT[1:]}")
    first.type(CTRL_D)
    assert first.ended() == 0
    assert first.ledger.with_suffix(".history").stat().st_mode & 0o777 == 0o600

    second = started()
    second.until(PROMPT)
    second.type(f"{CTRL_R}COUNT")
    second.until(r"SELECT COUNT\(\*\)\n +\.\.\.> FROM places;")
    second.type("\r\r")
    second.until("free: only public data")
    second.process.send_signal(signal.SIGTERM)
    assert second.ended() == 128 + signal.SIGTERM


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_none_are_wanted(started: Callable[..., Terminal], more: dict[str, str]) -> None:
    terminal = started(**more)
    terminal.until(r"^world ε [\d.]+>")
    for keys, answer in (
        ("SELECT name FROM places WHERE place = 3;\r", "place 3"),
        ("\\nothing\r", "no command"),
    ):
        terminal.type(keys)
        terminal.until(answer)
    terminal.type("\\q\r")
    assert terminal.ended() == 0
    coloured = rb"\x1b\[(?:[\d;]*;)?(?:3[1-8]|4[1-8]|9\d|10\d)(?:;[\d;]*)?m"
    assert re.findall(coloured, terminal.raw) == []

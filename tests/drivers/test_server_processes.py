"""``dpsql serve --processes 2``: two that answer as one, and what one does ends with it alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from drivers.endless import ENDLESS

from .conftest import Served

COUNT = "SELECT ward, COUNT(*) FROM patients GROUP BY ward"


@pytest.fixture
def two(clinic_for_all: Path) -> Iterator[Served]:
    with closing(Served(clinic_for_all, "--processes", "2", "--max-connections", "8")) as server:
        yield server


def workers(served: Served) -> list[int]:
    """The processes that answer."""
    children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split()
    words = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, line in words.items() if b"dpsql.server.worker" in line]


def until(condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it does not come")


def test_a_server_whose_processes_cannot_start_says_so_and_ends(clinic_for_all: Path, tmp_path: Path) -> None:
    words = ["serve", str(clinic_for_all), "--processes", "2", "--listen", "127.0.0.1:0"]
    words += ["--ledger", str(tmp_path / "own.ledger"), "--analysts", str(tmp_path / "own.analysts")]
    start = (
        "import sys; from dpsql.cli import main; "
        "sys.executable = '/nowhere/python'; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run([sys.executable, "-c", start, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "a process of the server cannot be started" in done.stderr
    assert "ready" not in done.stderr


def test_two_processes_answer_as_one(two: Served) -> None:
    first, second = workers(two)
    with ExitStack() as stack:
        clients = [stack.enter_context(psycopg.connect(two.url(), autocommit=True)) for _ in range(8)]
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            psycopg.connect(two.url())
        answers = [client.execute(COUNT).fetchall() for client in clients]
        assert all(answer == answers[0] for answer in answers), "it was paid for once"
        for client in clients[:3]:
            timer = threading.Timer(0.3, client.cancel)  # the request may come to the other process
            timer.start()
            with pytest.raises(psycopg.errors.QueryCanceled):
                client.execute(ENDLESS)
        os.kill(first, signal.SIGKILL)
        time.sleep(0.2)
        for client in clients:
            with suppress(psycopg.OperationalError):  # it was the other's
                assert client.execute(COUNT).fetchall() == answers[0]
    until(lambda: len(workers(two)) == 2 and first not in workers(two))
    assert second in workers(two)
    with psycopg.connect(two.url(), autocommit=True) as db:
        assert db.execute(COUNT).fetchall() == answers[0]
    assert [line for line in two.log() if line["event"] == "worker"] != []
    assert two.stop() == 0
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(two.url())


def test_failed_logins_are_counted_by_all(two: Served) -> None:
    wrong = two.url("postgresql", "eve", "?sslmode=disable&gssencmode=disable").replace("horse", "mule")
    for _ in range(5):
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)
    for _ in range(4):
        with pytest.raises(psycopg.OperationalError, match="too many logins have failed"):
            psycopg.connect(wrong)
    psycopg.connect(two.url()).close()


def test_who_is_removed_is_let_go_by_all(two: Served) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(psycopg.connect(two.url(), autocommit=True)) for _ in range(6)]
        bob = stack.enter_context(psycopg.connect(two.url("postgresql", "bob"), autocommit=True))
        running = threading.Thread(target=removed, args=(clients[0],))
        running.start()
        time.sleep(0.3)
        two.analyst("remove", "ana")
        running.join(120)
        assert not running.is_alive(), "what runs is interrupted"
        until(lambda: sum(line["event"] == "logout" for line in two.log()) == 6)
        for client in clients[1:]:
            with pytest.raises(psycopg.OperationalError, match="this login has been removed"):
                client.execute("SELECT 1")
        assert bob.execute("SELECT 1").fetchall() == [(1,)]


def removed(client: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.Error):
        client.execute(ENDLESS)


def test_workers_end_with_their_parent(two: Served) -> None:
    both = workers(two)
    two.stop(signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in both))

"""Many at once, and ends at random moments: nothing leaks, nothing is paid twice, nothing is over-granted."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpsql

from .conftest import Served
from .raw_client import Raw, message, startup
from .test_server_garbage import resident
from .test_server_processes import until, workers

CLIENTS = 64


def connected(server: Served, analyst: str) -> psycopg.Connection[Any]:
    """A connection, tried again while too many log in at once."""
    for _ in range(600):
        with suppress(psycopg.OperationalError):  # no place yet: tried again
            return psycopg.connect(server.url("postgresql", analyst), autocommit=True)
        time.sleep(0.05)
    raise AssertionError("there is no place")


@pytest.fixture
def scarce(clinic_for_all: Path, tmp_path: Path) -> Iterator[Served]:
    """Two processes, and an epsilon of 0.4 in all, of which ana and bob may each have 0.3."""
    policy = tmp_path / "scarce.toml"
    text = clinic_for_all.with_suffix(".toml").read_text()
    for rich, poor in (
        ("\nepsilon = 1e6", "\nepsilon = 0.4"),
        ("\nepsilon = 1e6", "\nepsilon = 0.3"),
        ("epsilon = 0.5", "epsilon = 0.1"),
        ("max_epsilon = 2.0", "max_epsilon = 0.3"),
        ("delta = 1e-6", 'delta = 1e-6\naccountant = "approx"'),
    ):
        assert rich in text
        text = text.replace(rich, poor, 1)
    policy.write_text(text)
    with closing(Served(clinic_for_all)) as server:
        server.stop()
        for ledger in server.folder.glob("own.ledger*"):
            ledger.unlink()
        server.start("--policy", str(policy), "--processes", "2")
        yield server


@pytest.mark.sweep
def test_a_crowd_on_the_last_epsilon_is_never_over_granted(
    scarce: Served, clinic_for_all: Path, tmp_path: Path
) -> None:
    """Each asks for 0.02 of its own: at most 20 are answered, 15 of one analyst."""
    answered: list[str] = []
    ready = threading.Barrier(CLIENTS)

    def ask(number: int) -> None:
        analyst = ("ana", "bob")[number % 2]
        with connected(scarce, analyst) as db:
            ready.wait(120)
            with suppress(psycopg.errors.ConfigurationLimitExceeded):  # the budget holds no more
                sql = f"SELECT OPTIONS(epsilon = 0.02) COUNT(*) FROM patients WHERE age > {number}"
                db.execute(sql.encode())
                answered.append(analyst)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given = {"policy": tmp_path / "scarce.toml", "ledger": scarce.folder / "own.ledger"}
    with dpsql.connect(clinic_for_all, **given) as db:
        budget = db.budget
        assert len(answered) == db.purchase_count
    assert budget.spent <= budget.granted + 1e-9
    assert all(each.spent <= each.granted + 1e-9 for each in budget.accounts)
    assert len(answered) == 20, "and all of it was spent"
    assert max(answered.count(name) for name in ("ana", "bob")) <= 15


@pytest.mark.sweep
def test_five_hundred_who_say_nothing(own_server: Served) -> None:
    """Fifty are waited for and the others hung up on; who is in, and who comes by the socket, is served."""
    local = {**own_server.given, "host": str(own_server.folder), "port": 5433, "dbname": "clinic"}
    del local["database"]
    with psycopg.connect(own_server.url(), autocommit=True) as db:
        before = _open_files(own_server)
        with ExitStack() as stack:
            for _ in range(500):
                stack.enter_context(socket.create_connection(("127.0.0.1", own_server.port)))
            for _ in range(10):
                assert db.execute("SELECT 1").fetchall() == [(1,)]
                psycopg.connect(**local).close()
            assert _open_files(own_server) < before + 120
        until(lambda: _open_files(own_server) <= before + 2)
        psycopg.connect(own_server.url()).close()


def _open_files(server: Served) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.sweep
def test_who_reads_slowly_holds_nobody_up(own_server: Served) -> None:
    """Thirty who ask for a hundred MB and read nothing; each answer is kept once, and all are bounded."""
    with ExitStack() as stack:
        for _ in range(30):
            raw = stack.enter_context(Raw(own_server))
            raw.login()
            raw.send(message(b"Q", b"SELECT repeat('x', 1000) AS x FROM range(100000)\0"))
        with psycopg.connect(own_server.url("postgresql", "bob"), autocommit=True) as db:
            for _ in range(50):
                assert db.execute("SELECT relname FROM pg_class WHERE relname = 'wards'").fetchall()
                time.sleep(0.1)
        pages = int(Path(f"/proc/{own_server.process.pid}/statm").read_text().split()[1])
        assert pages * 4096 < 3 * 2**30


@pytest.mark.sweep
def test_what_clients_saw_survives_kills_of_workers(clinic_for_all: Path) -> None:
    """Fifty kills of one of two workers at work, at random moments: answers come back the same, and free."""
    draw, seen, asked = random.Random(50), dict[str, object](), set[str]()
    over = threading.Event()
    with closing(Served(clinic_for_all, "--processes", "2")) as server:

        def ask(first: int) -> None:
            number = first
            while not over.is_set():
                with (
                    suppress(psycopg.OperationalError),
                    connected(server, "ana") as db,
                ):  # its worker was killed
                    while not over.is_set():
                        sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE cost > {number} GROUP BY ward"
                        asked.add(sql)
                        answer = db.execute(sql.encode()).fetchall()
                        assert seen.setdefault(sql, answer) == answer
                        number += 1

        threads = [threading.Thread(target=ask, args=(1_000_000 * each,)) for each in range(1, 5)]
        for thread in threads:
            thread.start()
        for _ in range(50):
            enough = len(seen) + draw.randrange(1, 4)
            until(lambda enough=enough: len(seen) >= enough)  # type: ignore[misc]  # of a default
            time.sleep(draw.uniform(0.0, 0.1))
            os.kill(draw.choice(workers(server)), signal.SIGKILL)
        until(lambda: len(workers(server)) == 2)
        over.set()
        for thread in threads:
            thread.join(120)
        prices: list[str] = []
        with connected(server, "ana") as db:
            db.add_notice_handler(lambda notice: prices.append(str(notice.message_primary)))
            for sql, rows in seen.items():
                assert db.execute(sql.encode()).fetchall() == rows
        with dpsql.connect(clinic_for_all, ledger=server.folder / "own.ledger", analyst="ana") as own:
            assert len(seen) <= own.purchase_count <= len(asked), "nothing is debited twice"
    assert len(seen) >= 50
    assert [price for price in prices if not price.startswith("repeated")] == []


@pytest.mark.sweep
def test_a_thousand_come_and_go(own_server: Served) -> None:
    """In all the ways to leave: no handle, thread, memory, or place of the fifty of an analyst stays."""
    draw = random.Random(1_000)

    def come_and_go() -> None:
        way = draw.randrange(7)
        if way == 0:
            socket.create_connection(("127.0.0.1", own_server.port)).close()
            return
        if way == 1:
            with connected(own_server, "ana") as db:
                db.execute("SELECT COUNT(*) FROM wards")
            return
        with Raw(own_server) as raw:
            if way == 2:
                raw.send(startup()[: draw.randrange(1, 20)])
                return
            raw.login(draw.choice(("ana", "bob")))
            if way == 3:
                raw.send(message(b"X"))
            elif way == 4:
                raw.send(message(b"Q", b"SELECT repeat('x', 100) FROM range(10000)\0"))
            elif way == 5:
                raw.send(message(b"P", b"s\0SELECT 1\0", bytes(2)) + message(b"B", b"p\0s\0", bytes(6)))
            else:
                raw.send(b"Q\0\0\1\0SELECT")

    def held() -> tuple[int, int]:
        return _open_files(own_server), len(os.listdir(f"/proc/{own_server.process.pid}/task"))

    for _ in range(300):
        come_and_go()
    time.sleep(2)
    (files, threads), memory = held(), resident(own_server)
    for _ in range(1_000):
        come_and_go()
    until(lambda: held()[0] <= files + 2)
    assert held()[1] <= threads + 2
    assert resident(own_server) < memory + 30_000
    logs = [line["event"] for line in own_server.log()]
    assert logs.count("login") == logs.count("logout")
    assert "broken" not in logs

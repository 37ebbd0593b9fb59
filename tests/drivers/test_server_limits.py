"""What clients may take: connections, time, memory; and that nobody keeps the others waiting."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpsql
from drivers.endless import ENDLESS

from .conftest import Served
from .raw_client import Raw, message


def test_connections_are_counted_in_all(own_server: Served) -> None:
    own_server.stop()
    own_server.start("--max-connections", "3")
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(psycopg.connect(own_server.url()))
        with pytest.raises(psycopg.OperationalError, match="too many connections"):
            psycopg.connect(own_server.url("postgresql", "bob"))
    for _ in range(50):
        bob = own_server.url("postgresql", "bob")
        with suppress(psycopg.OperationalError), psycopg.connect(bob):  # no place yet: tried again
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the places are not given back")


@pytest.mark.parametrize("silent_on", ["address", "file"])
def test_those_who_say_nothing_are_counted_and_others_are_served(own_server: Served, silent_on: str) -> None:
    """Fifty who do not log in, over the network or the Unix socket, leave room for others elsewhere."""
    address = {**own_server.given, "dbname": "clinic", "sslmode": "disable"}
    del address["database"]
    file = {**address, "host": str(own_server.folder), "port": 5433}
    same, other = (address, file) if silent_on == "address" else (file, address)
    with ExitStack() as stack, psycopg.connect(**same, autocommit=True) as db:
        for _ in range(60):
            if silent_on == "address":
                stack.enter_context(socket.create_connection(("127.0.0.1", own_server.port)))
            else:
                stack.enter_context(socket.socket(socket.AF_UNIX)).connect(
                    str(own_server.folder / ".s.PGSQL.5433")
                )
        time.sleep(0.2)
        with pytest.raises(psycopg.OperationalError, match="from this address are logging in"):
            psycopg.connect(**same)
        psycopg.connect(**other).close()
        assert db.execute("SELECT 1").fetchall() == [(1,)]


def test_who_does_not_read_stops_nobody(served: Served) -> None:
    with Raw(served) as raw, psycopg.connect(served.url(), autocommit=True) as db:
        raw.login()
        raw.send(message(b"Q", b"SELECT repeat('x', 1000) AS x FROM range(100000)\0"))
        for _ in range(20):
            assert db.execute("SELECT 1").fetchall() == [(1,)]
        rows = int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1])
        assert rows * 4096 < 2**30, "what is not read is not kept twice"


def test_who_asks_slowly_can_still_log_in(served: Served) -> None:
    """Two questions of an analyst at once are the most that run; a login asks none."""
    with ExitStack() as stack:
        clients = [stack.enter_context(psycopg.connect(served.url(), autocommit=True)) for _ in range(2)]
        threads = [threading.Thread(target=_cancelled, args=(client, ENDLESS)) for client in clients]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        with psycopg.connect(served.url(), autocommit=True, connect_timeout=120) as third:
            assert third.execute("SHOW is_superuser").fetchall() == [("off",)]
            assert all(thread.is_alive() for thread in threads)
        for client, thread in zip(clients, threads, strict=True):
            while thread.is_alive():
                client.cancel()
                thread.join(0.2)


def _cancelled(client: psycopg.Connection[Any], sql: str) -> None:
    with pytest.raises(psycopg.errors.QueryCanceled):
        client.execute(sql.encode())


def test_what_a_connection_keeps_is_bounded_in_bytes(own_server: Served) -> None:
    """Names and values of statements, rows of cursors: each alone is small, and all of them are counted."""
    with psycopg.connect(own_server.url(), autocommit=True) as db:
        big = b"x" * 4_000_000
        refused = b""
        for number in range(150):
            refused = db.pgconn.prepare(b"%d" % number + big, b"SELECT 1").error_message
            if refused:
                break
        assert b"keep too many bytes" in refused, (number, own_server.log())
        assert number > 100
        db.execute("DEALLOCATE ALL")
        assert not db.pgconn.prepare(b"s", b"SELECT 1").error_message, "what is gone is counted no more"
        rows = "SELECT repeat('x', 10000) FROM range(30000)"
        for name in ("c0", "c1"):  # the second is more than there is room for, and is handed over
            db.execute(f"DECLARE {name} CURSOR WITH HOLD FOR {rows}".encode())
        with pytest.raises(psycopg.Error, match="your connections keep too many bytes"):
            db.execute("SELECT OPTIONS(epsilon = 0.5) COUNT(*) FROM patients WHERE age > 77")
        spent = [line["cost"] for line in own_server.log() if line["event"] == "question"]
        assert spent == [0.0, 0.0], "it was refused before it was paid"
        assert db.execute("FETCH 2 FROM c1").fetchall() == [("x" * 10_000,)] * 2
        db.execute("CLOSE c1")
        db.execute("SELECT OPTIONS(epsilon = 0.5) COUNT(*) FROM patients WHERE age > 77")


def test_an_answer_comes_in_parts_and_is_paid_once(served: Served) -> None:
    by_age = "SELECT OPTIONS(epsilon = 0.02) age, COUNT(*) AS n FROM patients GROUP BY age"
    with psycopg.connect(served.url(), autocommit=True) as db:
        whole = db.execute(f"SELECT * FROM ({by_age}) AS t ORDER BY age").fetchall()
        notices: list[str] = []
        db.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
        parts: list[Any] = []
        for start in range(0, len(whole) + 7, 7):
            part = f"SELECT * FROM ({by_age}) AS t ORDER BY age LIMIT 7 OFFSET {start}"
            parts += db.execute(part.encode()).fetchall()
        assert parts == whole
        assert all(notice.startswith("repeated: ") for notice in notices)


@pytest.mark.sweep
def test_what_all_keep_is_bounded_in_bytes(own_server: Served) -> None:
    """Two analysts keep all of it, and more: they wait, and who keeps little is served."""
    rows = "SELECT repeat('x', 10000) FROM range(45000)"
    with ExitStack() as stack:
        ana, more, bob = (
            stack.enter_context(psycopg.connect(own_server.url("postgresql", name), autocommit=True))
            for name in ("ana", "ana", "bob")
        )
        ana.execute(f"DECLARE c CURSOR WITH HOLD FOR {rows}".encode())
        more.execute(f"DECLARE c CURSOR WITH HOLD FOR {rows}".encode())
        assert bob.execute("SELECT COUNT(*) FROM wards").fetchall() == [(6,)]
        bob.execute(f"DECLARE c CURSOR WITH HOLD FOR {rows}".encode())
        with pytest.raises(psycopg.Error, match="your connections keep too many bytes"):
            ana.execute("SELECT COUNT(*) FROM patients")
        with pytest.raises(psycopg.Error, match="all connections together keep too many bytes"):
            bob.execute("SELECT COUNT(*) FROM patients")
        more.close()
        for _ in range(50):
            with suppress(psycopg.Error):  # the other has not left yet
                assert ana.execute("SELECT COUNT(*) FROM wards").fetchall() == [(6,)]
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the room is not given back")


def test_what_is_opened_is_closed(own_server: Served) -> None:
    def handles() -> int:
        return len(os.listdir(f"/proc/{own_server.process.pid}/fd"))

    def open_and_close(times: int) -> None:
        for number in range(times):
            if number % 10 == 0:
                with psycopg.connect(own_server.url()) as db:
                    db.execute("SELECT COUNT(*) FROM wards")
            else:
                socket.create_connection(("127.0.0.1", own_server.port)).close()

    open_and_close(30)
    time.sleep(0.3)
    before = handles()
    open_and_close(150)
    for _ in range(50):
        if handles() <= before + 2:
            break
        time.sleep(0.1)
    assert handles() <= before + 2


def test_the_system_asks_whether_a_silent_client_is_there(served: Served) -> None:
    """Of a machine that has died nothing comes, not even an end: the kernel's timer runs."""
    with Raw(served) as raw:
        raw.login()
        ours = f":{raw.socket.getsockname()[1]:04X}"
        for _ in range(100):  # until the kernel waits for no acknowledgement any more
            sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
            (timer,) = [line[5] for line in sockets if line[2].endswith(ours)]
            kind, left = timer.split(":")
            if kind == "02":  # keepalive
                break
            time.sleep(0.05)
    assert kind == "02"
    assert 0 < int(left, 16) <= 6_000, "hundredths of a second"


def test_cancelling_needs_the_key(served: Served) -> None:
    with Raw(served) as raw, Raw(served) as other:
        (key,) = (body for kind, body in raw.login() if kind == b"K")
        raw.send(message(b"Q", f"{ENDLESS}\0".encode()))
        time.sleep(0.2)
        for guess in (bytes(8), key[:7] + bytes([key[7] ^ 1]), key[:4]):
            with Raw(served) as guessing:
                guessing.send(struct.pack("!ii", len(guess) + 8, 80877102) + guess)
                assert guessing.next() == (b"", b""), "nothing is told"
        raw.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            raise AssertionError(raw.next())
        other.send(struct.pack("!ii", 16, 80877102) + key)
        raw.socket.settimeout(20)
        assert b"C57014\0" in raw.until(b"Z")[-2][1]


def test_many_clients_never_spend_more_than_there_is(own_server: Served) -> None:
    """bob has 0.3: of 12 who ask at 0.05 each at once, only as many are answered as that holds."""
    answered: list[int] = []
    counted = "SELECT OPTIONS(epsilon = 0.05) COUNT(*) FROM patients"

    def ask(number: int) -> None:
        with psycopg.connect(own_server.url("postgresql", "bob"), autocommit=True) as db:
            for place in range(8):
                with suppress(psycopg.Error):  # refused for lack of budget: the answered ones are counted
                    db.execute(f"{counted} WHERE age > {8 * number + place}")
                    answered.append(8 * number + place)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given = {"ledger": own_server.folder / "own.ledger", "analyst": "bob"}
    with dpsql.connect(own_server.database, **given) as db:
        (account,) = (account for account in db.budget.accounts if account.analyst == "bob")
        assert len(answered) == db.purchase_count > 5
        assert account.spent <= account.granted + 1e-9
        assert account.remaining < 0.01, "and all of it was spent"


def killed(server: Served, draw: random.Random) -> None:
    """Kill -9 a server at work: what a client saw comes back the same, and free."""
    seen: dict[str, object] = {}
    asked: set[str] = set()

    def ask(first: int) -> None:
        with suppress(psycopg.Error), psycopg.connect(server.url(), autocommit=True) as db:  # it is killed
            for number in range(first, first + 1000):
                sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE cost > {number} GROUP BY ward"
                asked.add(sql)
                seen[sql] = db.execute(sql).fetchall()

    def bought() -> int:
        given = {"ledger": server.folder / "own.ledger", "analyst": "ana"}
        with dpsql.connect(server.database, **given) as own:
            return own.purchase_count

    start, before = draw.randrange(10**6), bought()
    threads = [threading.Thread(target=ask, args=(start + 10_000 * number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    enough = draw.randrange(1, 20)
    while len(seen) < enough and any(thread.is_alive() for thread in threads):
        time.sleep(draw.uniform(0.0, 0.05))
    server.stop(signal.SIGKILL)
    for thread in threads:
        thread.join()
    server.start()
    with psycopg.connect(server.url(), autocommit=True) as db:
        prices: list[str] = []
        db.add_notice_handler(lambda notice: prices.append(str(notice.message_primary)))
        for sql, rows in seen.items():
            assert db.execute(sql).fetchall() == rows
    assert seen
    assert [price for price in prices if not price.startswith("repeated")] == []
    assert len(seen) <= bought() - before <= len(asked), "nothing is debited twice"


def test_what_a_client_saw_survives_kill_9(own_server: Served) -> None:
    killed(own_server, random.Random(1))


@pytest.mark.sweep
def test_what_clients_saw_survives_many_kills(own_server: Served) -> None:
    for seed in range(2, 52):
        killed(own_server, random.Random(seed))


@pytest.mark.sweep
def test_those_who_say_nothing_are_let_go(own_server: Served) -> None:
    with socket.create_connection(("127.0.0.1", own_server.port), 30) as silent:
        began = time.monotonic()
        assert b"the login took too long" in silent.recv(1000)
        assert 8 < time.monotonic() - began < 20

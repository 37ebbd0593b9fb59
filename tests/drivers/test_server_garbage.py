"""Bytes that no client would send: nothing is answered before a login, nothing breaks, nothing grows."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from .conftest import Served
from .raw_client import Raw, message, startup

BEFORE = (
    struct.pack("!ii", 8, 80877103),
    struct.pack("!ii", 8, 80877104),
    struct.pack("!iiii", 16, 80877102, 1, 2),
    startup(),
    startup("eve", "other"),
    message(b"p", b"SCRAM-SHA-256\0", struct.pack("!i", 12), b"n,,n=,r=abcd"),
    message(b"p", b"c=biws,r=abcd,p=dHzb"),
    message(b"Q", b"SELECT COUNT(*) FROM patients\0"),
)
AFTER = (
    message(b"Q", b"SELECT 1; SELECT 2\0"),
    message(b"Q", b"SELECT nobody FROM patients\0"),
    message(b"Q", b"BEGIN\0"),
    message(b"Q", b"SHOW ALL\0"),
    message(b"P", b"s\0SELECT $1::INTEGER\0", struct.pack("!hi", 1, 23)),
    message(b"B", b"p\0s\0", struct.pack("!hhhi4shh", 1, 1, 1, 4, b"\0\0\0\7", 1, 1)),
    message(b"D", b"Pp\0"),
    message(b"D", b"Ss\0"),
    message(b"E", b"p\0", struct.pack("!i", 0)),
    message(b"C", b"Ss\0"),
    message(b"H"),
    message(b"S"),
    message(b"F", b"\0\0"),
    message(b"d", b"x"),
)
ANSWERS = (b"T", b"D", b"C", b"Z", b"K", b"S", b"t", b"1", b"2")


def mutated(draw: random.Random, messages: Sequence[bytes]) -> bytes:
    """Some of the messages, cut, repeated, swapped, and with bytes changed."""
    data = bytearray(b"".join(draw.choices(messages, k=draw.randint(1, 6))))
    for _ in range(draw.choice((0, 0, 1, 1, 2, 5))):
        at = draw.randrange(len(data))
        match draw.randrange(4):
            case 0:
                data[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
            case 1:
                del data[at : at + draw.randint(1, 8)]
            case 2:
                data[at:at] = data[at : at + draw.randint(1, 40)]
            case _:
                data[at:at] = draw.randbytes(draw.randint(1, 8))
        data = data or bytearray(b"\0")
    return bytes(data)


def resident(served: Served) -> int:
    """The kB of memory that the server holds."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def before(served: Served, seed: int, times: int) -> None:
    """Send garbage to connections that have not logged in: none of them is answered."""
    draw = random.Random(seed)
    for number in range(times):
        with Raw(served) as raw, suppress(BrokenPipeError, ConnectionResetError):  # hung up on
            raw.send(mutated(draw, BEFORE))
            raw.socket.shutdown(1)
            while (said := raw.socket.recv(65_536)) != b"":
                rest = said.lstrip(b"SN") if said[:1] in (b"S", b"N") and len(said) < 3 else said
                kinds = _kinds(rest)
                assert not set(kinds) & set(ANSWERS), (seed, number, said)
                assert b"R\0\0\0\x08\0\0\0\0" not in said, "AuthenticationOk"


def _kinds(data: bytes) -> list[bytes]:
    kinds, at = [], 0
    while at + 5 <= len(data):
        if data[at : at + 1] == b"N" and data[at + 1 : at + 3] != b"\0\0":  # no TLS
            at += 1
            continue
        kinds.append(data[at : at + 1])
        at += 1 + int.from_bytes(data[at + 1 : at + 5], "big")
    return kinds


def after(served: Served, seed: int, times: int) -> None:
    """Send garbage to connections that have logged in: each is answered or closed, and others go on."""
    draw, raw = random.Random(seed), Raw(served)
    raw.login("bob")
    for _ in range(times):
        try:
            raw.send(mutated(draw, AFTER))
            raw.send(message(b"S") + message(b"Q", b"SELECT 'here' AS x\0"))
            raw.socket.settimeout(0.3)
            found = raw.until(b"")[-1] if draw.random() < 0.02 else raw.next()
            alive = found != (b"", b"")
        except (BrokenPipeError, ConnectionResetError):
            alive = False
        except TimeoutError:  # it waits for the rest of a message whose length was made longer
            alive = False
        if not alive:
            raw.socket.close()
            raw = Raw(served)
            raw.login("bob")
    raw.socket.close()


def served_still(served: Served) -> None:
    with Raw(served) as raw:
        assert raw.login("bob")[-1] == (b"Z", b"I")
        raw.send(message(b"Q", b"SELECT 'here' AS x\0"))
        assert (b"D", b"\0\1\0\0\0\4here") in raw.until(b"Z")


def test_garbage_before_a_login_is_never_answered(own_server: Served) -> None:
    before(own_server, 1, 600)
    served_still(own_server)


def test_garbage_after_a_login_breaks_nothing(own_server: Served) -> None:
    after(own_server, 2, 400)
    served_still(own_server)
    broken = [line for line in own_server.log() if line["event"] == "broken"]
    assert broken == [], "no error of the server's own"


@pytest.mark.parametrize("skipped", [b"SELECT 'not here' AS x", b"\xff"])
def test_after_an_error_all_is_passed_over_until_sync(served: Served, skipped: bytes) -> None:
    """A Query too, as in PostgreSQL's postgres.c: its ready would be taken for that of the Sync."""
    with Raw(served) as raw:
        raw.login()
        wrong = message(b"P", b"\0SELECT nothing FROM nowhere\0", b"\0\0") + message(b"D", b"S\0")
        raw.send(wrong + message(b"Q", skipped, b"\0") + message(b"F", b"\0\0") + message(b"H"))
        raw.send(message(b"S") + message(b"Q", b"SELECT 'here' AS x\0"))
        assert [kind for kind, _ in raw.until(b"Z")] == [b"1", b"E", b"Z"]
        assert (b"D", b"\0\1\0\0\0\4here") in raw.until(b"Z")


@pytest.mark.sweep
def test_much_garbage_and_no_memory_of_it(own_server: Served) -> None:
    before(own_server, 3, 2_000)
    after(own_server, 3, 2_000)
    first = resident(own_server)
    for seed in range(4, 24):
        before(own_server, seed, 1_500)
        after(own_server, seed, 1_000)
    served_still(own_server)
    assert resident(own_server) < first + 30_000
    assert [line for line in own_server.log() if line["event"] == "broken"] == []


def test_nothing_is_asked_in_the_clear_before_tls(served: Served) -> None:
    """A query that comes with the request for TLS, and would count as encrypted, ends the connection."""
    with Raw(served) as raw:
        raw.send(struct.pack("!ii", 8, 80877103) + startup())
        assert raw.socket.recv(1) == b"N", "this server has no certificate: the startup is read in the clear"
        assert raw.next()[0] == b"R"


def test_errors_pass_over_all_until_the_end_of_the_pipeline(served: Served) -> None:
    with Raw(served) as raw:
        raw.login()
        for data in (AFTER[8], *AFTER[4:9], message(b"S")):
            raw.send(data)
        kinds = b"".join(kind for kind, _ in raw.until(b"Z"))
        assert kinds == b"EZ", "there was no portal, and all else is passed over"
        for data in (*AFTER[4:9], message(b"S")):
            raw.send(data)
        assert b"".join(kind for kind, _ in raw.until(b"Z")) == b"12TtTDCZ"


def test_a_portal_gives_its_rows_in_pieces(served: Served) -> None:
    with Raw(served) as raw:
        raw.login()
        raw.send(message(b"P", b"\0SELECT ward FROM wards ORDER BY ward\0\0\0"))
        raw.send(message(b"B", b"p\0\0", bytes(6)))
        for most in (4, 2, 5):
            raw.send(message(b"E", b"p\0", struct.pack("!i", most)))
        raw.send(message(b"S"))
        said = raw.until(b"Z")
        assert b"".join(kind for kind, _ in said) == b"12DDDDsDDsCZ"
        assert said[-2][1] == b"SELECT 0\0"


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        (struct.pack("!i", 2**31 - 1) + b"x", b"08P01"),
        (struct.pack("!ihh", 8, 2, 0), b"08P01"),
        (struct.pack("!ihh", 9, 3, 0) + b"\0", b"28000"),
        (startup() + message(b"Q", b"SELECT 1\0"), b"08P01"),
        (startup() + message(b"p", b"MD5\0", struct.pack("!i", -1)), b"08P01"),
        (startup() + b"p" + struct.pack("!i", 2**30), b"08P01"),
    ],
)
def test_the_ways_to_be_turned_away(served: Served, sent: bytes, state: bytes) -> None:
    with Raw(served) as raw:
        raw.send(sent)
        said = raw.until(b"E")
        assert b"SFATAL\0" in said[-1][1]
        assert b"C" + state + b"\0" in said[-1][1]
        assert raw.next() == (b"", b"")


def test_a_newer_protocol_is_answered_with_the_one_that_is_spoken(served: Served) -> None:
    with Raw(served) as raw:
        words = b"user\0ana\0_pq_.what\0on\0\0"
        raw.send(struct.pack("!ihh", len(words) + 8, 3, 2) + words)
        assert raw.next() == (b"v", struct.pack("!ii", 0, 1) + b"_pq_.what\0")
        assert raw.next()[0] == b"R"

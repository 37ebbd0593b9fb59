"""How long failed logins make the next ones wait, counted before they are checked and over processes."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys

import pytest

from dpsql.server.addresses import network_of
from dpsql.server.backoff import SIZE, Backoff

HERE = "1.2.3.4"


def fail(backoff: Backoff, address: str, name: str, now: float = 0.0) -> None:
    assert backoff.begin(address, name, now) == 0.0
    backoff.end(address, name, False, now)


def test_failures_make_the_next_login_wait() -> None:
    backoff, now = Backoff(), 0.0
    waits = []
    for _ in range(13):
        wait = backoff.begin(HERE, "ana", now)
        assert wait is not None
        waits.append(wait)
        if wait:
            now += wait
            assert backoff.begin(HERE, "ana", now) == 0.0
        backoff.end(HERE, "ana", False, now)
    assert waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]
    assert backoff.begin(HERE, "bob", now) == 0
    assert backoff.begin("4.3.2.1", "ana", now) == 0, "nobody can lock ana out from elsewhere"
    assert backoff.begin(HERE, "ana", now + 60.0) == 0
    backoff.end(HERE, "ana", True, now + 60.0)
    assert backoff.begin(HERE, "ana", now + 60.0) == 0, "who knows the password begins anew"


def test_an_attempt_is_counted_before_it_is_checked() -> None:
    """The planted error is a count after the attempt: then all that begin at once would be tried."""
    backoff = Backoff()
    begun = [backoff.begin(HERE, "ana", 0.0) for _ in range(100)]
    assert begun == [0.0] * 5 + [None] * 95
    backoff.end(HERE, "ana", None, 0.0)
    assert backoff.begin(HERE, "ana", 0.0) == 0.0, "who left before the proof has tried nothing"
    for _ in range(5):
        backoff.end(HERE, "ana", False, 0.0)
    assert backoff.begin(HERE, "ana", 0.0) == 1.0
    assert [backoff.begin(HERE, "ana", 1.0) for _ in range(3)] == [0.0, None, None], "then one at a time"
    assert backoff.begin(HERE, "ana", 50.0) == 0.0, "an attempt whose process was killed is over"


def test_an_address_that_tries_many_names_waits() -> None:
    backoff = Backoff()
    for number in range(60):
        if number < 50:
            fail(backoff, HERE, f"name {number}")
        fail(backoff, "", f"name {number}")
    assert backoff.begin(HERE, "ana", 0.0) == 1.0
    assert backoff.begin("", "ana", 0.0) == 0, "nobody of a machine locks the others out"


def test_old_counts_give_way_and_new_ones_stay() -> None:
    backoff = Backoff(secret=b"a secret")
    for number in range(60_000):
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        fail(backoff, address, "ana", 1.0 + number)
    assert len(backoff._memory) == SIZE
    for _ in range(5):
        fail(backoff, HERE, "ana", 60_002.0)
    assert backoff.begin(HERE, "ana", 60_002.0) == 1.0


PROGRAM = """
import mmap, os, sys
from dpsql.server.backoff import SIZE, Backoff
file = int(sys.argv[1])
backoff = Backoff(mmap.mmap(file, SIZE), b"one", file)
tried = 0
for _ in range(200):
    if backoff.begin("1.2.3.4", "ana", 0.0) == 0.0:
        tried += 1
        backoff.end("1.2.3.4", "ana", False, 0.0)
print(tried)
"""


def test_processes_count_together() -> None:
    """Four at once try as many as one alone: five."""
    file = os.memfd_create("failures")
    os.ftruncate(file, SIZE)
    command = [sys.executable, "-c", PROGRAM, str(file)]
    running = [subprocess.Popen(command, pass_fds=[file], stdout=subprocess.PIPE) for _ in range(4)]
    assert sum(int(each.communicate(timeout=60)[0]) for each in running) == 5
    here = Backoff(mmap.mmap(file, SIZE), b"one", file)
    assert here.begin(HERE, "ana", 0.0) == 1.0
    os.close(file)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::9%eth0", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::4", "2001:db8:1:3::/64"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("local", "local"),
    ],
)
def test_a_network_counts_as_one_address(address: str, network: str) -> None:
    assert network_of(address) == network

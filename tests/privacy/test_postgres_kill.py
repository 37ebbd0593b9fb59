"""Sessions and servers that die in the middle of a measure: the debit stands, and the repeat completes."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_servers import Server, needs_postgres, running_server, track

import dpsql

pytestmark = needs_postgres

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
accountant = "approx"
[query]
epsilon = 1.0
[unit]
name = "person"
column = "id"
[tables.visits]
rows_per_unit = 12
[tables.visits.columns]
id = {}
cost = { range = [0, 500] }
kind = {}
"""

ASK = """
import sys, dpsql
where, policy, ledger, sql = sys.argv[1:]
with dpsql.connect(where, policy, ledger) as db:
    print("ready", flush=True)
    db.execute(sql)
    print("answered", flush=True)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        with running.database("clinic") as owner:
            owner.execute("CREATE TABLE visits (id INTEGER, cost DOUBLE PRECISION, kind TEXT)")
            rows = "SELECT n % 5000, n % 500, 'k' || n % 4 FROM generate_series(1, 60000) AS t(n)"
            owner.execute(f"INSERT INTO visits {rows}".encode())
            track(owner, "visits")
        yield running


def check_paid_once(place: str, policy: Path, ledger: Path, sql: str, paid: int) -> None:
    """Ask again what a killed session asked: it is completed and repeated at the price of one query."""
    with dpsql.connect(place, policy, ledger) as db:
        assert db.budget.spent <= paid, "a query was paid for twice"
        first = db.execute(sql)
        assert db.budget.spent == pytest.approx(paid)
        again = db.execute(sql)
        assert again.rows == first.rows
        assert again.repeated
        assert db.budget.spent == pytest.approx(paid)


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.sweep)])
def test_nothing_is_granted_twice(server: Server, tmp_path: Path, rounds: int) -> None:
    """Each round asks something new, and ends its session or the server at a random moment.

    The first session is killed as it asks, so that one of few rounds ends before its answer on any machine.
    """
    draw = random.Random(rounds)
    policy, ledger = tmp_path / "clinic.toml", tmp_path / "clinic.ledger"
    policy.write_text(POLICY)
    url = str(server.url("clinic"))
    dpsql.connect(url, policy, ledger).close()
    answered = 0
    for number in range(rounds):
        sql = f"SELECT kind, SUM(cost), COUNT(*) FROM visits WHERE cost > {number} GROUP BY kind"
        words = [sys.executable, "-c", ASK, url, str(policy), str(ledger), sql]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asking:
            assert asking.stdout is not None
            assert asking.stdout.readline() == "ready\n"
            time.sleep(draw.uniform(0, 0.6) if number else 0)
            if number % 2:
                server.stop("immediate")
                server.start()
            else:
                asking.kill()
            answered += "answered" in asking.stdout.read()
        check_paid_once(url, policy, ledger, sql, number + 1)
    assert answered < rounds, "some rounds ended before their answer"

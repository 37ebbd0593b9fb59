"""Sessions, and Spark Connect servers, that die in the middle of a measure: the repeat completes it.

SPARK_KILLS=20 python -m pytest tests/privacy/test_spark_connect_kill.py -n0    twenty rounds, a minute each
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from spark_servers import SparkServer, needs_spark_server
from test_postgres_kill import POLICY, check_paid_once

import dpsql

pytestmark = needs_spark_server

ROUNDS = int(os.environ.get("SPARK_KILLS", "4"))

ASK = """
import sys, dpsql
where, policy, ledger, sql = sys.argv[1:]
with dpsql.connect(where, policy, ledger) as db:
    print("ready", flush=True)
    try:
        db.execute(sql)
        print("answered", flush=True)
    except dpsql.Error as error:
        print("failed", error.code, error.title, flush=True)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkServer]:
    with SparkServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    folder = tmp_path / "clinic"
    folder.mkdir()
    folder.with_suffix(".toml").write_text(POLICY)
    rows = "SELECT n % 5000 AS id, (n % 500)::DOUBLE AS cost, 'k' || n % 4 AS kind FROM range(60000) AS t(n)"
    with duckdb.connect() as made:
        made.execute(f"COPY ({rows}) TO '{folder}/visits.parquet'")
    return folder


def test_nothing_is_granted_twice(server: SparkServer, clinic: Path, tmp_path: Path) -> None:
    """Each round asks something new, and ends its session, or the server, at a random moment.

    The first session is killed as it asks, so that one of few rounds ends before its answer on any machine.
    """
    draw = random.Random(ROUNDS)
    address, policy, ledger = server.address(clinic), clinic.with_suffix(".toml"), tmp_path / "clinic.ledger"
    dpsql.connect(address, policy, ledger).close()
    ends = []
    for number in range(ROUNDS):
        sql = f"SELECT kind, SUM(cost), COUNT(*) FROM visits WHERE cost > {number} GROUP BY kind"
        words = [sys.executable, "-c", ASK, address, str(policy), str(ledger), sql]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asking:
            assert asking.stdout is not None
            assert asking.stdout.readline() == "ready\n"
            time.sleep(draw.uniform(0, 3) if number else 0)
            if number % 2:
                server.kill()
            else:
                asking.kill()
            ends.append(asking.stdout.read())
        if number % 2:
            server.start()
        check_paid_once(address, policy, ledger, sql, number + 1)
    assert "" in ends or any("failed" in end for end in ends), "some rounds ended before their answer"
    assert all(end.split()[:2] in ([], ["answered"], ["failed", "D601"], ["failed", "D602"]) for end in ends)


def test_a_server_that_starts_again_has_no_old_sessions(
    server: SparkServer, clinic: Path, tmp_path: Path
) -> None:
    """The connection says so before it pays; another one completes what was paid."""
    sql = "SELECT kind, SUM(cost), COUNT(*) FROM visits GROUP BY kind"
    ledger = tmp_path / "clinic.ledger"
    with dpsql.connect(server.address(clinic), ledger=ledger) as db:
        db.execute("SELECT COUNT(*) FROM visits")
        server.kill()
        for start in (lambda: None, server.start):
            start()
            with pytest.raises(dpsql.OperationalError) as caught:
                db.execute(sql)
            assert caught.value.code == "D602"
            assert "has ended this session" in caught.value.title
            assert "open it again" in caught.value.help
        assert db.budget.spent == pytest.approx(1)
    with dpsql.connect(server.address(clinic), ledger=ledger) as db:
        db.execute(sql)
        assert db.budget.spent == pytest.approx(2)

"""Sessions, and Java's processes, that die in the middle of a measure on Spark: the repeat completes it.

SPARK_KILLS=20 python -m pytest tests/privacy/test_spark_kill.py -n0    twenty rounds, half a minute each
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
from sparks import MASTER, needs_spark
from test_postgres_kill import POLICY, check_paid_once

import dpsql

pytestmark = needs_spark

ROUNDS = int(os.environ.get("SPARK_KILLS", "3"))

ASK = """
import sys, dpsql
where, policy, ledger, sql = sys.argv[1:]
with dpsql.connect(where, policy, ledger) as db:
    print("ready", db._open().engine._session.sparkContext._gateway.proc.pid, flush=True)
    db.execute(sql)
    print("answered", flush=True)
"""


def test_nothing_is_granted_twice(tmp_path: Path) -> None:
    """Each round asks something new, and ends its session, or Spark's own process, at a random moment.

    The first session is killed as it asks, so that one of few rounds ends before its answer on any machine.
    """
    draw = random.Random(ROUNDS)
    folder, policy, ledger = tmp_path / "clinic", tmp_path / "clinic.toml", tmp_path / "clinic.ledger"
    folder.mkdir()
    policy.write_text(POLICY)
    rows = "SELECT n % 5000 AS id, (n % 500)::DOUBLE AS cost, 'k' || n % 4 AS kind FROM range(60000) AS t(n)"
    with duckdb.connect() as made:
        made.execute(f"COPY ({rows}) TO '{folder}/visits.parquet'")
    address = f"spark:{MASTER}:{folder}"
    dpsql.connect(address, policy, ledger).close()
    answered = 0
    for number in range(ROUNDS):
        sql = f"SELECT kind, SUM(cost), COUNT(*) FROM visits WHERE cost > {number} GROUP BY kind"
        words = [sys.executable, "-c", ASK, address, str(policy), str(ledger), sql]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asking:
            assert asking.stdout is not None
            ready, java = asking.stdout.readline().split()
            assert ready == "ready"
            time.sleep(draw.uniform(0, 6) if number else 0)
            if number % 2:
                os.kill(int(java), signal.SIGKILL)
            else:
                asking.kill()
            answered += "answered" in asking.stdout.read()
        check_paid_once(address, policy, ledger, sql, number + 1)
    assert answered < ROUNDS, "some rounds ended before their answer"

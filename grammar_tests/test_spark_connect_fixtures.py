"""Accepted fixtures on a Spark Connect server: DuckDB's exact tables, or a refusal before payment.

python -m pytest grammar_tests/test_spark_connect_fixtures.py -n0    with SPARK_STEP=1 all of them, hours

What Spark computes is shown by test_spark_fixtures.py; here, that a server gives the same tables.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from folders import exported
from postgres_worlds import CALENDAR, EVERYTHING, amended
from spark_servers import SparkServer, needs_spark_server
from test_spark_fixtures import ABSENT, CASES, EQUAL, FAST, REFUSED, SLOW, UNLIKE, Both, policy

from dpsql.engines.folder import Folder
from dpsql.engines.spark.dialect import Spark
from dpsql.engines.spark.engine import SparkEngine

pytestmark = needs_spark_server

STEP = int(os.environ.get("SPARK_STEP", "60"))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("spark")
    file = amended(folder, "world", CALENDAR)
    exported(file, file.with_suffix(""), "parquet")
    with SparkServer(tmp_path_factory.mktemp("server")) as server:
        address = server.located(file.with_suffix(""))
        here, fast = SparkEngine(address, policy()), SparkEngine(address, policy(), EVERYTHING)
        for engine in (here, fast):
            for name, value in FAST.items():
                engine._session.conf.set(name, value)
        made = Both(folder, file, here, fast, Folder(file.with_suffix(""), policy()), {})
        yield made
        for each in (here, fast, made.there, *made.connections.values()):
            each.close()


def test_fixtures(both: Both) -> None:
    outcomes = {case.id: both.outcome(case) for case in CASES[::STEP]}
    known = (EQUAL, REFUSED, ABSENT, SLOW)
    assert {each: said for each, said in outcomes.items() if said not in known and each not in UNLIKE} == {}
    print(Counter(outcomes.values()))
    assert list(outcomes.values()).count(EQUAL) >= len(outcomes) * 2 // 3


def cut(self: Spark, sql: str) -> str:
    return f"CAST({sql} AS bigint)"


def test_a_planted_error_is_found(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cast that cuts."""
    monkeypatch.setattr(Spark, "whole", cut)
    cases = [case for case in CASES if case.id.startswith(("aggregates/sums", "aggregates/averages"))][:20]
    assert any("another table" in both.outcome(case) for case in cases)

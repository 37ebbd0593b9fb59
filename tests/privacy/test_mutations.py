"""Two thousand queries that nobody would write: each is planned, or refused by a code of the list."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from cases import HERE, all_cases, script
from mutants import mutant

import dpsql
from dpsql.errors import CODES

MANY = 2_000
PARTS = 4
PATIENCE = 300  # seconds: nothing is timed here, but what hangs is named


class Hangs(BaseException):
    """Not an Exception, which the library would turn into an error of its own."""


@contextmanager
def watched() -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise Hangs(f"not planned within {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    path: Path = tmp_path_factory.mktemp("mutants") / "world.duckdb"
    with duckdb.connect(str(path)) as plain:
        plain.execute(script("world"))
    with dpsql.connect(path, HERE / "world.toml") as opened:
        yield opened


@pytest.mark.parametrize("part", range(PARTS))
def test_every_mutant_is_planned_or_refused(db: dpsql.Connection, part: int) -> None:
    queries = [case.sql for case in all_cases() if len(case.sql) < 2_000]
    planned = 0
    wrong: list[str] = []
    for seed in range(part, MANY, PARTS):
        sql = mutant(queries, seed)
        try:
            with watched():
                db.explain(sql)
            planned += 1
        except dpsql.Error as error:
            if error.code not in CODES or error.code.startswith("D9") or not error.help:
                wrong.append(f"seed {seed}: {sql}\n{error}")
        except (Exception, Hangs) as error:
            wrong.append(f"seed {seed}: {sql}\n{error!r}")
    assert wrong == []
    assert planned > 10  # mutants reach the planner
    assert db.budget.spent == 0

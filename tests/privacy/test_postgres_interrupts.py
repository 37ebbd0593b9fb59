"""Ctrl-C at a bad moment, and a role that changed meanwhile: what a session of PostgreSQL is afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres_servers import Server, needs_postgres, running_server, track

import dpsql
from dpsql.engines.postgres.engine import PostgresEngine

pytestmark = needs_postgres

POLICY = """\
[budget]
epsilon = 100.0
delta = 1e-6
[unit]
name = "person"
column = "id"
[tables.visits]
rows_per_unit = 3
[tables.visits.columns]
id = {}
cost = { range = [0, 500] }
kind = {}
"""

QUERY = "SELECT kind, COUNT(*), SUM(cost) FROM visits WHERE cost > 1 GROUP BY kind"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as running:
        with running.database("clinic") as owner:
            owner.execute("CREATE TABLE visits (id INTEGER, cost INTEGER, kind TEXT)")
            owner.execute(
                "INSERT INTO visits SELECT n % 3000, n % 400, 'k' FROM generate_series(1, 6000) AS t(n)"
            )
            track(owner, "visits")
        yield running


@pytest.fixture
def db(server: Server, tmp_path: Path) -> Iterator[dpsql.Connection]:
    policy = tmp_path / "clinic.toml"
    policy.write_text(POLICY)
    with dpsql.connect(server.url("clinic"), policy, tmp_path / "pg.ledger") as opened:
        yield opened


def engine_of(db: dpsql.Connection) -> PostgresEngine:
    engine = db._open().engine
    assert isinstance(engine, PostgresEngine)
    return engine


def _before(execute: Callable[[str], Any], engine: PostgresEngine, sql: str) -> None:
    return None


def _sent(execute: Callable[[str], Any], engine: PostgresEngine, sql: str) -> None:
    """The server has the statement, and nobody has awaited its end."""
    engine._connection.pgconn.send_query(sql.encode())


def _after(execute: Callable[[str], Any], engine: PostgresEngine, sql: str) -> None:
    execute(sql)


@pytest.mark.parametrize("moment", [_before, _sent, _after])
@pytest.mark.parametrize(
    "start",
    ["BEGIN ISOLATION", "BEGIN READ WRITE", "LOCK TABLE", "ROLLBACK", "COMMIT", "CREATE TEMP", "INSERT"],
)
def test_a_session_answers_after_an_interruption_at_any_moment(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, start: str, moment: Callable[..., None]
) -> None:
    engine = engine_of(db)
    statements = _with_temporary_tables(engine)
    execute = engine._execute

    def interrupted(sql: str) -> Any:
        if sql.startswith(start):
            monkeypatch.undo()
            moment(execute, engine, sql)
            raise KeyboardInterrupt
        return execute(sql)

    monkeypatch.setattr(engine, "_execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        statements()
    assert engine._execute == execute, f"{start} is never run"
    assert db.execute(QUERY).rows
    assert statements() == [(6000,)]


def _with_temporary_tables(engine: PostgresEngine) -> Callable[[], Any]:
    """Return a reading of a temporary table that it makes before."""

    def read() -> Any:
        name = engine._fast_sums()._tables.kept("SELECT id FROM public.visits")
        return engine._ask(f"SELECT count(*) FROM {name}")

    return read


@pytest.mark.parametrize("moment", [_before, _sent, _after])
def test_a_query_is_not_refused_because_an_earlier_one_was_interrupted(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, moment: Callable[..., None]
) -> None:
    engine = engine_of(db)
    execute = engine._execute

    def interrupted(sql: str) -> Any:
        if "PREPARE" in sql or "DEALLOCATE" in sql:
            moment(execute, engine, sql)
            raise KeyboardInterrupt
        return execute(sql)

    with monkeypatch.context() as patched:
        patched.setattr(engine, "_execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            db.execute(QUERY)
    assert db.execute(QUERY).rows


def test_a_connection_that_is_not_checked_is_not_used(
    server: Server, db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The role may write when the connection is made anew: each question is refused, not the first alone."""
    engine = engine_of(db)
    engine._connection.close()
    with server.owner("clinic") as owner:
        owner.execute("GRANT INSERT ON visits TO reader")
        try:
            for _ in range(2):
                with pytest.raises(dpsql.OperationalError, match="this role may write to visits"):
                    engine.unchanged()
        finally:
            owner.execute("REVOKE INSERT ON visits FROM reader")


def test_no_transaction_stays_open(server: Server, db: dpsql.Connection) -> None:
    """What is interrupted between statements holds no lock until the next question."""
    engine = engine_of(db)

    def stopped() -> None:
        raise KeyboardInterrupt

    end, engine._end = engine._end, stopped  # type: ignore[method-assign]  # restored below
    with pytest.raises(KeyboardInterrupt):
        engine.unchanged()
    engine._end = end  # type: ignore[method-assign]  # as it was
    with server.owner("clinic") as owner:
        owner.execute("SET lock_timeout = '5s'")
        with owner.transaction(force_rollback=True):
            owner.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
    assert db.execute(QUERY).rows
